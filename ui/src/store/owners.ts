// Who owns what in the page, and how the server's frames reach them. A view takes the owners that it needs.

import { batch, createContext, createEffect, createSignal, on, useContext } from 'solid-js'
import * as api from '../api'
import type { ServerFrame } from '../protocol'
import { browserSurroundings, type Surroundings } from './connection'
import { type Conversations, createConversations } from './conversations'
import { createDesk, type Desk } from './desk'
import { createIntents, type Intents } from './intents'
import { createNotices, type Notices } from './notices'
import { createOpenTabs, type OpenTabs } from './openTabs'
import { createProjects, type Projects } from './projects'
import { createServer, type Server } from './server'
import { createSessions, type Sessions } from './sessions'
import { createTries, type Tries } from './tries'

export interface Owners {
  notices: Notices
  intents: Intents
  desk: Desk
  server: Server
  projects: Projects
  sessions: Sessions
  conversations: Conversations
  tabs: OpenTabs
  tries: Tries
  lists: Lists
}

/** What is read from the server as a whole: agents, projects and their sessions. */
export interface Lists {
  /** Whether they were read at all. */
  loaded(): boolean
  /** Reads them again. */
  refresh(): Promise<void>
}

const OwnersContext = createContext<Owners>()
export const OwnersProvider = OwnersContext.Provider

function owners(): Owners {
  const owners = useContext(OwnersContext)
  if (!owners) throw new Error('no owners around this view')
  return owners
}

export const useNotices = () => owners().notices
export const useIntents = () => owners().intents
export const useDesk = () => owners().desk
export const useServer = () => owners().server
export const useProjects = () => owners().projects
export const useSessions = () => owners().sessions
export const useConversations = () => owners().conversations
export const useTabs = () => owners().tabs
export const useTries = () => owners().tries
export const useLists = () => owners().lists

export function createOwners(around: Surroundings = browserSurroundings()): Owners {
  const [loaded, setLoaded] = createSignal(false)
  // They know each other through this object, which is whole before anything happens to any of them.
  const all = {} as Owners
  all.lists = { loaded, refresh }
  all.notices = createNotices()
  all.intents = createIntents()
  all.desk = createDesk()
  all.server = createServer(around, {
    frame: receive,
    // After a break, what the lists say may be old.
    reconnected: () => void refresh(),
    subscriptions: () => all.conversations.subscriptions(),
  })
  all.projects = createProjects(all)
  all.sessions = createSessions(all)
  all.conversations = createConversations(all)
  all.tabs = createOpenTabs(all)
  all.tries = createTries()

  async function refresh(): Promise<void> {
    try {
      const [health, agents, projects] = await Promise.all([api.health(), api.agents(), api.projects()])
      batch(() => {
        all.server.setVersion(health.version)
        all.server.setAgents(agents.agents)
        all.projects.setList(projects.projects)
      })
      await Promise.all(projects.projects.map(project => all.sessions.refresh(project.projectId)))
      refreshTries()
      setLoaded(true)
    } catch (error) {
      if (error instanceof api.ApiError && error.status === 401) all.server.setUnauthorized(true)
    }
  }

  function refreshTries(): void {
    for (const { projectId } of all.projects.mains()) all.tries.refresh(projectId).catch(() => {})
  }

  /** Everything that the server says by itself. */
  function receive(frame: ServerFrame): void {
    switch (frame.type) {
      case 'project:list': {
        const added = all.projects.setList(frame.projects)
        // A project that another browser added comes without its sessions.
        if (loaded()) for (const project of added) all.sessions.refresh(project.projectId).catch(() => {})
        refreshTries()
        return
      }
      case 'session:listed':
        all.sessions.put(frame.session)
        return
      case 'session:removed':
        all.sessions.forget(frame.sessionId)
        return
      case 'agent:status':
        all.server.setAgentStatus(frame.cliType, frame.status)
        return
      case 'error':
        all.notices.notify(frame.message, 'error')
        return
      case 'ack':
        return
      default:
        if (frame.type === 'session:title') all.sessions.patch(frame.sessionId, { title: frame.title })
        if (frame.type === 'session:state') all.sessions.patch(frame.sessionId, { state: frame.state })
        if (frame.type === 'session:turn' || (frame.type === 'session:state' && frame.state === 'working')) {
          all.sessions.patch(frame.sessionId, { lastActivity: new Date().toISOString() })
        }
        all.conversations.receive(frame)
    }
  }

  // Every restored tab is followed, so that its dot, the title and the notifications are true.
  createEffect(
    on([all.tabs.open, loaded], ([open, loaded]) => {
      if (loaded) for (const sessionId of open) all.conversations.session(sessionId)
    }),
  )
  return all
}
