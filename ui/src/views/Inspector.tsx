// The right panel: language servers, index, the files this session changed, tokens and cost.

import { createMemo, createResource, For, Match, onCleanup, Show, Switch } from 'solid-js'
import { indexStatus } from '../api'
import type {
  CodebaseBucket,
  ListCodebasesResponse,
  ListedCodebase,
  Project,
  TeamServerResponse,
} from '../protocol'
import { addressOf } from '../store/address'
import { useConversations, useNotices, useProjects, useTabs } from '../store/owners'
import type { Session } from '../store/session'
import { cost, count, plural, shortPath } from '../text/format'
import { lastTrouble, serverState } from '../text/teamServer'
import { changedBy } from '../tools/changed'
import { ContextFold } from './ContextFold'
import { Counts } from './items/Diff'
import { PathName } from './PathName'
import { Servers } from './Servers'
import { watched } from './watched'

const BUILD_REFRESH_MS = 1_000
/** Each look asks the server itself. */
const TEAM_REFRESH_MS = 30_000

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
            <Servers project={project} session={session()} />
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
      <TeamServerFacts />
    </section>
  )
}

/** The server through which a team shares, when the config names one. */
function TeamServerFacts() {
  const [answer] = watched<TeamServerResponse>(() => '/api/index/team', TEAM_REFRESH_MS)
  return (
    <Show when={answer.latest?.server}>
      {server => (
        <ul class="facts">
          <li title={server().address}>
            <span class={`dot ${server().trouble === undefined ? 'passed' : 'dead'}`} />
            <span>team</span>
            <span class="quiet">{serverState(server())}</span>
          </li>
          <Show when={lastTrouble(server(), Date.now())}>
            {trouble => <li class="quiet small-text wide">{trouble()}</li>}
          </Show>
        </ul>
      )}
    </Show>
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
    return filesDone !== undefined && filesTotal
      ? `${filesDone.toLocaleString('en')} of ${plural(filesTotal, 'file')}`
      : ''
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
