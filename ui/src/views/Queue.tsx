// Messages that wait for the running turn: edited, removed or sent at once. They live on the server.

import { createSignal, For, Show } from 'solid-js'
import type { QueuedMessage, QueueParams } from '../protocol'
import { useConversations, useNotices } from '../store/owners'
import type { Session } from '../store/session'
import { plural } from '../text/format'
import { Icon } from './Icon'

export function Queue(props: { session: Session }) {
  const conversations = useConversations()
  const notices = useNotices()
  const change = (change: QueueParams) =>
    notices.attempt('The queue was not changed', () =>
      conversations.changeQueue(props.session.sessionId, change),
    )
  // What a person kept back goes on; whatever else stands in the way is tried again with the agent.
  const goOn = async () => {
    await change({ action: 'continue' })
    await conversations.load(props.session)
  }
  return (
    <Show when={props.session.queue().length > 0}>
      <ul class="queue" aria-label="Queued messages">
        <For each={props.session.queue()}>
          {message => <Queued message={message} onChange={params => void change(params)} />}
        </For>
      </ul>
      <Show when={props.session.held()}>
        {reason => (
          <p class="queue-held" role="status">
            <span>The queue waits: {reason()}</span>
            <button type="button" class="button small" onClick={() => void goOn()}>
              Continue
            </button>
          </p>
        )}
      </Show>
    </Show>
  )
}

function Queued(props: { message: QueuedMessage; onChange(change: QueueParams): void }) {
  const [draft, setDraft] = createSignal<string | undefined>()
  const queuedId = () => props.message.queuedId
  const save = () => {
    const message = draft()?.trim()
    setDraft(undefined)
    if (message && message !== props.message.message) {
      props.onChange({ action: 'edit', queuedId: queuedId(), message })
    }
  }
  return (
    <li class="queued">
      <span class="tag">queued</span>
      <Show
        when={draft() === undefined}
        fallback={
          <textarea
            class="input"
            aria-label="Queued message"
            rows={2}
            value={draft() ?? ''}
            ref={area => queueMicrotask(() => area.focus())}
            onInput={event => setDraft(event.currentTarget.value)}
            onKeyDown={event => {
              if (event.key === 'Enter' && !event.shiftKey) {
                event.preventDefault()
                save()
              }
              if (event.key === 'Escape') {
                event.stopPropagation()
                setDraft(undefined)
              }
            }}
          />
        }
      >
        <span class="queued-text">{props.message.message}</span>
        <Show when={props.message.imageCount > 0}>
          <span class="quiet">{plural(props.message.imageCount, 'image')}</span>
        </Show>
      </Show>
      <span class="queued-actions">
        <Show
          when={draft() === undefined}
          fallback={
            <button type="button" class="button small" onClick={save}>
              Save
            </button>
          }
        >
          <button
            type="button"
            class="icon-button"
            aria-label="Edit the queued message"
            title="Edit"
            onClick={() => setDraft(props.message.message)}
          >
            <Icon name="edit" size={14} />
          </button>
          <button
            type="button"
            class="icon-button"
            aria-label="Remove the queued message"
            title="Remove"
            onClick={() => props.onChange({ action: 'remove', queuedId: queuedId() })}
          >
            <Icon name="trash" size={14} />
          </button>
          <button
            type="button"
            class="icon-button"
            aria-label="Send the queued message now"
            title="Send now: stops the running turn"
            onClick={() => props.onChange({ action: 'send_now', queuedId: queuedId() })}
          >
            <Icon name="zap" size={14} />
          </button>
        </Show>
      </span>
    </li>
  )
}
