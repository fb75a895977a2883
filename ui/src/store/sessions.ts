// Every session that the server knows, as the lists show it, and what a person can do with one as a whole.

import { batch } from 'solid-js'
import { createStore } from 'solid-js/store'
import * as api from '../api'
import type { Project, SessionSummary } from '../protocol'
import { awaitComposer } from '../typing'
import type { Owners } from './owners'
import { inWorktrees, setLastAgent } from './settings'

export type Sessions = ReturnType<typeof createSessions>

export function createSessions(others: Pick<Owners, 'intents' | 'notices' | 'projects' | 'tabs'>) {
  /** By id: what the lists and the frames said last. */
  const [known, setKnown] = createStore<Record<string, SessionSummary>>({})
  /** The projects whose archived sessions are shown, too. */
  const whole = new Set<string>()

  const patch = (sessionId: string, patch: Partial<SessionSummary>) => {
    if (known[sessionId]) setKnown(sessionId, patch)
  }

  const titleOf = (sessionId: string): string => known[sessionId]?.title || 'New session'

  /** A session was deleted for good, here or in another browser: its tab closes with it. */
  const forget = (sessionId: string) => {
    others.tabs.close(sessionId)
    if (known[sessionId]) setKnown(sessionId, undefined as never)
  }

  /** Reads a project's sessions again. */
  async function refresh(projectId: string): Promise<void> {
    const { sessions } = await api.sessions(projectId, whole.has(projectId))
    batch(() => {
      for (const session of sessions) setKnown(session.sessionId, session)
      for (const [sessionId, session] of Object.entries(known)) {
        if (session.projectId === projectId && !sessions.some(listed => listed.sessionId === sessionId)) {
          setKnown(sessionId, undefined as never)
        }
      }
    })
  }

  /** Starts a session and shows it; where it works in a worktree of its own, that is asked about first. */
  async function create(project: Project, cliType: string): Promise<void> {
    if (inWorktrees()[project.path]) others.intents.askBegin({ project, what: 'session', cliType })
    else await start(project, cliType)
  }

  async function start(project: Project, cliType: string): Promise<void> {
    setLastAgent(cliType)
    const stopWaiting = awaitComposer()
    try {
      const { sessionId } = await api.createSession({ cliType, projectDir: project.path })
      await refresh(project.projectId)
      others.tabs.select(sessionId)
    } catch (error) {
      if (error instanceof api.ApiError && error.code === 'WORKSPACE_UNTRUSTED') {
        others.intents.askTrust({ project, next: () => void start(project, cliType) })
        return
      }
      others.notices.notify(`The session could not be started: ${(error as Error).message}`, 'error')
    } finally {
      stopWaiting()
    }
  }

  async function rename(sessionId: string, title: string): Promise<void> {
    await api.nameSession(sessionId, title)
    patch(sessionId, { title })
  }

  /** Takes a session off the list, or puts it back; its tab closes with it. */
  async function archive(sessionId: string, archived: boolean): Promise<void> {
    await api.archiveSession(sessionId, archived)
    if (archived) {
      const undo = () => void others.notices.attempt('It was not put back', () => archive(sessionId, false))
      others.notices.notify(`Archived: ${titleOf(sessionId)}`, 'info', { name: 'Put back', run: undo })
      others.tabs.close(sessionId)
    }
    patch(sessionId, { archived })
  }

  async function showArchived(projectId: string): Promise<void> {
    whole.add(projectId)
    await refresh(projectId)
  }

  return {
    known,
    put: (session: SessionSummary) => setKnown(session.sessionId, session),
    patch,
    forget,
    titleOf,
    /** The sessions that were last active, of every project; what was put away is not among them. */
    recent: (): SessionSummary[] =>
      Object.values(known)
        .filter(
          session =>
            session !== undefined && !session.archived && others.projects.ofSession(session.sessionId),
        )
        .sort((a, b) => b.lastActivity.localeCompare(a.lastActivity)),
    refresh,
    /** Reads the sessions of this one's project again: another has come. */
    refreshAround: async (sessionId: string) => {
      const project = others.projects.ofSession(sessionId)
      if (project) await refresh(project.projectId)
    },
    create,
    start,
    rename,
    archive,
    showArchived,
  }
}
