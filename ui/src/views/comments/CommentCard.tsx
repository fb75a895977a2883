// A comment below its lines, and the field in which one is written.

import { createSignal, onMount, Show } from 'solid-js'
import type { Comment } from '../../protocol'
import type { ReviewStore } from '../../store/comments'
import { placeOf } from '../../store/commentText'

const STATES = { open: 'not sent yet', sent: 'sent', resolved: 'resolved' }

export function CommentCard(props: { comment: Comment; changed: boolean; review: ReviewStore }) {
  const [editing, setEditing] = createSignal(false)
  const { review } = props
  const isResolved = () => props.comment.state === 'resolved'
  return (
    <Show
      when={!editing()}
      fallback={
        <CommentField
          text={props.comment.text}
          onSave={text => {
            setEditing(false)
            void review.put({ ...props.comment, text })
          }}
          onCancel={() => setEditing(false)}
        />
      }
    >
      <article
        class="comment-card"
        classList={{ resolved: isResolved() }}
        aria-label={`Comment on ${placeOf(props.comment)}`}
      >
        <p class="comment-text">{props.comment.text}</p>
        <div class="comment-foot">
          <span class="quiet small-text">
            {STATES[props.comment.state]}
            {props.changed ? ' · the lines changed since' : ''}
          </span>
          <span class="spacer" />
          <Show when={props.comment.state === 'open'}>
            <button type="button" class="link-button small-text" onClick={() => setEditing(true)}>
              Edit
            </button>
          </Show>
          <Show when={props.comment.state !== 'open'}>
            <button
              type="button"
              class="link-button small-text"
              onClick={() => void review.put({ ...props.comment, state: isResolved() ? 'sent' : 'resolved' })}
            >
              {isResolved() ? 'Not resolved' : 'Resolve'}
            </button>
          </Show>
          <button
            type="button"
            class="link-button small-text"
            onClick={() => void review.remove(props.comment)}
          >
            Remove
          </button>
        </div>
      </article>
    </Show>
  )
}

export function CommentField(props: { text?: string; onSave(text: string): void; onCancel(): void }) {
  const [text, setText] = createSignal(props.text ?? '')
  let area: HTMLTextAreaElement | undefined
  // The list puts the row into the page a moment later.
  onMount(() => requestAnimationFrame(() => area?.focus()))
  const save = () => text().trim() !== '' && props.onSave(text().trim())
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) save()
    else if (event.key === 'Escape') props.onCancel()
    else return
    event.preventDefault()
  }
  return (
    <div class="comment-card">
      <textarea
        ref={area}
        rows={3}
        aria-label="Comment for the agent"
        placeholder="What should the agent do about these lines?"
        value={text()}
        onInput={event => setText(event.currentTarget.value)}
        onKeyDown={onKey}
      />
      <div class="comment-foot">
        <span class="spacer" />
        <button type="button" class="button small" onClick={() => props.onCancel()}>
          Cancel
        </button>
        <button type="button" class="button small primary" disabled={text().trim() === ''} onClick={save}>
          Add comment
        </button>
      </div>
    </div>
  )
}
