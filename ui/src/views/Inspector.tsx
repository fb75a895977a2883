// The right panel: language servers, index, the files this session changed, tokens and cost.

import { createMemo, createResource, createSignal, For, Match, onCleanup, Show, Switch } from 'solid-js'
import { indexStatus, installable, installServer, optional, startServer, stopServer } from '../api'
import type {
  CodebaseBucket,
  ListCodebasesResponse,
  ListedCodebase,
  LspStatusResponse,
  Project,
  ServerState,
  ServerStatus,
} from '../protocol'
import { addressOf } from '../store/address'
import { useConversations, useNotices, useProjects, useTabs } from '../store/owners'
import type { Session } from '../store/session'
import { cost, count, plural, shortPath } from '../text/format'
import { changedBy } from '../tools/changed'
import { ContextFold } from './ContextFold'
import { CopyButton } from './CopyButton'
import { Counts } from './items/Diff'
import { PathName } from './PathName'

const REFRESH_MS = 10_000
const BUILD_REFRESH_MS = 1_000

export function Inspector() {
  const conversations = useConversations()
  const projects = useProjects()
  const tabs = useTabs()
  const session = () => {
    const active = tabs.active()
    return active === undefined ? undefined : conversations.session(active)
  }
  const project = () => projects.ofSession(tabs.active())
  return (
    <aside class="inspector" aria-label="Inspector">
      <Show when={project()} fallback={<p class="quiet pad">Open a session to see its project.</p>} keyed>
        {project => (
          <>
            <h2 class="inspector-title ellipsis" title={project.path}>
              {project.name}
            </h2>
            <Servers project={project} />
            <Index project={project} />
          </>
        )}
      </Show>
      <Show when={session()} keyed>
        {session => (
          <>
            <Changed session={session} root={project()?.path} />
            <Spent session={session} />
          </>
        )}
      </Show>
    </aside>
  )
}

/** A route read now and again; `undefined` when this server does not have it. */
function watched<T>(path: () => string) {
  const [answer, { refetch }] = createResource(path, path => optional<T>(path).catch(() => undefined))
  const timer = setInterval(() => {
    if (!document.hidden) void refetch()
  }, REFRESH_MS)
  onCleanup(() => clearInterval(timer))
  return [answer, () => void refetch()] as const
}

/** How a server's state looks: only a real failure is red. */
const DOTS: Partial<Record<ServerState, string>> = {
  active: 'passed',
  starting: 'working',
  broken: 'dead',
}

/** Not installed, or not needed yet: folded away. */
const NOT_RUNNING: ServerStatus['status'][] = ['idle', 'unavailable']

function Servers(props: { project: Project }) {
  const notices = useNotices()
  const [status, refetch] = watched<LspStatusResponse>(
    () => `/api/lsp/${encodeURIComponent(props.project.projectId)}/status`,
  )
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
          {answer => (
            <>
              <ul class="facts">
                <For
                  each={answer().servers.filter(server => !NOT_RUNNING.includes(server.status))}
                  fallback={<li class="quiet small-text">None runs yet: the first edit starts them.</li>}
                >
                  {server => <Server server={server} act={act} />}
                </For>
              </ul>
              <Show when={answer().servers.filter(server => NOT_RUNNING.includes(server.status))}>
                {idle => (
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
                )}
              </Show>
            </>
          )}
        </Match>
        <Match when={status.state === 'ready'}>
          <p class="quiet small-text">Not available yet.</p>
        </Match>
      </Switch>
    </section>
  )
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

const BUCKET_DOTS: Record<CodebaseBucket, string> = {
  ready: 'passed',
  indexing: 'working',
  requires_reindex: 'open',
  failed: 'dead',
}

function Index(props: { project: Project }) {
  const notices = useNotices()
  const projects = useProjects()
  const [answer, refetch] = watched<ListCodebasesResponse>(() => '/api/index')
  const codebase = () => answer.latest?.codebases.find(codebase => codebase.path === props.project.path)
  const create = () =>
    void notices.attempt('The project was not indexed', async () => {
      await projects.index(props.project)
      refetch()
    })
  return (
    <section aria-labelledby="index-title">
      <h3 id="index-title">Index</h3>
      <Switch>
        <Match when={codebase()}>
          {codebase => (
            <ul class="facts">
              <li>
                <span class={`dot ${BUCKET_DOTS[codebase().bucket]}`} />
                <span>{codebase().bucket.replaceAll('_', ' ')}</span>
                <span class="quiet">
                  <Show when={codebase().bucket === 'indexing'} fallback={codebaseSize(codebase())}>
                    <BuildProgress path={codebase().path} fallback={codebaseSize(codebase())} />
                  </Show>
                </span>
              </li>
              <Show when={codebase().reason}>
                {reason => <li class="quiet small-text wide">{reason()}</li>}
              </Show>
            </ul>
          )}
        </Match>
        <Match when={answer.latest}>
          <p class="quiet small-text">Not indexed: its code cannot be searched yet.</p>
          <button type="button" class="button small" onClick={create}>
            Index this project
          </button>
        </Match>
        <Match when={answer.state === 'ready'}>
          <p class="quiet small-text">Not available yet.</p>
        </Match>
      </Switch>
    </section>
  )
}

