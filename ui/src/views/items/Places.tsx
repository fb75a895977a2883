// Text in which the places of files are links to them.

import { createMemo, For } from 'solid-js'
import { partsOf } from '../../text/places'

export function Places(props: { text: string }) {
  const parts = createMemo(() => partsOf(props.text))
  return (
    <For each={parts()}>
      {part =>
        part.href ? (
          <a class="place" href={part.href}>
            {part.text}
          </a>
        ) : (
          part.text
        )
      }
    </For>
  )
}
