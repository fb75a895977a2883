// A tool's arguments by name, whatever shape they have: each key, each text and each number as it is.

import { createSignal, For, Match, Show, Switch } from 'solid-js'
import { exactJson, visible } from '../text/escape'
import { plural } from '../text/format'
import { FoldedVerbatim, Verbatim } from './items/Verbatim'

/** How many stand open at first. */
const FIRST = 50
/** What lies deeper is shown as JSON. */
const MAX_DEPTH = 5

type Entry = [string, unknown]

export function Arguments(props: { entries: Entry[]; depth?: number }) {
  const [all, setAll] = createSignal(false)
  const depth = () => props.depth ?? 0
  return (
    <Show when={props.entries.length > 0}>
      <dl class="arguments">
        <For each={all() ? props.entries : props.entries.slice(0, FIRST)}>
          {([name, value]) => (
            <>
              <dt>{visible(name) || '""'}</dt>
              <dd>
                <Value value={value} depth={depth()} />
              </dd>
            </>
          )}
        </For>
      </dl>
      <Show when={props.entries.length > FIRST}>
        <button type="button" class="fold-button" aria-expanded={all()} onClick={() => setAll(!all())}>
          {all() ? 'Show less' : `… ${plural(props.entries.length - FIRST, 'more argument')}`}
        </button>
      </Show>
    </Show>
  )
}

function Value(props: { value: unknown; depth: number }) {
  const text = () => (typeof props.value === 'string' && props.value !== '' ? props.value : undefined)
  const entries = (): Entry[] | undefined => {
    const { value } = props
    if (typeof value !== 'object' || value === null || props.depth >= MAX_DEPTH) return undefined
    const entries = Object.entries(value)
    return entries.length > 0 ? entries : undefined
  }
  return (
    <Switch fallback={<FoldedVerbatim class="literal" text={exactJson(props.value)} />}>
      <Match when={text()}>{text => <FoldedVerbatim text={text()} />}</Match>
      <Match when={entries()}>{entries => <Arguments entries={entries()} depth={props.depth + 1} />}</Match>
    </Switch>
  )
}

/** All arguments as one piece of JSON, folded: for whoever wants to see exactly what the tool gets. */
export function AsSent(props: { args: Record<string, unknown> }) {
  const [open, setOpen] = createSignal(false)
  const json = () => exactJson(props.args)
  const size = () => {
    const lines = json().split('\n').length
    return `${plural(Object.keys(props.args).length, 'argument')}, ${plural(lines, 'line')}`
  }
  return (
    <Show when={Object.keys(props.args).length > 0}>
      <button type="button" class="fold-button" aria-expanded={open()} onClick={() => setOpen(!open())}>
        {open() ? 'Show less' : `As it is sent: ${size()}`}
      </button>
      <Show when={open()}>
        <Verbatim class="as-sent" text={json()} />
      </Show>
    </Show>
  )
}
