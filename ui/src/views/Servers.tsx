// The language servers of a project: those that run, and those that its files could use.

import {
  createEffect,
  createMemo,
  createResource,
  createSignal,
  For,
  Match,
  on,
  Show,
  Switch,
} from 'solid-js'
import { installable, installServer, startServer, stopServer } from '../api'
import type {
  LspStatusResponse,
  Project,
  ProjectServersResponse,
  ServerState,
  ServerStatus,
} from '../protocol'
import { useNotices } from '../store/owners'
import type { Session } from '../store/session'
import { changedBy } from '../tools/changed'
import { CopyButton } from './CopyButton'
import { watched } from './watched'

/** How a server's state looks: only a real failure is red. */
const DOTS: Partial<Record<ServerState, string>> = {
  active: 'passed',
  starting: 'working',
  broken: 'dead',
}

/** Not installed, or not needed yet: folded away. */
const NOT_RUNNING: ServerStatus['status'][] = ['idle', 'unavailable']

/** Files come with other languages now and then; the folder is walked for the answer. */
const LANGUAGES_MS = 60_000

export function Servers(props: { project: Project; session: Session | undefined }) {
  const notices = useNotices()
  const [status, refetch] = watched<LspStatusResponse>(
    () => `/api/lsp/${encodeURIComponent(props.project.projectId)}/status`,
  )
  const [languages] = watched<ProjectServersResponse>(
    () => `/api/lsp/${encodeURIComponent(props.project.projectId)}/languages`,
    LANGUAGES_MS,
  )
  // An edit starts them: whoever just saw one happen need not wait for the next look.
  const edits = createMemo(() => (props.session ? editsOf(props.session) : 0))
  createEffect(on(edits, refetch, { defer: true }))
  const running = () => status.latest?.servers.filter(server => !NOT_RUNNING.includes(server.status)) ?? []
  /** Those that the project's files could use. */
  const idle = () => {
    const wanted = languages.latest?.servers
    return (
      status.latest?.servers.filter(
        server => NOT_RUNNING.includes(server.status) && (wanted?.includes(server.id) ?? true),
      ) ?? []
    )
  }
  const act = (server: ServerStatus, acts: ServerAct[]) =>
    notices.attempt(`${server.id} did not do as asked`, async () => {
      for (const one of acts) await one(props.project.projectId, server.id)
      refetch()
    })
  const [isUnfolded, unfold] = createSignal(false)
  const [ways] = createResource(isUnfolded, () => installable().catch(() => undefined))
  const managerOf = (id: string) => ways.latest?.servers.find(server => server.id === id)?.manager
  return (
    <section aria-labelledby="servers-title">
      <h3 id="servers-title">Language servers</h3>
      <Switch>
        <Match when={!props.project.trusted}>
          <p class="quiet small-text">None run while the folder is untrusted.</p>
        </Match>
        <Match when={status.latest}>
          <ul class="facts">
            <For each={running()} fallback={<li class="quiet small-text">{noneRuns(idle())}</li>}>
              {server => <Server server={server} act={act} />}
            </For>
          </ul>
          <Show when={idle().length > 0}>
            <details
              class="small-text"
              open={isUnfolded()}
              onToggle={event => unfold(event.currentTarget.open)}
            >
              <summary class="quiet">{idle().length} not running</summary>
              <ul class="facts">
                <For each={idle()}>
                  {server => <Server server={server} act={act} manager={managerOf(server.id)} />}
                </For>
              </ul>
            </details>
          </Show>
        </Match>
        <Match when={status.state === 'ready'}>
          <p class="quiet small-text">Not available yet.</p>
        </Match>
      </Switch>
    </section>
  )
}

/** What is said where none runs. */
function noneRuns(idle: ServerStatus[]): string {
  if (idle.length === 0) return 'None is known for the files of this project.'
  const isInstalled = idle.some(server => server.status === 'idle')
  return isInstalled ? 'None runs yet: the first edit starts them.' : 'None is installed for this project.'
}

/** How many calls have changed files. */
function editsOf(session: Session): number {
  session.rows()
  let edits = 0
  for (const item of session.log.items.values()) {
    if (item.type === 'tool_call' && item.status === 'complete' && changedBy(item).length > 0) edits += 1
  }
  return edits
}

type ServerAct = (projectId: string, server: string) => Promise<unknown>

/** What a person can do with a server, by its state. */
const ACTS: Partial<Record<ServerState, [string, ServerAct[]][]>> = {
  active: [
    ['Restart', [stopServer, startServer]],
    ['Stop', [stopServer]],
  ],
  starting: [['Stop', [stopServer]]],
  broken: [['Restart', [stopServer, startServer]]],
  idle: [['Start', [startServer]]],
}

const install: ServerAct = (_project, server) => installServer(server)

function Server(props: {
  server: ServerStatus
  act(server: ServerStatus, acts: ServerAct[]): Promise<unknown>
  /** The package manager that would bring it, when one can. */
  manager?: string | undefined
}) {
  const [busy, setBusy] = createSignal(false)
  const run = async (acts: ServerAct[]) => {
    setBusy(true)
    await props.act(props.server, acts)
    setBusy(false)
  }
  return (
    <li class="server">
      <span class={`dot ${DOTS[props.server.status] ?? 'open'}`} />
      <span class="ellipsis" title={props.server.path ?? props.server.reason ?? ''}>
        {props.server.id}
      </span>
      <span class="quiet">{props.server.status}</span>
      <Show when={ACTS[props.server.status]}>
        {acts => (
          <span class="server-acts wide">
            <For each={acts()}>
              {([name, acts]) => (
                <button
                  type="button"
                  class="button small"
                  aria-label={`${name} ${props.server.id}`}
                  disabled={busy()}
                  onClick={() => void run(acts)}
                >
                  {name}
                </button>
              )}
            </For>
          </span>
        )}
      </Show>
      <Show when={props.server.status === 'unavailable' && props.manager}>
        {manager => (
          <span class="server-acts wide">
            <button
              type="button"
              class="button small"
              aria-label={`Install ${props.server.id} with ${manager()}`}
              aria-busy={busy()}
              title={`with ${manager()}, into Chartroom's own folder`}
              disabled={busy()}
              onClick={() => void run([install])}
            >
              Install
            </button>
          </span>
        )}
      </Show>
      <Show when={props.server.status === 'broken' && props.server.reason}>
        {reason => <span class="quiet small-text wide">{reason()}</span>}
      </Show>
      <Show when={props.server.hint}>
        {hint => (
          <span class="command wide">
            <code>{hint()}</code> <CopyButton text={hint()} />
          </span>
        )}
      </Show>
    </li>
  )
}
