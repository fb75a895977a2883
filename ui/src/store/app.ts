// The whole page's state: the connection, projects, agents, sessions, tabs; and what a person can do with them.

import { batch, createContext, createEffect, createMemo, createSignal, on, useContext } from 'solid-js'
import { createStore, reconcile } from 'solid-js/store'
import * as api from '../api'
import type {
  Agent,
  AnswerParams,
  ImageData,
  Project,
  QueueParams,
  SendResponse,
  ServerFrame,
  SessionState,
  SessionSummary,
} from '../protocol'
import { highest } from './attention'
import { browserSurroundings, Connection, ConnectionLost, type Status, type Surroundings } from './connection'
import { Session } from './session'
import { lastAgent, setLastAgent } from './settings'
import { closeTab, moveTab, neighbour, openTab, readTabs, type Tabs } from './tabs'

const TABS_KEY = 'chartroom.tabs'

/** Something that went wrong or was done, shown for a while. */
export interface Notice {
  id: number
  text: string
  kind: 'info' | 'error'
  /** What can be done about it. */
  action?: { name: string; run(): void }
}

interface Lists {
  projects: Project[]
  agents: Agent[]
  /** Every session known, by id: what the lists and the frames said last. */
  sessions: Record<string, SessionSummary>
}

export type App = ReturnType<typeof createApp>

const AppContext = createContext<App>()
export const AppProvider = AppContext.Provider

export function useApp(): App {
  const app = useContext(AppContext)
  if (!app) throw new Error('no app around this view')
  return app
}

