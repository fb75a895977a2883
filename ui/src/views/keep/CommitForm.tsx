// The form of a commit: its message, written or proposed by the session's agent, and what goes into it.

import { createSignal, onMount, Show } from 'solid-js'
import type { ChangesStore } from '../../store/changes'
import type { KeepStore } from '../../store/keep'
import { useConversations } from '../../store/owners'
import { answerOf, messageIn, question } from '../../store/proposal'
import { plural } from '../../text/format'

const draftKey = (sessionId: string) => `chartroom.commit.${sessionId}`

/** The words outlive the form, a refusal and a reload; they go when they are committed. */
function keepDraft(sessionId: string, text: string): void {
  try {
    if (text === '') localStorage.removeItem(draftKey(sessionId))
    else localStorage.setItem(draftKey(sessionId), text)
  } catch {
    // Storage is full or forbidden: the words last as long as the form.
  }
}

function draftOf(sessionId: string): string {
  try {
    return localStorage.getItem(draftKey(sessionId)) ?? ''
  } catch {
    return ''
  }
}

export function CommitForm(props: { keep: KeepStore; changes: ChangesStore; onClose(): void }) {
  const conversations = useConversations()
  const { keep } = props
  const { session } = props.changes
  const [message, setText] = createSignal(draftOf(session.sessionId))
  const [amend, setAmend] = createSignal(false)
  const [all, setAll] = createSignal(keep.nStaged() === 0)
  const [asking, setAsking] = createSignal(false)
  const [proposal, setProposal] = createSignal<string | undefined>()
  const [failure, setFailure] = createSignal('')
  let area: HTMLTextAreaElement | undefined
  onMount(() => area?.focus())

  const setMessage = (text: string) => {
    setText(text)
    keepDraft(session.sessionId, text)
  }
  const files = () => keep.status()?.files ?? []
  const goesIn = () => (all() ? files() : files().filter(file => file.staged))
  const isReady = () =>
    (message().trim() !== '' || amend()) && (goesIn().length > 0 || amend()) && !keep.busy()
  const commit = async () => {
    if (!isReady()) return
    const text = message().trim()
    const params = { amend: amend(), all: all(), ...(text === '' ? {} : { message: text }) }
    if (!(await keep.commit(params))) return
    setMessage('')
    props.onClose()
  }
  const propose = async () => {
    setAsking(true)
    setFailure('')
    setProposal(undefined)
    const before = message()
    try {
      const sent = await conversations.send(session.sessionId, question(goesIn()), [])
      const proposed = messageIn(await answerOf(session, sent.turnId))
      // What was written meanwhile is not written over.
      if (message() === before && before.trim() === '') setMessage(proposed)
      else setProposal(proposed)
    } catch (error) {
      setFailure(`No message was proposed: ${(error as Error).message}`)
    } finally {
      setAsking(false)
    }
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Escape') props.onClose()
    else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void commit()
    else return
    event.preventDefault()
  }
  return (
    <form
      class="commit-form"
      aria-label="Commit"
      onSubmit={event => {
        event.preventDefault()
        void commit()
      }}
      onKeyDown={onKey}
    >
      <textarea
        ref={area}
        rows={4}
        aria-label="Commit message"
        placeholder={amend() ? 'As the last commit says' : 'What was changed, and why'}
        value={message()}
        onInput={event => setMessage(event.currentTarget.value)}
      />
      <Show when={proposal()}>
        {proposed => (
          <div class="commit-proposal">
            <pre tabIndex={0}>{proposed()}</pre>
            <button
              type="button"
              class="button small"
              onClick={() => {
                setMessage(proposed())
                setProposal(undefined)
              }}
            >
              Use this message
            </button>
          </div>
        )}
      </Show>
      <Show when={failure()}>
        <p class="failed-text small-text" role="alert">
          {failure()}
        </p>
      </Show>
      <div class="commit-choices">
        <label>
          <input type="checkbox" checked={all()} onChange={event => setAll(event.currentTarget.checked)} />
          Stage everything
        </label>
        <label>
          <input
            type="checkbox"
            checked={amend()}
            disabled={keep.status()?.head === undefined}
            onChange={event => setAmend(event.currentTarget.checked)}
          />
          Amend the last commit
        </label>
        <span class="quiet small-text">{plural(goesIn().length, 'file')}</span>
        <span class="commit-acts">
          <button
            type="button"
            class="link-button small-text"
            disabled={asking() || goesIn().length === 0}
            title="Asks the agent of this session, in the conversation"
            onClick={() => void propose()}
          >
            {asking() ? 'The agent is asked…' : 'Propose a message'}
          </button>
          <button type="button" class="button small" onClick={() => props.onClose()}>
            Cancel
          </button>
          <button type="submit" class="button small primary" title="Ctrl Enter" disabled={!isReady()}>
            {keep.busy() ? 'Committing…' : amend() ? 'Amend' : 'Commit'}
          </button>
        </span>
      </div>
    </form>
  )
}
