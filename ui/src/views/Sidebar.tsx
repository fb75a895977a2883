// Projects and their sessions; sessions that were found on the machine are folded under each project.

import { createMemo, createSignal, For, onCleanup, Show } from 'solid-js'
import type { Project, SessionSummary } from '../protocol'
import {
  useConversations,
  useIntents,
  useLists,
  useNotices,
  useProjects,
  useServer,
  useSessions,
  useTabs,
  useTries,
} from '../store/owners'
import { setSidebarWidth, sidebarWidth } from '../store/settings'
import { relativeTime } from '../text/format'
import { Icon } from './Icon'
import { Menu } from './Menu'
import { AgentMark, BranchName, StateDot, UnreadDot } from './marks'

const FIRST_SHOWN = 12

export function Sidebar(props: { onAdd(): void; onPalette(): void; onChosen(): void }) {
  const lists = useLists()
  const projects = useProjects()
  const server = useServer()
  const [now, setNow] = createSignal(Date.now())
  const clock = setInterval(() => setNow(Date.now()), 30_000)
  onCleanup(() => clearInterval(clock))
  return (
    <aside class="sidebar" aria-label="Projects and sessions">
      <header class="sidebar-head">
        <span class="wordmark">chartroom</span>
        <button
          type="button"
          class="icon-button"
          aria-label="Search and commands"
          title="Ctrl K"
          onClick={props.onPalette}
        >
          <Icon name="search" />
        </button>
        <button
          type="button"
          class="icon-button"
          aria-label="Add a project"
          title="Add a project"
          onClick={props.onAdd}
        >
          <Icon name="plus" />
        </button>
      </header>
      <nav class="sidebar-list" aria-label="Sessions">
        <Show
          when={projects.list.length > 0}
          fallback={<p class="quiet pad">{lists.loaded() ? 'No project yet.' : 'Loading…'}</p>}
        >
          <For each={projects.mains()}>
            {project => <ProjectSection project={project} now={now()} onChosen={props.onChosen} />}
          </For>
        </Show>
      </nav>
      <footer class="sidebar-foot quiet">
        <span>{server.version() ? `version ${server.version()}` : ''}</span>
      </footer>
      <Resizer />
    </aside>
  )
}

function ProjectSection(props: { project: Project; now: number; onChosen(): void }) {
  const intents = useIntents()
  const projects = useProjects()
  const sessions = useSessions()
  const tabs = useTabs()
  const tries = useTries()
  const [open, setOpen] = createSignal(true)
  const [all, setAll] = createSignal(false)
  const worktrees = createMemo(() => projects.worktreesOf(props.project))
  const inProject = createMemo(() => {
    const ids = new Set([props.project, ...worktrees()].map(project => project.projectId))
    return Object.values(sessions.known)
      .filter(session => session !== undefined && ids.has(session.projectId))
      .sort((a, b) => b.lastActivity.localeCompare(a.lastActivity))
  })
  /** Made and not used: nothing else would lead to them. */
  const unused = () =>
    worktrees().filter(
      worktree => !worktree.missing && !inProject().some(session => session.projectId === worktree.projectId),
    )
  const own = () => inProject().filter(session => !session.discovered && !session.archived)
  const found = () => inProject().filter(session => session.discovered && !session.archived)
  const archived = () => inProject().filter(session => session.archived)
  const shown = () => (all() ? own() : own().slice(0, FIRST_SHOWN))
  return (
    <section class="project" aria-label={props.project.name}>
      <div class="project-head">
        <button
          type="button"
          class="project-name"
          aria-expanded={open()}
          title={props.project.path}
          onClick={() => setOpen(open => !open)}
        >
          <span class="chevron" classList={{ open: open() }}>
            <Icon name="chevron" size={14} />
          </span>
          <span class="ellipsis">{props.project.name}</span>
          <Show when={props.project.missing}>
            <span class="tag failed">gone</span>
          </Show>
          <Show when={!props.project.trusted && !props.project.missing}>
            <span class="tag">untrusted</span>
          </Show>
          <Show when={props.project.trusted && props.project.sandbox}>
            {sandbox => (
              <span class="tag" title={`Agents run in a sandbox here: ${sandbox()}`}>
                sandbox
              </span>
            )}
          </Show>
        </button>
        <ProjectButtons project={props.project} onChosen={props.onChosen} />
      </div>
      <Show when={open()}>
        <ul class="sessions">
          <For each={tries.open(props.project.projectId)}>
            {of => (
              <li>
                <button
                  type="button"
                  class="session"
                  title={of.message}
                  onClick={() => {
                    const [first] = of.tries.filter(one => one.sessionId !== undefined)
                    tries.pin(of.triesId)
                    if (first?.sessionId) tabs.select(first.sessionId)
                    props.onChosen()
                  }}
                >
                  <span class="tag">{of.tries.length} tries</span>
                  <span class="ellipsis">{of.message}</span>
                </button>
              </li>
            )}
          </For>
          <For each={shown()}>
            {session => <SessionEntry session={session} now={props.now} onChosen={props.onChosen} />}
          </For>
          <For each={unused()}>
            {worktree => (
              <li>
                <button type="button" class="session" onClick={() => intents.showWorktree(worktree)}>
                  <span class="tag">worktree</span>
                  <span class="ellipsis quiet">{worktree.worktree?.branch}</span>
                </button>
              </li>
            )}
          </For>
        </ul>
        <Show when={own().length > shown().length}>
          <button type="button" class="link-button indent" onClick={() => setAll(true)}>
            {own().length - shown().length} older
          </button>
        </Show>
        <Fold name="Found" sessions={found()} now={props.now} onChosen={props.onChosen} />
        <Fold name="Archived" sessions={archived()} now={props.now} onChosen={props.onChosen} />
        <Show when={inProject().length === 0 && unused().length === 0}>
          <p class="quiet indent small-text">No session yet.</p>
        </Show>
      </Show>
    </section>
  )
}

