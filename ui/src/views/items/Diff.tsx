// One file's change: hunks with line numbers and intra-line marks. Long or generated changes start folded.

import { For, Show } from 'solid-js'
import type { FileDiff } from '../../protocol'
import { useProjects } from '../../store/owners'
import type { Session } from '../../store/session'
import { visible } from '../../text/escape'
import { plural, shortPath } from '../../text/format'
import { isGenerated, numbered } from '../../tools/diff'
import { createFold } from '../folds'
import { PathName } from '../PathName'
import { Visible } from './Verbatim'

/** How many lines stand open at first, in the conversation and in a question. */
const FIRST_LINES = 60
const FIRST_WHOLE_LINES = 400
const SIGNS = { context: ' ', added: '+', removed: '−' }

export function Diff(props: {
  session: Session
  itemId: string
  diff: FileDiff
  /** For a question: nothing is left out, shortened or folded for being generated. */
  whole?: boolean
  /** The file and the counts are told elsewhere. */
  headless?: boolean
}) {
  const projects = useProjects()
  const key = () => `diff ${props.itemId} ${props.diff.path}`
  const [all, toggle] = createFold(props.session, key(), () => false)
  const [open, toggleOpen] = createFold(
    props.session,
    `${key()} open`,
    () => props.whole === true || !isGenerated(props.diff.path),
  )
  const total = () => props.diff.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0)
  const first = () => (props.whole ? FIRST_WHOLE_LINES : FIRST_LINES)
  const left = () => total() - first()
  const shown = () => {
    let room = all() ? Number.POSITIVE_INFINITY : first()
    return props.diff.hunks.flatMap((hunk, index) => {
      const lines = numbered(hunk).slice(0, Math.max(0, room))
      room -= lines.length
      return lines.length > 0 ? [{ lines, gap: index > 0 }] : []
    })
  }
  return (
    <figure class="diff">
      <Show when={!props.headless || !open()}>
        <figcaption class="diff-head">
          <Show when={!props.headless}>
            <Show
              when={props.whole}
              fallback={
                <PathName
                  path={visible(
                    shortPath(props.diff.path, projects.ofSession(props.session.sessionId)?.path),
                  )}
                />
              }
            >
              <span class="whole-path">
                <Visible text={props.diff.path} />
              </span>
            </Show>
            <Counts added={props.diff.added} removed={props.diff.removed} />
          </Show>
          <Show when={!open()}>
            <button type="button" class="link-button" onClick={toggleOpen}>
              {props.headless ? 'A generated file: show the change' : 'generated, show'}
            </button>
          </Show>
        </figcaption>
      </Show>
      <Show when={open() && total() > 0}>
        <pre class="diff-lines" tabIndex={0}>
          <For each={shown()}>
            {hunk => (
              <>
                <Show when={hunk.gap}>
                  <span class="diff-gap">{'⋯\n'}</span>
                </Show>
                <For each={hunk.lines}>
                  {line => (
                    <span class={`diff-line ${line.kind}`}>
                      <span class="number">{line.now ?? line.old}</span>
                      <span class="sign">{SIGNS[line.kind]}</span>
                      <span class="content">
                        <For each={line.spans}>
                          {span =>
                            span.changed ? (
                              <mark>
                                <Visible text={span.text} />
                              </mark>
                            ) : (
                              <Visible text={span.text} />
                            )
                          }
                        </For>
                        {'\n'}
                      </span>
                    </span>
                  )}
                </For>
              </>
            )}
          </For>
        </pre>
      </Show>
      <Show when={open() && left() > 0}>
        <button type="button" class="fold-button" aria-expanded={all()} onClick={toggle}>
          {all()
            ? 'Show less'
            : props.whole
              ? `… ${plural(left(), 'more line')}`
              : `${plural(left(), 'line')} more`}
        </button>
      </Show>
      <Show when={open() && props.diff.truncated}>
        <p class="quiet small-text diff-note">
          The change is larger than is shown here; open the file to see all of it.
        </p>
      </Show>
    </figure>
  )
}

/** How many lines came and went. */
export function Counts(props: { added: number; removed: number }) {
  return (
    <span class="counts">
      <span class="added-count">+{props.added}</span> <span class="removed-count">−{props.removed}</span>
    </span>
  )
}
