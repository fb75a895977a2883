// Terminal output with its colours; long output shows its head and its tail until it is opened.

import { createMemo, For, Show } from 'solid-js'
import type { Session } from '../../store/session'
import { ansiRuns } from '../../text/ansi'
import { plural } from '../../text/format'
import { createFold } from '../folds'
import { Places } from './Places'

const HEAD = 10
const TAIL = 12
/** Beyond this a page would stutter; what is left out is said. */
const MAX_CHARS = 300_000

export function Output(props: { session: Session; itemId: string; text: string | undefined }) {
  const [all, toggle] = createFold(props.session, `output ${props.itemId}`, () => false)
  const lines = createMemo(() => (props.text ?? '').replace(/\n+$/, '').slice(0, MAX_CHARS).split('\n'))
  const long = () => lines().length > HEAD + TAIL + 4
  const folded = () => long() && !all()
  const left = () => lines().length - HEAD - TAIL
  const cut = () => (props.text ?? '').length - MAX_CHARS
  return (
    <Show when={props.text}>
      <pre class="output" tabIndex={0}>
        <Runs text={(folded() ? lines().slice(0, HEAD) : lines()).join('\n')} />
      </pre>
      <Show when={long()}>
        <button type="button" class="fold-button" onClick={toggle}>
          {folded() ? `${plural(left(), 'line')} more` : 'Show less'}
        </button>
      </Show>
      <Show when={folded()}>
        <pre class="output tail" tabIndex={0}>
          <Runs text={lines().slice(-TAIL).join('\n')} />
        </pre>
      </Show>
      <Show when={cut() > 0 && !folded()}>
        <p class="quiet small-text">{plural(cut(), 'character')} more are not shown.</p>
      </Show>
    </Show>
  )
}

function Runs(props: { text: string }) {
  const runs = createMemo(() => ansiRuns(props.text))
  return (
    <For each={runs()}>
      {run =>
        run.classes ? (
          <span class={run.classes}>
            <Places text={run.text} />
          </span>
        ) : (
          <Places text={run.text} />
        )
      }
    </For>
  )
}
