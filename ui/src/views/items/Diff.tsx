// One file's change: hunks with line numbers and intra-line marks. Long or generated changes start folded.

import { For, Show } from 'solid-js'
import type { FileDiff } from '../../protocol'
import { useApp } from '../../store/app'
import type { Session } from '../../store/session'
import { visible } from '../../text/escape'
import { plural, shortPath } from '../../text/format'
import { isGenerated, numbered } from '../../tools/diff'
import { createFold } from '../folds'

/** How many lines stand open at first. */
const FIRST_LINES = 60
const SIGNS = { context: ' ', added: '+', removed: '−' }

export function Diff(props: { session: Session; itemId: string; diff: FileDiff; whole?: boolean }) {
  const app = useApp()
  const key = () => `diff ${props.itemId} ${props.diff.path}`
  const [all, toggle] = createFold(props.session, key(), () => props.whole === true)
  const [open, toggleOpen] = createFold(
    props.session,
    `${key()} open`,
    () => props.whole === true || !isGenerated(props.diff.path),
  )
  const total = () => props.diff.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0)
  const shown = () => {
    let room = all() ? Number.POSITIVE_INFINITY : FIRST_LINES
    return props.diff.hunks.flatMap((hunk, index) => {
      const lines = numbered(hunk).slice(0, Math.max(0, room))
      room -= lines.length
      return lines.length > 0 ? [{ lines, gap: index > 0 }] : []
    })
  }
  return (
    <figure class="diff">
      <figcaption class="diff-head">
        <span class="path ellipsis" title={visible(props.diff.path)}>
          {visible(shortPath(props.diff.path, app.projectOf(props.session.sessionId)?.path))}
        </span>
        <span class="added-count">+{props.diff.added}</span>
        <span class="removed-count">−{props.diff.removed}</span>
        <Show when={!open()}>
          <button type="button" class="link-button" onClick={toggleOpen}>
            generated, show
          </button>
        </Show>
      </figcaption>
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
                          {span => (span.changed ? <mark>{visible(span.text)}</mark> : visible(span.text))}
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
      <Show when={open() && total() > FIRST_LINES && props.whole !== true}>
        <button type="button" class="fold-button" onClick={toggle}>
          {all() ? 'Show less' : `${plural(total() - FIRST_LINES, 'line')} more`}
        </button>
      </Show>
      <Show when={props.diff.truncated}>
        <p class="quiet small-text diff-note">
          The change is larger than is shown here; open the file to see all of it.
        </p>
      </Show>
    </figure>
  )
}
