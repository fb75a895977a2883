// A worktree: how it was set up, the way back from it, and its removal, which says first what would be lost.

import { createResource, createSignal, For, Match, Show, Switch } from 'solid-js'
import * as api from '../../api'
import type { BringHow, BringResponse, Project, RemoveWorktreeResponse } from '../../protocol'
import { useIntents, useLists, useNotices, useProjects, useSessions, useTabs } from '../../store/owners'
import { settled } from '../../store/settled'
import { visible } from '../../text/escape'
import { Dialog, Failure } from '../Dialog'
import { lossOf, names } from './names'
import { RunOutput } from './RunOutput'
import '../../styles/worktrees.css'

const WAYS: { how: BringHow; name: string; what: string }[] = [
  {
    how: 'apply',
    name: 'As changes',
    what: 'everything, committed or not, as changes that are not committed',
  },
  { how: 'merge', name: 'Merge', what: 'its commits, and one that joins both' },
  { how: 'squash', name: 'Squash', what: 'as one commit' },
  { how: 'rebase', name: 'Rebase', what: 'commit by commit' },
]

export default function WorktreeDialog(props: { project: Project }) {
  const intents = useIntents()
  const lists = useLists()
  const notices = useNotices()
  const projects = useProjects()
  const sessions = useSessions()
  const tabs = useTabs()
  const main = () => projects.mainOf(props.project)
  const name = () => props.project.worktree?.name ?? ''
  const branch = () => props.project.worktree?.branch ?? ''
  const [listed] = createResource(() => api.worktrees(main().projectId))
  const setUp = () => settled(listed)?.worktrees.find(worktree => worktree.name === name())?.preparing
  const [status] = createResource(() => api.repositoryStatus(main().projectId))
  const branches = () => settled(status)?.branches.filter(other => other !== branch()) ?? []
  const [chosen, setOnto] = createSignal<string | undefined>()
  const onto = () => chosen() ?? settled(status)?.branch ?? branches()[0] ?? ''
  const [how, setHow] = createSignal<BringHow>('apply')
  const [busy, setBusy] = createSignal(false)
  const [failure, setFailure] = createSignal('')
  const [refused, setRefused] = createSignal<BringResponse | undefined>()
  const [loss, setLoss] = createSignal<RemoveWorktreeResponse | undefined>()
  const close = () => intents.showWorktree(undefined)

  const attempt = async (work: () => Promise<void>) => {
    setBusy(true)
    setFailure('')
    setRefused(undefined)
    try {
      await work()
    } catch (error) {
      setFailure((error as Error).message)
    } finally {
      setBusy(false)
    }
  }
  const bring = () =>
    attempt(async () => {
      const brought = await api.bringWorktree(main().projectId, name(), { onto: onto(), how: how() })
      if (!brought.brought) {
        setRefused(brought)
        return
      }
      const words = brought.commit ? `${onto()} has it now` : `the changes are in the folder of ${onto()}`
      const undo = brought.undo === undefined ? '' : ` The files before: checkpoint ${brought.undo}.`
      notices.notify(`Brought back: ${words}.${undo}`)
      close()
    })
  const remove = (force: boolean) =>
    attempt(async () => {
      const removed = await api.removeWorktree(main().projectId, name(), force)
      if (!removed.removed) {
        setLoss(removed)
        return
      }
      for (const session of Object.values(sessions.known)) {
        if (session?.projectId === props.project.projectId) tabs.close(session.sessionId)
      }
      const { commit, undo } = removed
      const back = `chartroom worktree add --branch ${branch()} --from ${commit.slice(0, 12)}`
      const files = undo === undefined ? '' : `, then chartroom checkpoint restore ${undo} --force`
      notices.notify(
        `Removed ${branch()}; its sessions are archived. To have it back: ${back}${files}`,
        'info',
        undefined,
        lossOf(removed) !== '',
      )
      close()
      await lists.refresh()
    })

  return (
    <Dialog label={`Worktree ${branch()}`} class="worktree-dialog" onClose={close}>
      <h2>Worktree {branch()}</h2>
      <p class="real-path">
        <code>{visible(props.project.path)}</code>
      </p>
      <Show when={setUp()}>
        {run => (
          <details open={run().state !== 'passed'}>
            <summary>Set-up</summary>
            <RunOutput run={run()} label="Set-up" />
          </details>
        )}
      </Show>
      <Show
        when={loss()}
        fallback={
          <form
            onSubmit={event => {
              event.preventDefault()
              void bring()
            }}
          >
            <fieldset class="choices" disabled={busy()}>
              <legend class="label">Bring its work back</legend>
              <label class="field">
                Onto the branch
                <select
                  class="input"
                  value={onto()}
                  onChange={event => {
                    setOnto(event.currentTarget.value)
                    setRefused(undefined)
                  }}
                >
                  <For each={branches()}>
                    {branch => (
                      <option value={branch} selected={branch === onto()}>
                        {branch}
                      </option>
                    )}
                  </For>
                </select>
              </label>
              <For each={WAYS}>
                {way => (
                  <label class="choice-line">
                    <input
                      type="radio"
                      name="how"
                      checked={how() === way.how}
                      onChange={() => {
                        setHow(way.how)
                        setRefused(undefined)
                      }}
                    />
                    <span>
                      {way.name}
                      <span class="quiet small-text">{way.what}</span>
                    </span>
                  </label>
                )}
              </For>
            </fieldset>
            <Show when={refused()}>
              {refused => (
                <div class="failure" role="alert">
                  <p>Nothing was changed: {refused().reason}.</p>
                  <Show when={refused().conflicts.length > 0}>
                    <p>Conflicts:</p>
                    <ul class="conflicts">
                      <For each={refused().conflicts}>
                        {path => (
                          <li>
                            <code>{visible(path)}</code>
                          </li>
                        )}
                      </For>
                    </ul>
                  </Show>
                </div>
              )}
            </Show>
            <Failure text={failure()} />
            <div class="dialog-foot">
              <button
                type="button"
                class="button danger"
                disabled={busy()}
                onClick={() => void remove(false)}
              >
                Remove…
              </button>
              <span class="spacer" />
              <button type="button" class="button" autofocus onClick={close}>
                Cancel
              </button>
              <button type="submit" class="button primary" disabled={busy() || onto() === ''}>
                Bring back
              </button>
            </div>
          </form>
        }
      >
        {loss => (
          <>
            <div class="failure" role="alert">
              <Switch fallback={<p>Work would be lost.</p>}>
                <Match when={lossOf(loss())}>{words => <p>This would be lost: {words()}.</p>}</Match>
              </Switch>
            </div>
            <p class="quiet">
              Bring it back first, or remove it all the same: what is not committed is recorded before (
              {names([`the branch was ${loss().commit.slice(0, 12)}`])}), so that you can have it back.
            </p>
            <Failure text={failure()} />
            <div class="dialog-foot">
              <button type="button" class="button" autofocus onClick={() => setLoss(undefined)}>
                Keep it
              </button>
              <button type="button" class="button danger" disabled={busy()} onClick={() => void remove(true)}>
                Remove it all the same
              </button>
            </div>
          </>
        )}
      </Show>
    </Dialog>
  )
}
