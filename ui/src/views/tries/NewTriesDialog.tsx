// Several tries: one message, and who tries it, each in a worktree of its own.

import { createSignal, For, Index, Show } from 'solid-js'
import * as api from '../../api'
import type { Project } from '../../protocol'
import { useIntents, useServer, useTries } from '../../store/owners'
import { Dialog, Failure } from '../Dialog'
import '../../styles/worktrees.css'

const [FEWEST, MOST] = [2, 4]

export default function NewTriesDialog(props: { project: Project }) {
  const intents = useIntents()
  const server = useServer()
  const tries = useTries()
  const found = () => server.agents.filter(agent => agent.status === 'found')
  /** One each, or the only one twice. */
  const first = () => {
    const all = found().map(agent => agent.cliType)
    return [...all, ...all].slice(0, FEWEST)
  }
  const [agents, setAgents] = createSignal<string[]>(first())
  const [message, setMessage] = createSignal('')
  const [failure, setFailure] = createSignal('')
  const [busy, setBusy] = createSignal(false)
  const close = () => intents.askBegin(undefined)
  const submit = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    setFailure('')
    try {
      const params = { message: message(), agents: agents().map(cliType => ({ cliType })) }
      const begun = await api.startTries(props.project.projectId, params)
      tries.put(begun)
      tries.pin(begun.triesId)
      close()
    } catch (error) {
      if (error instanceof api.ApiError && error.code === 'WORKSPACE_UNTRUSTED') {
        const { project } = props
        close()
        intents.askTrust({ project, next: () => intents.askBegin({ project, what: 'tries' }) })
      } else setFailure((error as Error).message)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog label={`Several tries in ${props.project.name}`} onClose={close}>
      <h2>Several tries in {props.project.name}</h2>
      <p class="quiet">
        Each agent gets the message in a worktree and on a branch of its own. You compare what they make and
        keep one.
      </p>
      <form onSubmit={event => void submit(event)}>
        <fieldset class="choices" disabled={busy()}>
          <label class="field">
            Message
            <textarea
              class="input"
              rows={5}
              required
              autofocus
              value={message()}
              onInput={event => setMessage(event.currentTarget.value)}
              onKeyDown={event => {
                if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
                  event.currentTarget.form?.requestSubmit()
              }}
            />
          </label>
          <Index each={agents()}>
            {(agent, at) => (
              <div class="try-line">
                <label class="field">
                  Try {at + 1}
                  <select
                    class="input"
                    value={agent()}
                    onChange={event => {
                      const { value } = event.currentTarget
                      setAgents(all => all.map((other, index) => (index === at ? value : other)))
                    }}
                  >
                    <For each={found()}>{agent => <option value={agent.cliType}>{agent.name}</option>}</For>
                  </select>
                </label>
                <Show when={agents().length > FEWEST}>
                  <button
                    type="button"
                    class="button small"
                    onClick={() => setAgents(all => all.filter((_, index) => index !== at))}
                  >
                    Remove
                  </button>
                </Show>
              </div>
            )}
          </Index>
          <Show when={agents().length < MOST && found().length > 0}>
            <button
              type="button"
              class="button small"
              onClick={() => setAgents(all => [...all, found()[all.length % found().length]?.cliType ?? ''])}
            >
              One more
            </button>
          </Show>
        </fieldset>
        <Failure text={failure()} />
        <div class="dialog-foot">
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
          <button
            type="submit"
            class="button primary"
            disabled={busy() || message().trim() === '' || found().length === 0}
          >
            Start {agents().length} tries
          </button>
        </div>
      </form>
    </Dialog>
  )
}