/** While it is built, how many files are done, asked every second. */
function BuildProgress(props: { path: string; fallback: string }) {
  const [progress, { refetch }] = createResource(
    () => props.path,
    path => indexStatus(path).then(status => status.hints?.indexing ?? null),
  )
  const timer = setInterval(() => !document.hidden && void refetch(), BUILD_REFRESH_MS)
  onCleanup(() => clearInterval(timer))
  const files = () => {
    const { filesDone, filesTotal } = (progress.state === 'errored' ? null : progress.latest) ?? {}
    return filesDone !== undefined && filesTotal ? `${count(filesDone)} of ${plural(filesTotal, 'file')}` : ''
  }
  return <>{files() || props.fallback}</>
}

function codebaseSize(codebase: ListedCodebase): string {
  if (codebase.bucket === 'indexing' && codebase.progressPct !== undefined) {
    return `${Math.round(codebase.progressPct)} %`
  }
  return codebase.indexedFiles === undefined ? '' : plural(codebase.indexedFiles, 'file')
}

function Changed(props: { session: Session; root: string | undefined }) {
  const files = createMemo(() => {
    props.session.rows()
    const sums = new Map<string, { added: number; removed: number; line: number; isCounted: boolean }>()
    for (const item of props.session.log.items.values()) {
      if (item.type !== 'tool_call' || item.status !== 'complete' || item.toolOutputIsError) continue
      for (const { path: named, line, lines } of changedBy(item)) {
        const path = shortPath(named, props.root)
        const sum = sums.get(path) ?? { added: 0, removed: 0, line: 1, isCounted: false }
        sums.set(path, {
          added: sum.added + (lines?.added ?? 0),
          removed: sum.removed + (lines?.removed ?? 0),
          line: line ?? sum.line,
          isCounted: sum.isCounted || lines !== undefined,
        })
      }
    }
    return [...sums].sort(([a], [b]) => a.localeCompare(b))
  })
  return (
    <section aria-labelledby="changed-title">
      <h3 id="changed-title">Changed here</h3>
      <ul class="facts">
        <For each={files()} fallback={<li class="quiet small-text">Nothing yet.</li>}>
          {([path, sum]) => (
            <li>
              <a class="place" href={addressOf({ kind: 'file', path, line: Math.max(1, sum.line) })}>
                <PathName path={path} />
              </a>
              <Show when={sum.isCounted}>
                <Counts added={sum.added} removed={sum.removed} />
              </Show>
            </li>
          )}
        </For>
      </ul>
      <Show when={props.session.earlier() !== undefined}>
        <p class="quiet small-text">Without the earlier messages that are not loaded.</p>
      </Show>
    </section>
  )
}

function Spent(props: { session: Session }) {
  const usage = createMemo(() => props.session.usage())
  const share = () => {
    const { contextTokens, contextWindow } = usage() ?? {}
    return contextTokens !== undefined && contextWindow
      ? Math.min(1, contextTokens / contextWindow)
      : undefined
  }
  return (
    <section aria-labelledby="spent-title">
      <h3 id="spent-title">Tokens and cost</h3>
      <Show when={usage()} fallback={<p class="quiet small-text">Nothing yet.</p>}>
        {usage => (
          <dl class="spent">
            <dt>in</dt>
            <dd>
              {count(
                usage().inputTokens +
                  (usage().cacheReadInputTokens ?? 0) +
                  (usage().cacheCreationInputTokens ?? 0),
              )}
            </dd>
            <dt>out</dt>
            <dd>{count(usage().outputTokens)}</dd>
            <Show when={usage().costUsd}>
              {usd => (
                <>
                  <dt>cost</dt>
                  <dd>{cost(usd())}</dd>
                </>
              )}
            </Show>
            <Show when={share()}>
              {share => (
                <>
                  <dt>context</dt>
                  <dd>
                    <meter
                      aria-label="Context in use"
                      min={0}
                      max={1}
                      high={0.8}
                      value={share()}
                      title={`${count(usage().contextTokens ?? 0)} of ${count(usage().contextWindow ?? 0)}`}
                    />{' '}
                    {share() < 0.01 ? '< 1' : Math.round(share() * 100)} %
                  </dd>
                </>
              )}
            </Show>
          </dl>
        )}
      </Show>
      <Show when={usage()}>
        <ContextFold session={props.session} />
      </Show>
    </section>
  )
}
