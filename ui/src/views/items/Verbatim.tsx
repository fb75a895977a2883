// Text exactly as it is: whitespace kept, hidden characters shown by name.

import { createMemo, createSignal, For, Show } from 'solid-js'
import { visible, visibleRuns } from '../../text/escape'
import { plural } from '../../text/format'

/** So many marked characters are too many to mark; they are named all the same. */
const MAX_MARKS = 2_000

/** How much of a long text stands open at first. */
const FIRST_LINES = 60
const FIRST_CHARS = 6_000

export function Verbatim(props: { text: string; class?: string; prefix?: string }) {
  return (
    <Show when={props.text !== ''}>
      <pre class={`verbatim-block ${props.class ?? ''}`} tabIndex={0}>
        <Show when={props.prefix}>
          <span class="quiet">{props.prefix}</span>
        </Show>
        <Visible text={props.text} />
      </pre>
    </Show>
  )
}

/** The same in running text. */
export function Visible(props: { text: string }) {
  const runs = createMemo(() => visibleRuns(props.text))
  return (
    <Show when={runs().length <= MAX_MARKS} fallback={visible(props.text)}>
      <For each={runs()}>
        {run => (run.hidden ? <span class="hidden-character">{run.text}</span> : run.text)}
      </For>
    </Show>
  )
}

/** Verbatim, of which a long text begins folded: how much is left is said, and all of it is one press away. */
export function FoldedVerbatim(props: { text: string; class?: string; prefix?: string }) {
  const [open, setOpen] = createSignal(false)
  const head = createMemo(() => beginning(props.text))
  const left = () => {
    const rest = props.text.slice(head().length)
    const n = rest.replace(/\n$/, '').split('\n').length - 1
    return n > 0 ? plural(n, 'more line') : plural(rest.length, 'more character')
  }
  return (
    <>
      <Verbatim {...props} text={open() ? props.text : head()} />
      <Show when={head().length < props.text.length}>
        <button type="button" class="fold-button" aria-expanded={open()} onClick={() => setOpen(!open())}>
          {open() ? 'Show less' : `… ${left()}`}
        </button>
      </Show>
    </>
  )
}

/** The first lines of a text, or all of it if it is not long. */
function beginning(text: string): string {
  let end = -1
  for (let n = 0; n < FIRST_LINES; n++) {
    end = text.indexOf('\n', end + 1)
    if (end === -1) break
  }
  const lines = end === -1 || end === text.length - 1 ? text : text.slice(0, end)
  if (lines.length <= FIRST_CHARS) return lines
  // Not between the halves of one character.
  return lines.slice(0, /[\ud800-\udbff]/.test(lines[FIRST_CHARS - 1] ?? '') ? FIRST_CHARS - 1 : FIRST_CHARS)
}