export function createApp(around: Surroundings = browserSurroundings()) {
  const [status, setStatus] = createSignal<Status>('connecting')
  const [everConnected, setEverConnected] = createSignal(false)
  const [loaded, setLoaded] = createSignal(false)
  const [unauthorized, setUnauthorized] = createSignal(false)
  const [version, setVersion] = createSignal('')
  const [lists, setLists] = createStore<Lists>({ projects: [], agents: [], sessions: {} })
  const [tabs, setTabs] = createSignal<Tabs>(readTabs(localStorage.getItem(TABS_KEY)))
  const [notices, setNotices] = createSignal<Notice[]>([])
  const [trustAsked, askTrust] = createSignal<{ project: Project; next?: () => void } | undefined>()
  /** The session whose new name is asked for. */
  const [renaming, askName] = createSignal<string | undefined>()
  /** Text that something else than the keyboard puts into the message being written. */
  const [inserted, insert] = createSignal<{ text: string } | undefined>()
  const open = new Map<string, Session>()
  /** The projects whose archived sessions are shown, too. */
  const whole = new Set<string>()
  let nextNotice = 1

  createEffect(() => localStorage.setItem(TABS_KEY, JSON.stringify(tabs())))

  const connection = new Connection(around, {
    status: next => {
      setStatus(next)
      if (next === 'disconnected') void whyDisconnected()
      if (next !== 'connected') return
      setUnauthorized(false)
      // After a break, what the lists say may be old.
      if (everConnected()) void refresh()
      setEverConnected(true)
    },
    frame: receive,
    subscriptions: () =>
      [...open.values()].map(session => {
        session.resubscribing()
        return { sessionId: session.sessionId, afterSeq: session.log.seq }
      }),
  })

  /** A server that was started anew answers, but does not know this page's key. */
  async function whyDisconnected(): Promise<void> {
    try {
      await api.health()
    } catch (error) {
      setUnauthorized(error instanceof api.ApiError && error.status === 401)
    }
  }

  function receive(frame: ServerFrame): void {
    if (frame.type === 'project:list') {
      const known = new Set(lists.projects.map(project => project.projectId))
      setLists('projects', reconcile(frame.projects, { key: 'projectId' }))
      // A project that another browser added comes without its sessions.
      const added = frame.projects.filter(project => loaded() && !known.has(project.projectId))
      for (const project of added) refreshSessions(project.projectId).catch(() => {})
      return
    }
    if (frame.type === 'session:listed') {
      setLists('sessions', frame.session.sessionId, frame.session)
      return
    }
    if (frame.type === 'agent:status') {
      setLists('agents', agent => agent.cliType === frame.cliType, 'status', frame.status)
      return
    }
    if (frame.type === 'error') {
      notify(frame.message, 'error')
      return
    }
    if (frame.type === 'ack') return
    if (frame.type === 'session:title') patchSummary(frame.sessionId, { title: frame.title })
    if (frame.type === 'session:state') patchSummary(frame.sessionId, { state: frame.state })
    if (frame.type === 'session:turn' || (frame.type === 'session:state' && frame.state === 'working')) {
      patchSummary(frame.sessionId, { lastActivity: new Date().toISOString() })
    }
    open.get(frame.sessionId)?.receive(frame)
  }

  function patchSummary(sessionId: string, patch: Partial<SessionSummary>): void {
    if (lists.sessions[sessionId]) setLists('sessions', sessionId, patch)
  }

  function notify(text: string, kind: Notice['kind'] = 'info', action?: Notice['action']): void {
    const notice: Notice = { id: nextNotice++, text, kind, ...(action ? { action } : {}) }
    setNotices(notices => [...notices.slice(-3), notice])
    setTimeout(() => dismiss(notice.id), kind === 'error' || action ? 9000 : 4000)
  }

  const dismiss = (id: number) => setNotices(notices => notices.filter(notice => notice.id !== id))

  /** Runs something that may fail and tells the person when it does. */
  async function attempt<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      notify(`${what}: ${error instanceof Error ? error.message : String(error)}`, 'error')
      return undefined
    }
  }

  /** Reads agents, projects and their sessions again. */
  async function refresh(): Promise<void> {
    try {
      const [health, agents, projects] = await Promise.all([api.health(), api.agents(), api.projects()])
      batch(() => {
        setVersion(health.version)
        setLists('agents', reconcile(agents.agents, { key: 'cliType' }))
        setLists('projects', reconcile(projects.projects, { key: 'projectId' }))
      })
      await Promise.all(projects.projects.map(project => refreshSessions(project.projectId)))
      setLoaded(true)
    } catch (error) {
      if (error instanceof api.ApiError && error.status === 401) setUnauthorized(true)
    }
  }

  async function refreshSessions(projectId: string): Promise<void> {
    const { sessions } = await api.sessions(projectId, whole.has(projectId))
    batch(() => {
      for (const session of sessions) setLists('sessions', session.sessionId, session)
      for (const [sessionId, known] of Object.entries(lists.sessions)) {
        if (known.projectId === projectId && !sessions.some(session => session.sessionId === sessionId)) {
          setLists('sessions', sessionId, undefined as never)
        }
      }
    })
  }

  /** The session behind a tab, opened on first use: loaded on the server, then followed. */
  function session(sessionId: string): Session {
    const known = open.get(sessionId)
    if (known) return known
    const session = new Session(sessionId)
    open.set(sessionId, session)
    void load(session)
    return session
  }

  /** Follows a session; false when the server does not know it, or not yet. */
  async function follow(session: Session): Promise<boolean> {
    // Without a connection there is nothing to do: a new one subscribes to every open session.
    if (status() !== 'connected') return true
    try {
      await connection.subscribe(session.sessionId, session.log.seq)
      return true
    } catch (error) {
      return error instanceof ConnectionLost
    }
  }

  async function load(session: Session): Promise<void> {
    session.setFailure(undefined)
    // What is stored is shown at once; a session found outside is known only when it is loaded.
    const followed = follow(session)
    try {
      await api.loadSession(session.sessionId)
      if (!(await followed)) await follow(session)
      const summary = lists.sessions[session.sessionId]
      if (summary?.discovered) patchSummary(session.sessionId, { discovered: false })
    } catch (error) {
      if (error instanceof api.ApiError && error.code === 'WORKSPACE_UNTRUSTED') {
        const project = projectOf(session.sessionId)
        if (project) askTrust({ project, next: () => void load(session) })
      }
      // A lost connection mends itself; the rest is told where the conversation would be.
      if (error instanceof api.ApiError && error.status !== 0) session.setFailure(error.message)
    }
  }

  /** Reads the page of history before what is shown. */
  async function loadEarlier(session: Session): Promise<void> {
    const before = session.earlier()
    if (before === undefined) return
    const page = await attempt('Earlier messages did not load', () => api.history(session.sessionId, before))
    if (page && session.earlier() === before) session.prepend(page)
  }

  function projectOf(sessionId: string | undefined): Project | undefined {
    const projectId = sessionId === undefined ? undefined : lists.sessions[sessionId]?.projectId
    return lists.projects.find(project => project.projectId === projectId)
  }

  const select = (sessionId: string) => setTabs(tabs => openTab(tabs, sessionId))

  function close(sessionId: string): void {
    setTabs(tabs => closeTab(tabs, sessionId))
    if (open.delete(sessionId)) connection.unsubscribe(sessionId)
  }

  async function create(project: Project, cliType: string): Promise<void> {
    setLastAgent(cliType)
    try {
      const { sessionId } = await api.createSession({ cliType, projectDir: project.path })
      await refreshSessions(project.projectId)
      select(sessionId)
    } catch (error) {
      if (error instanceof api.ApiError && error.code === 'WORKSPACE_UNTRUSTED') {
        askTrust({ project, next: () => void create(project, cliType) })
        return
      }
      notify(`The session could not be started: ${(error as Error).message}`, 'error')
    }
  }

  async function showArchived(projectId: string): Promise<void> {
    whole.add(projectId)
    await refreshSessions(projectId)
  }

  async function rename(sessionId: string, title: string): Promise<void> {
    await api.nameSession(sessionId, title)
    patchSummary(sessionId, { title })
  }

  /** Takes a session off the list, or puts it back; its tab closes with it. */
  async function archive(sessionId: string, archived: boolean): Promise<void> {
    await api.archiveSession(sessionId, archived)
    if (archived) {
      const undo = () => void attempt('It was not put back', () => archive(sessionId, false))
      notify(`Archived: ${titleOf(sessionId)}`, 'info', { name: 'Put back', run: undo })
      close(sessionId)
    }
    patchSummary(sessionId, { archived })
  }

  async function addProject(path: string): Promise<Project> {
    const project = await api.addProject(path)
    await refresh()
    if (!project.trusted) askTrust({ project })
    return project
  }

  async function trust(project: Project, trusted: boolean): Promise<void> {
    await api.trustProject(project.projectId, project.path, trusted)
    setLists('projects', other => other.projectId === project.projectId, 'trusted', trusted)
  }

  /** Begins to index a project's code; an answer that is not ok says why in words. */
  async function indexProject(project: Project): Promise<void> {
    const answer = await api.indexProject(project.path)
    if (answer.status !== 'ok' && answer.status !== 'not_ready') throw new Error(answer.message)
    notify(`Indexing ${project.name}: its code can be searched when that is done.`)
  }

  async function removeProject(project: Project): Promise<void> {
    await api.removeProject(project.projectId)
    await refresh()
  }

  async function send(sessionId: string, message: string, images: ImageData[]): Promise<SendResponse> {
    const params = images.length > 0 ? { message, images } : { message }
    return (await connection.request({ type: 'send', sessionId, params })) as SendResponse
  }

  const stateOf = (sessionId: string): SessionState =>
    open.get(sessionId)?.state().state ?? lists.sessions[sessionId]?.state ?? 'open'

  const titleOf = (sessionId: string): string => lists.sessions[sessionId]?.title || 'New session'

  /** The agent that one click starts: the one used last, else the first that is installed. */
  const usualAgent = (): Agent | undefined => {
    const found = lists.agents.filter(agent => agent.status === 'found')
    return found.find(agent => agent.cliType === lastAgent()) ?? found[0]
  }

  /** The sessions that were last active, of every project; what was put away is not among them. */
  const recent = (): SessionSummary[] =>
    Object.values(lists.sessions)
      .filter(session => session !== undefined && !session.archived && projectOf(session.sessionId))
      .sort((a, b) => b.lastActivity.localeCompare(a.lastActivity))

  /** The highest state of all tabs, for the browser's own title and icon. */
  const attention = createMemo(() => highest(tabs().open.map(stateOf)))

  // Every restored tab is followed, so that its dot, the title and the notifications are true.
  createEffect(
    on([tabs, loaded], ([tabs, loaded]) => {
      if (loaded) for (const sessionId of tabs.open) session(sessionId)
    }),
  )

  return {
    status,
    everConnected,
    loaded,
    unauthorized,
    version,
    lists,
    tabs,
    notices,
    trustAsked,
    renaming,
    inserted,
    attention,
    start: () => {
      connection.start()
      void refresh()
    },
    retryNow: () => connection.retryNow(),
    refresh,
    refreshSessions,
    session,
    reload: load,
    loadEarlier,
    projectOf,
    stateOf,
    titleOf,
    usualAgent,
    recent,
    select,
    close,
    move: (sessionId: string, index: number) => setTabs(tabs => moveTab(tabs, sessionId, index)),
    step: (by: number) => {
      const next = neighbour(tabs(), by)
      if (next) select(next)
    },
    create,
    askName,
    rename,
    archive,
    showArchived,
    insert: (text: string) => insert({ text }),
    addProject,
    indexProject,
    removeProject,
    trust,
    askTrust,
    notify,
    dismiss,
    attempt,
    send,
    cancel: (sessionId: string) => connection.request({ type: 'cancel', sessionId }),
    kill: (sessionId: string) => connection.request({ type: 'kill', sessionId }),
    answer: (sessionId: string, params: AnswerParams) =>
      connection.request({ type: 'answer', sessionId, params }),
    changeQueue: (sessionId: string, change: QueueParams) =>
      connection.request({ type: 'queue', sessionId, change }),
    setModel: (sessionId: string, model: string) =>
      connection.request({ type: 'model', sessionId, params: { model } }),
    setMode: (sessionId: string, mode: string) =>
      connection.request({ type: 'mode', sessionId, params: { mode } }),
  }
}
