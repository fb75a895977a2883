// Back to before a message: what would happen to the files and to the conversation is told before anything is done.

import { createResource, createSignal, For, Match, Show, Switch } from 'solid-js'
import * as api from '../../api'
import { undoable } from '../../gitApi'
import type { Restored } from '../../protocol'
import { useConversations, useIntents, useNotices, useSessions, useTabs } from '../../store/owners'
import { tellRewind } from '../../store/rewound'
import { settled } from '../../store/settled'
import { visible } from '../../text/escape'
import { plural } from '../../text/format'
import { Dialog, Failure } from '../Dialog'
import { Icon } from '../Icon'
import '../../styles/rewind.css'

/** So many names are shown; the rest is counted. */
const MAX_NAMES = 12

export default function RewindDialog(props: { sessionId: string; turnId: string }) {
  const conversations = useConversations()
  const intents = useIntents()
  const notices = useNotices()
  const sessions = useSessions()
  const tabs = useTabs()
  const [files, setFiles] = createSignal(true)
  const [conversation, setConversation] = createSignal(true)
  const [failure, setFailure] = createSignal('')
  const [busy, setBusy] = createSignal(false)
  const close = () => intents.askRewind(undefined)
  const [tried] = createResource(() =>
    api.rewind(props.sessionId, { before: props.turnId, files: true, conversation: true, dryRun: true }),
  )
  const plan = () => settled(tried)
  const cannot = () => plan()?.cannot
  const goesBack = () => ({ files: files(), conversation: conversation() && cannot() === undefined })
  const isWorking = () => conversations.stateOf(props.sessionId) === 'working'

  const go = async () => {
    setBusy(true)
    try {
      const done = await api.rewind(props.sessionId, { before: props.turnId, ...goesBack() })
      const made = done.session
      close()
      if (made !== undefined) {
        await sessions.refreshAround(props.sessionId)
        tabs.select(made)
        tabs.close(props.sessionId)
        sessions.patch(props.sessionId, { archived: true })
      }
      const words = [
        done.files && told(done.files),
        made !== undefined && 'the conversation goes on here without it; the old session is archived',
      ]
      const text = `Back to before the message: ${words.filter(Boolean).join('; ')}.`
      // What changed nothing cannot be undone.
      const { acts } = await undoable(props.sessionId)
      const act = acts.find(act => act.rewound === props.sessionId)
      if (act) tellRewind({ notices, sessions, tabs }, made ?? props.sessionId, act, text)
      else notices.notify(text)
    } catch (error) {
      setFailure((error as Error).message)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog label="Back to before this message?" onClose={close}>
      <h2>
        <Icon name="undo" size={20} /> Back to before this message?
      </h2>
      <Switch>
        <Match when={tried.error}>{error => <Failure text={(error() as Error).message} />}</Match>
        <Match when={!plan()}>
          <p class="quiet">Looking at the files…</p>
        </Match>
        <Match when={plan()}>
          {plan => (
            <>
              <label class="rewind-choice">
                <input
                  type="checkbox"
                  checked={files()}
                  onChange={event => setFiles(event.currentTarget.checked)}
                />
                <span>
                  <strong>The files</strong>
                  <Show when={plan().files}>{restored => <Plan restored={restored()} />}</Show>
                </span>
              </label>
              <label class="rewind-choice">
                <input
                  type="checkbox"
                  checked={conversation() && cannot() === undefined}
                  disabled={cannot() !== undefined}
                  onChange={event => setConversation(event.currentTarget.checked)}
                />
                <span>
                  <strong>The conversation</strong>
                  <span class="quiet small-text">
                    {cannot() ??
                      'It goes on in a new tab that knows what came before; this session is archived, so that you can come back.'}
                  </span>
                </span>
              </label>
            </>
          )}
        </Match>
      </Switch>
      <Show when={isWorking()}>
        <p class="quiet">The agent works: stop it first.</p>
      </Show>
      <Failure text={failure()} />
      <div class="dialog-foot">
        <button type="button" class="button" autofocus onClick={close}>
          Cancel
        </button>
        <button
          type="button"
          class="button primary"
          disabled={!plan() || busy() || isWorking() || (!goesBack().files && !goesBack().conversation)}
          onClick={() => void go()}
        >
          Go back
        </button>
      </div>
    </Dialog>
  )
}

function Plan(props: { restored: Restored }) {
  const nothing = () =>
    props.restored.written.length + props.restored.removed.length + props.restored.conflicts.length === 0
  return (
    <Show when={!nothing()} fallback={<span class="quiet small-text">They are as they were.</span>}>
      <Names what="Comes back" names={props.restored.written} />
      <Names what="Is removed" names={props.restored.removed} />
      <Names what="Was changed by somebody else since, and stays as it is" names={props.restored.conflicts} />
    </Show>
  )
}

function Names(props: { what: string; names: string[] }) {
  return (
    <Show when={props.names.length > 0}>
      <span class="rewind-names small-text">
        <span class="quiet">{props.what}: </span>
        <For each={props.names.slice(0, MAX_NAMES)}>
          {(name, at) => (
            <>
              {at() > 0 ? ', ' : ''}
              <code>{visible(name)}</code>
            </>
          )}
        </For>
        <Show when={props.names.length > MAX_NAMES}>
          {` and ${plural(props.names.length - MAX_NAMES, 'more file')}`}
        </Show>
      </span>
    </Show>
  )
}

function told({ written, removed, conflicts }: Restored): string {
  const words = [
    written.length > 0 && `${plural(written.length, 'file')} came back`,
    removed.length > 0 && `${plural(removed.length, 'file')} removed`,
    conflicts.length > 0 &&
      `left alone, because somebody else changed it: ${conflicts.map(visible).join(', ')}`,
  ].filter(Boolean)
  return words.length > 0 ? words.join(', ') : 'no file had changed'
}
