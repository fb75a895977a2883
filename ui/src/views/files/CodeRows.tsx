// The lines of a file, of which only those that are seen are in the page: a hundred thousand scroll like ten.

import {
  createEffect,
  createMemo,
  createResource,
  createSignal,
  For,
  on,
  onCleanup,
  onMount,
  Show,
} from 'solid-js'
import type { BlameRun } from '../../protocol'
import { htmlLines, wordAt } from '../../text/codeLines'
import { visible } from '../../text/escape'
import { relativeTime } from '../../text/format'
import { highlight } from '../../text/highlight'

const ROW = 18
const BEYOND = 20
/** More text than this stays without colours: making them would hold up the page. */
const MOST_COLOURED = 200_000
/** A longer line is cut: nobody reads a minified one. */
const MOST_CHARS = 2000

export interface Word {
  word: string
  line: number
  column: number
}

export interface CodeRowsProps {
  path: string
  text: string
  /** The line to go to; another object goes there again. */
  spot: { line: number }
  blame: BlameRun[] | undefined
  /** A word was clicked; `follow` if its definition is wanted at once. */
  onWord(word: Word | undefined, follow: boolean): void
}

export function CodeRows(props: CodeRowsProps) {
  let view!: HTMLDivElement
  const [top, setTop] = createSignal(0)
  const [height, setHeight] = createSignal(600)
  const lines = createMemo(() => {
    const lines = props.text.split('\n')
    if (lines.at(-1) === '') lines.pop()
    return lines.map(line => line.replace(/\r$/, ''))
  })
  const [coloured] = createResource(
    () => ({ text: lines().join('\n'), name: props.path.split('.').at(-1) ?? '' }),
    async ({ text, name }) => {
      const html = await highlight(text, name, MOST_COLOURED)
      return html === undefined ? undefined : htmlLines(html)
    },
  )
  // Without a wait, and never those of another text: until they are made it is there without them.
  const colours = () => (coloured.state === 'ready' ? coloured.latest : undefined)
  const first = () => Math.max(0, Math.floor(top() / ROW) - BEYOND)
  const shown = createMemo(() => {
    const end = Math.min(lines().length, Math.ceil((top() + height()) / ROW) + BEYOND)
    return Array.from({ length: Math.max(0, end - first()) }, (_, n) => first() + n)
  })
  const blamed = createMemo(() => {
    const starts = new Map<number, BlameRun>()
    for (const run of props.blame ?? []) starts.set(run.line - 1, run)
    return starts
  })
  onMount(() => {
    const observer = new ResizeObserver(() => setHeight(view.clientHeight))
    observer.observe(view)
    onCleanup(() => observer.disconnect())
  })
  createEffect(
    on([() => props.spot, lines], ([spot]) => {
      // A third of the view above it: what leads to a line is read first.
      const to = Math.max(0, (spot.line - 1) * ROW - view.clientHeight / 3)
      queueMicrotask(() => {
        view.scrollTop = to
        setTop(view.scrollTop)
      })
    }),
  )
  const onClick = (event: MouseEvent) => {
    const row = (event.target as Element).closest<HTMLElement>('.code-text')
    const index = Number(row?.dataset.line)
    if (!row || Number.isNaN(index) || getSelection()?.toString()) return
    const offset = offsetIn(row, event)
    const found = offset === undefined ? undefined : wordAt(lines()[index] ?? '', offset)
    props.onWord(found && { ...found, line: index + 1 }, event.ctrlKey || event.metaKey)
  }
  onMount(() => view.addEventListener('click', onClick))
  return (
    <div
      class="code-view"
      ref={view}
      tabIndex={0}
      role="region"
      aria-label={props.path}
      onScroll={() => setTop(view.scrollTop)}
    >
      <div class="code-filler" classList={{ blamed: props.blame !== undefined }}>
        <div class="code-height" style={{ height: `${lines().length * ROW}px` }} />
        <div class="code-rows" style={{ transform: `translateY(${first() * ROW}px)` }}>
          <For each={shown()}>
            {index => (
              <div class="code-row" classList={{ here: props.spot.line === index + 1 }}>
                <Show when={props.blame}>
                  <span class="code-blame" title={blamed().get(index)?.summary}>
                    <Show when={blamed().get(index)}>
                      {run => (
                        <>
                          <span class="ellipsis">
                            {run().commit ? visible(run().author) : 'not committed'}
                          </span>
                          <span class="quiet">
                            {run().commit &&
                              relativeTime(new Date(run().at * 1000).toISOString(), Date.now())}
                          </span>
                        </>
                      )}
                    </Show>
                  </span>
                </Show>
                <span class="code-number">{index + 1}</span>
                <Show
                  when={(lines()[index]?.length ?? 0) <= MOST_CHARS && colours()?.[index]}
                  fallback={
                    <span class="code-text" data-line={index}>
                      {(lines()[index] ?? '').slice(0, MOST_CHARS)}
                    </span>
                  }
                >
                  {html => <span class="code-text" data-line={index} innerHTML={html()} />}
                </Show>
              </div>
            )}
          </For>
        </div>
      </div>
    </div>
  )
}

/** Where in a row's text a click was, in the units of a string. */
function offsetIn(row: HTMLElement, event: MouseEvent): number | undefined {
  const caret = document.caretPositionFromPoint?.(event.clientX, event.clientY)
  // Browsers of before 2025 know only the older name.
  const older = caret ? null : document.caretRangeFromPoint?.(event.clientX, event.clientY)
  const [node, offset] = caret
    ? [caret.offsetNode, caret.offset]
    : [older?.startContainer, older?.startOffset]
  if (!node || offset === undefined || !row.contains(node)) return undefined
  const range = document.createRange()
  range.setStart(row, 0)
  range.setEnd(node, offset)
  return range.toString().length
}
