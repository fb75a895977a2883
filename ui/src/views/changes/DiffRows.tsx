// The lines of a diff, as many as there are: only those in sight are in the page. Lines are chosen by their numbers.

import { createMemo, createSignal, For, type JSX, Match, onCleanup, Show, Switch } from 'solid-js'
import { Virtualizer, type VirtualizerHandle } from 'virtua/solid'
import { diffView } from '../../store/settings'
import { plural } from '../../text/format'
import { Visible } from '../items/Verbatim'
import { createColours, marked } from './colours'
import type { Gap, Patch, PatchLine } from './patch'
import { type DiffRow, rowsOf } from './rows'
import { changedWords } from './words'

const ROW_PX = 20
/** A longer line is cut: a built file may be one line of a megabyte. */
const MAX_LINE_CHARS = 2_000
const SIGNS = { context: ' ', added: '+', removed: '−' }
const NO_CARDS: ReadonlyMap<number, readonly string[]> = new Map()

/** Lines from one to another, by their places in the patch. */
export interface Selection {
  from: number
  to: number
}

export interface DiffRowsHandle {
  step(by: number): boolean
  show(line: number): void
}

export function DiffRows(props: {
  path: string
  patch: Patch
  selection: Selection | undefined
  onSelect(selection: Selection | undefined): void
  /** Ids of what stands below a line, and how it looks. */
  cards?: ReadonlyMap<number, readonly string[]>
  card?(id: string): JSX.Element
  /** What the agent was told about a line, by its place in the patch. */
  told?: ReadonlyMap<number, string>
  /** What can be done with a hunk, by its place among them. */
  hunk?(at: number): JSX.Element
  /** Absent when all of the file is here. */
  onWhole: (() => void) | undefined
  ref(handle: DiffRowsHandle | undefined): void
}) {
  const [handle, setHandle] = createSignal<VirtualizerHandle | undefined>()
  const [coloured, setColoured] = createSignal(0)
  const colours = createMemo(() => {
    const { lines } = props.patch
    return createColours(lines, props.path, () => setColoured(count => count + 1))
  })
  const shown = createMemo(() =>
    rowsOf(props.patch, diffView() === 'split', props.cards ?? NO_CARDS, props.hunk !== undefined),
  )
  let scroller: HTMLDivElement | undefined

  const isSelected = (at: number | undefined) => {
    const selection = props.selection
    return at !== undefined && selection !== undefined && at >= selection.from && at <= selection.to
  }
  const show = (line: number) => handle()?.scrollToIndex(shown().rowOf(line), { align: 'center' })
  const select = (selection: Selection) => {
    props.onSelect(selection)
    handle()?.scrollToIndex(shown().rowOf(selection.to), { align: 'nearest' })
  }
  /** Goes to the first line of the next or the last change. */
  const step = (by: number): boolean => {
    const { changes } = props.patch
    const here = props.selection?.from ?? -1
    const next = by > 0 ? changes.find(at => at > here) : props.selection && changes.findLast(at => at < here)
    if (next === undefined) return false
    props.onSelect({ from: next, to: next })
    show(next)
    return true
  }
  props.ref({ step, show })
  onCleanup(() => props.ref(undefined))

  /** Where a selection by the pointer or by Shift began. */
  let anchor: number | undefined
  const choose = (at: number, extend: boolean) => {
    anchor = extend ? (anchor ?? props.selection?.from ?? at) : at
    props.onSelect({ from: Math.min(anchor, at), to: Math.max(anchor, at) })
  }
  const onKey = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (by !== 0 && !event.altKey && !event.ctrlKey && !event.metaKey && event.target === scroller) {
      event.preventDefault()
      const selection = props.selection
      const last = props.patch.lines.length - 1
      const edge =
        anchor !== undefined && selection && anchor > selection.from ? selection.from : selection?.to
      const at = Math.max(0, Math.min(last, edge === undefined ? (props.patch.changes[0] ?? 0) : edge + by))
      if (!event.shiftKey || anchor === undefined) anchor = event.shiftKey ? (edge ?? at) : at
      select({ from: Math.min(anchor, at), to: Math.max(anchor, at) })
    } else if (event.key === 'Escape' && props.selection) {
      event.preventDefault()
      anchor = undefined
      props.onSelect(undefined)
    }
  }

  const content = (at: number) => {
    const line = props.patch.lines[at]
    if (!line) return []
    coloured()
    const pair = line.pair === undefined ? undefined : props.patch.lines[line.pair]
    const words =
      pair === undefined
        ? []
        : line.kind === 'removed'
          ? changedWords(line.text, pair.text).before
          : changedWords(pair.text, line.text).after
    return cut(marked(colours().of(at), words))
  }
  const number = (at: number, columns: (number | undefined)[]) => (
    <button
      type="button"
      class="line-numbers"
      tabIndex={-1}
      aria-label={`Line ${columns.findLast(Boolean) ?? ''}`}
      aria-pressed={isSelected(at)}
      onPointerDown={event => {
        if (event.button !== 0) return // The pointer goes on to other lines.
        ;(event.currentTarget as Element).releasePointerCapture?.(event.pointerId)
        choose(at, event.shiftKey)
        scroller?.focus({ preventScroll: true })
        event.preventDefault()
      }}
      onPointerEnter={event => event.buttons === 1 && anchor !== undefined && choose(at, true)}
      // By a press that is no pointer's.
      onClick={event => event.detail === 0 && choose(at, event.shiftKey)}
    >
      <For each={columns}>{number => <span data-number={number} />}</For>
    </button>
  )
  const half = (at: number | undefined, columns: (line: PatchLine) => (number | undefined)[]) => {
    const line = at === undefined ? undefined : props.patch.lines[at]
    if (at === undefined || !line) return <div class="code-line absent" />
    return (
      <div class={`code-line ${line.kind}`} classList={{ selected: isSelected(at) }} data-line={at}>
        {number(at, columns(line))}
        <span class="sign" aria-hidden="true">
          {SIGNS[line.kind]}
        </span>
        <span class="line-text">
          <For each={content(at)}>
            {run => (
              <Show
                when={run.changed}
                fallback={
                  <span class={run.class}>
                    <Visible text={run.text} />
                  </span>
                }
              >
                <mark class={run.class}>
                  <Visible text={run.text} />
                </mark>
              </Show>
            )}
          </For>
          <Show when={line.unended}>
            <span class="quiet unended"> no newline at the end</span>
          </Show>
        </span>
        <Show when={props.told?.get(at)}>
          {told => (
            <span class="told-mark" role="img" aria-label={`The agent was told: ${told()}`} title={told()}>
              ●
            </span>
          )}
        </Show>
      </div>
    )
  }
  return (
    <div
      class="diff-rows"
      classList={{ split: diffView() === 'split' }}
      role="group"
      aria-label={`Lines of ${props.path}`}
      tabIndex={0}
      ref={scroller}
      onKeyDown={onKey}
    >
      <Virtualizer
        ref={setHandle}
        data={shown().rows}
        scrollRef={scroller as HTMLElement}
        itemSize={ROW_PX}
        bufferSize={400}
      >
        {row => (
          <Switch>
            <Match when={row.kind === 'line' && row}>
              {row => half(row().at, line => [line.old, line.now])}
            </Match>
            <Match when={row.kind === 'side' && row}>
              {row => (
                <div class="code-sides">
                  {half(row().left, line => [line.old])}
                  {half(row().right, line => [line.now])}
                </div>
              )}
            </Match>
            <Match when={row.kind === 'gap' && row}>
              {row => {
                const { gap, hunk } = row() as Extract<DiffRow, { kind: 'gap' }>
                return (
                  <GapRow gap={gap} onWhole={props.onWhole}>
                    {hunk === undefined ? undefined : props.hunk?.(hunk)}
                  </GapRow>
                )
              }}
            </Match>
            <Match when={row.kind === 'card' && row}>{row => props.card?.(row().id)}</Match>
          </Switch>
        )}
      </Virtualizer>
    </div>
  )
}

function cut<T extends { text: string }>(runs: T[]): T[] {
  let room = MAX_LINE_CHARS
  const kept: T[] = []
  for (const run of runs) {
    if (room <= 0) break
    kept.push(run.text.length > room ? { ...run, text: `${run.text.slice(0, room)}…` } : run)
    room -= run.text.length
  }
  return kept
}

function GapRow(props: { gap: Gap; onWhole: (() => void) | undefined; children?: JSX.Element }) {
  const isFirst = () => props.gap.hidden === 0 && props.gap.inside === ''
  return (
    <div class="code-gap">
      <Show when={!isFirst() && props.onWhole} fallback={<span>{isFirst() ? '' : '⋯'}</span>}>
        {onWhole => (
          <button type="button" class="link-button" tabIndex={-1} onClick={() => onWhole()()}>
            {props.gap.hidden > 0 ? plural(props.gap.hidden, 'line') : 'Lines'} between
          </button>
        )}
      </Show>
      <Show when={props.gap.inside}>
        <span class="ellipsis">{props.gap.inside}</span>
      </Show>
      {props.children}
    </div>
  )
}