/** Sessions that are out of the way until they are wanted. */
function Fold(props: { name: string; sessions: SessionSummary[]; now: number; onChosen(): void }) {
  const [open, setOpen] = createSignal(false)
  return (
    <Show when={props.sessions.length > 0}>
      <button
        type="button"
        class="found indent"
        aria-expanded={open()}
        onClick={() => setOpen(open => !open)}
      >
        <span class="chevron" classList={{ open: open() }}>
          <Icon name="chevron" size={14} />
        </span>
        {props.name} <span class="quiet">{props.sessions.length}</span>
      </button>
      <Show when={open()}>
        <ul class="sessions">
          <For each={props.sessions}>
            {session => <SessionEntry session={session} now={props.now} onChosen={props.onChosen} />}
          </For>
        </ul>
      </Show>
    </Show>
  )
}

function SessionEntry(props: { session: SessionSummary; now: number; onChosen(): void }) {
  const conversations = useConversations()
  const intents = useIntents()
  const notices = useNotices()
  const projects = useProjects()
  const sessions = useSessions()
  const tabs = useTabs()
  const sessionId = () => props.session.sessionId
  const state = () => (props.session.discovered ? 'open' : conversations.stateOf(sessionId()))
  let openMenu = () => {}
  const worktree = () => {
    const project = projects.ofSession(sessionId())
    return project?.worktree && { project, ...project.worktree }
  }
  const act = (id: string) => {
    if (id === 'rename') intents.askName(sessionId())
    else if (id === 'worktree') intents.showWorktree(worktree()?.project)
    else
      void notices.attempt('The session was not moved', () =>
        sessions.archive(sessionId(), !props.session.archived),
      )
  }
  const entries = () => [
    { id: 'rename', name: 'Rename…', keys: 'F2' },
    ...(worktree() && !worktree()?.removed
      ? [{ id: 'worktree', name: 'Bring back or remove…', description: `worktree ${worktree()?.branch}` }]
      : []),
    props.session.archived
      ? { id: 'archive', name: 'Put back', description: 'into the list' }
      : { id: 'archive', name: 'Archive', description: 'the conversation is kept' },
  ]
  return (
    <li
      class="session-row"
      onContextMenu={event => {
        if (props.session.discovered) return
        event.preventDefault()
        openMenu()
      }}
    >
      <button
        type="button"
        class="session"
        aria-current={tabs.active() === sessionId() ? 'page' : undefined}
        title={props.session.title}
        onClick={() => {
          tabs.select(sessionId())
          props.onChosen()
        }}
        onKeyDown={event => {
          if (event.key !== 'F2') return
          event.preventDefault()
          if (!props.session.discovered) intents.askName(sessionId())
        }}
      >
        <AgentMark cliType={props.session.cliType} />
        <span class="titles">
          <span class="ellipsis">{sessions.titleOf(sessionId())}</span>
          <Show when={worktree()}>{worktree => <BranchName branch={worktree().branch} />}</Show>
        </span>
        <Show
          when={state() !== 'open' || tabs.isUnread(sessionId())}
          fallback={<time class="quiet">{relativeTime(props.session.lastActivity, props.now)}</time>}
        >
          <Show when={state() === 'open'} fallback={<StateDot state={state()} />}>
            <UnreadDot />
          </Show>
        </Show>
      </button>
      {/* What was found outside is not ours to name until it is opened here. */}
      <Show when={!props.session.discovered}>
        <Menu
          label={`More about ${sessions.titleOf(sessionId())}`}
          button={<Icon name="more" size={14} />}
          class="icon-button"
          align="end"
          entries={entries()}
          onChoose={act}
          opener={open => {
            openMenu = open
          }}
        />
      </Show>
    </li>
  )
}

