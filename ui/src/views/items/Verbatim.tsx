// Text exactly as it is: whitespace kept, hidden characters shown by name.

import { For, Show } from 'solid-js'
import { visibleRuns } from '../../text/escape'

export function Verbatim(props: { text: string; class?: string; prefix?: string }) {
  return (
    <Show when={props.text !== ''}>
      <pre class={`verbatim-block ${props.class ?? ''}`} tabIndex={0}>
        <Show when={props.prefix}>
          <span class="quiet">{props.prefix}</span>
        </Show>
        <For each={visibleRuns(props.text)}>
          {run => (run.hidden ? <span class="hidden-character">{run.text}</span> : run.text)}
        </For>
      </pre>
    </Show>
  )
}
