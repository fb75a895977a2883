// A new session, with a choice: who, and whether it works in a worktree of its own. The set-up command is shown while it
// runs; if it fails, the person decides what becomes of the worktree.

import { createSignal, createUniqueId, For, onCleanup, Show } from 'solid-js'
import * as api from '../../api'
import type { AddWorktreeResponse, CommandRun, Project } from '../../protocol'
import { useIntents, useLists, useNotices, useProjects, useServer, useSessions } from '../../store/owners'
import { inWorktrees, setInWorktrees } from '../../store/settings'
import { Dialog, Failure } from '../Dialog'
import { AgentMark } from '../marks'
import { lossOf, proposedBranch } from './names'
import { RunOutput } from './RunOutput'
import '../../styles/worktrees.css'

/** How often it is asked what the set-up command has said. */
const ASK_EVERY_MS = 400

export default function NewSessionDialog(props: { project: Project; cliType?: string | undefined }) {
  const intents = useIntents()
  const lists = useLists()
  const notices = useNotices()
  const projects = useProjects()
  const server = useServer()
  const sessions = useSessions()
  const [cliType, setCliType] = createSignal(props.cliType ?? server.usualAgent()?.cliType ?? '')
  const [apart, setApart] = createSignal(inWorktrees()[props.project.path] === true)
  const [branch, setBranch] = createSignal(proposedBranch(new Date()))
  const [busy, setBusy] = createSignal(false)
  const [failure, setFailure] = createSignal('')
  const [run, setRun] = createSignal<CommandRun | undefined>()
  /** It is there, and its set-up has failed. */
  const [unready, setUnready] = createSignal<AddWorktreeResponse | undefined>()
  const group = createUniqueId()
  let open = true
  onCleanup(() => {
    open = false
  })
  const close = () => intents.askBegin(undefined)
  const choose = (on: boolean) => {
    setApart(on)
    setInWorktrees(before => ({ ...before, [props.project.path]: on }))
  }

  /** Looks at what the set-up command says as long as the worktree is being made. */
  const watch = (name: string) => {
    const clock = setInterval(async () => {
      const listed = await api.worktrees(props.project.projectId).catch(() => undefined)
      const made = listed?.worktrees.find(worktree => worktree.branch === name)
      if (made?.preparing && busy()) setRun(made.preparing)
    }, ASK_EVERY_MS)
    return () => clearInterval(clock)
  }

  const startIn = async (path: string) => {
    await lists.refresh()
    const worktree = projects.list.find(project => project.path === path)
    if (!worktree) throw new Error('the worktree is not among the projects')
    close()
    await sessions.start(worktree, cliType())
  }
  const make = async () => {
    const name = branch().trim()
    const stop = watch(name)
    try {
      const made = await api.addWorktree(props.project.projectId, { branch: name })
      if (made.setup && !made.setup.ok) {
        const { command, output } = made.setup
        setRun({ command, state: 'failed', output })
        setUnready(made)
        await lists.refresh()
        if (!open) notices.notify(`The set-up command of ${name} failed; the worktree is there.`, 'error')
      } else await startIn(made.path)
    } finally {
      stop()
    }
  }
  const attempt = async (work: () => Promise<unknown>) => {
    setBusy(true)
    setFailure('')
    try {
      await work()
    } catch (error) {
      if (!open) notices.notify(`The session was not started: ${(error as Error).message}`, 'error')
      setFailure((error as Error).message)
    } finally {
      setBusy(false)
    }
  }
  const submit = (event: Event) => {
    event.preventDefault()
    if (apart()) void attempt(make)
    else {
      close()
      void sessions.start(props.project, cliType())
    }
  }
  /** A worktree that was never used has nothing to lose but what its set-up has left. */
  const discard = (made: AddWorktreeResponse) =>
    attempt(async () => {
      const removed = await api.removeWorktree(props.project.projectId, made.name, true)
      await lists.refresh()
      const left = lossOf(removed)
      notices.notify(`Removed the worktree ${made.branch}${left && `, with ${left} of its set-up`}.`)
      close()
    })

  return (
    <Dialog label={`New session in ${props.project.name}`} onClose={close}>
      <h2>New session in {props.project.name}</h2>
      <Show when={!props.project.trusted}>
        <p class="form-warning">
          This folder is not trusted: nothing in it is run, so that neither an agent can be started here nor a
          worktree made.
        </p>
        <p>
          <button
            type="button"
            class="button small"
            onClick={() => {
              const { project } = props
              close()
              intents.askTrust({ project, next: () => intents.askBegin({ project, what: 'session' }) })
            }}
          >
            Trust this folder…
          </button>
        </p>
      </Show>
      <form onSubmit={submit}>
        <fieldset class="choices" disabled={busy() || unready() !== undefined}>
          <legend class="label">Agent</legend>
          <For each={server.agents.filter(agent => agent.status === 'found')}>
            {(agent, at) => (
              <label class="choice-line">
                <input
                  type="radio"
                  name={group}
                  checked={cliType() === agent.cliType}
                  autofocus={at() === 0}
                  onChange={() => setCliType(agent.cliType)}
                />
                <AgentMark cliType={agent.cliType} /> {agent.name}
              </label>
            )}
          </For>
          <label class="choice-line switch">
            <input
              type="checkbox"
              role="switch"
              aria-checked={apart()}
              checked={apart()}
              onChange={event => choose(event.currentTarget.checked)}
            />
            <span>
              In a worktree of its own
              <span class="quiet small-text">
                a second folder on a new branch: your files stay as they are until you bring the work back
              </span>
            </span>
          </label>
          <Show when={apart()}>
            <label class="field">
              Branch
              <input
                type="text"
                class="input mono"
                required
                autocomplete="off"
                spellcheck={false}
                value={branch()}
                onInput={event => {
                  setBranch(event.currentTarget.value)
                  setFailure('')
                }}
              />
            </label>
          </Show>
        </fieldset>
        <Show when={run()}>{run => <RunOutput run={run()} label="Set-up" />}</Show>
        <Failure text={failure()} />
        <Show
          when={unready()}
          fallback={
            <div class="dialog-foot">
              <button type="button" class="button" onClick={close}>
                {busy() ? 'Hide' : 'Cancel'}
              </button>
              <button
                type="submit"
                class="button primary"
                disabled={
                  busy() || !props.project.trusted || cliType() === '' || (apart() && !branch().trim())
                }
              >
                {busy() ? 'Making the worktree…' : 'Start'}
              </button>
            </div>
          }
        >
          {made => (
            <div class="dialog-foot">
              <button type="button" class="button" onClick={() => void discard(made())}>
                Remove the worktree
              </button>
              <button
                type="button"
                class="button primary"
                onClick={() => void attempt(() => startIn(made().path))}
              >
                Start all the same
              </button>
            </div>
          )}
        </Show>
      </form>
    </Dialog>
  )
}