/** One click starts the agent used last; the menu beside it shows all, installed or not. */
function ProjectButtons(props: { project: Project; onChosen(): void }) {
  const intents = useIntents()
  const notices = useNotices()
  const projects = useProjects()
  const server = useServer()
  const sessions = useSessions()
  const start = (cliType: string) => {
    props.onChosen()
    void sessions.create(props.project, cliType)
  }
  const act = (id: string) => {
    if (id === 'trust') intents.askTrust({ project: props.project })
    else if (id === 'revoke')
      void notices.attempt('Trust was not taken back', () => projects.trust(props.project, false))
    else if (id === 'archived')
      void notices.attempt('They could not be read', () => sessions.showArchived(props.project.projectId))
    else if (id === 'remove')
      void notices.attempt('The project was not removed', () => projects.remove(props.project))
    else if (id === 'session' || id === 'tries') intents.askBegin({ project: props.project, what: id })
    else start(id.slice('new:'.length))
  }
  const entries = () => [
    ...server.agents.map(agent => ({
      id: `new:${agent.cliType}`,
      name: `New ${agent.name} session`,
      description: agent.status === 'found' ? '' : `not installed: ${agent.install}`,
      disabled: agent.status !== 'found',
    })),
    { id: 'session', name: 'New session…', description: 'in a worktree of its own, if you like' },
    { id: 'tries', name: 'Several tries…', description: 'one message to two to four agents' },
    props.project.trusted
      ? { id: 'revoke', name: 'Take back trust', description: 'ends its agents and language servers' }
      : { id: 'trust', name: 'Trust this folder…', description: props.project.path },
    { id: 'archived', name: 'Show archived sessions', description: 'and ended ones' },
    { id: 'remove', name: 'Remove from the list', description: 'files and sessions stay' },
  ]
  return (
    <>
      <Menu
        label={`More in ${props.project.name}`}
        button={<Icon name="chevron-down" size={14} />}
        class="icon-button"
        align="end"
        entries={entries()}
        onChoose={act}
      />
      <Show when={server.usualAgent()}>
        {agent => (
          <button
            type="button"
            class="icon-button"
            aria-label={`New ${agent().name} session in ${props.project.name}`}
            title={`New ${agent().name} session`}
            onClick={() => start(agent().cliType)}
          >
            <Icon name="plus" />
          </button>
        )}
      </Show>
    </>
  )
}

function Resizer() {
  const drag = (event: PointerEvent) => {
    const target = event.currentTarget as HTMLElement
    target.setPointerCapture(event.pointerId)
    const move = (event: PointerEvent) => setSidebarWidth(clamp(event.clientX))
    const up = () => {
      target.removeEventListener('pointermove', move)
      target.removeEventListener('pointerup', up)
    }
    target.addEventListener('pointermove', move)
    target.addEventListener('pointerup', up)
  }
  const clamp = (width: number) => Math.round(Math.max(180, Math.min(420, width)))
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'ArrowLeft') setSidebarWidth(width => clamp(width - 16))
    if (event.key === 'ArrowRight') setSidebarWidth(width => clamp(width + 16))
  }
  return (
    <div
      class="resizer"
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the sidebar"
      aria-valuenow={sidebarWidth()}
      aria-valuemin={180}
      aria-valuemax={420}
      tabIndex={0}
      onPointerDown={drag}
      onKeyDown={onKey}
    />
  )
}
