// The comments that wait, at the foot of the changes: what they are about, and one button that sends them all.

import { For, Show } from 'solid-js'
import type { ReviewStore } from '../../store/comments'
import { placeOf } from '../../store/commentText'
import { plural } from '../../text/format'

export function CommentTray(props: { review: ReviewStore; isWorking: boolean; onShow(path: string): void }) {
  return (
    <Show when={props.review.waiting().length > 0}>
      <footer class="comment-tray">
        <details>
          <summary>{plural(props.review.waiting().length, 'comment')}</summary>
          <ul>
            <For each={props.review.waiting()}>
              {comment => (
                <li>
                  <button type="button" class="link-button" onClick={() => props.onShow(comment.path)}>
                    {placeOf(comment)}
                  </button>
                  <span class="ellipsis">{comment.text}</span>
                </li>
              )}
            </For>
          </ul>
        </details>
        <button type="button" class="button small primary" onClick={() => void props.review.send()}>
          {props.isWorking ? 'Queue for the agent' : 'Send to the agent'}
        </button>
      </footer>
    </Show>
  )
}
