// The projects, and what a person can do with them.

import { createStore, reconcile } from 'solid-js/store'
import * as api from '../api'
import type { Project } from '../protocol'
import type { Owners } from './owners'

export type Projects = ReturnType<typeof createProjects>

export function createProjects(others: Pick<Owners, 'intents' | 'lists' | 'notices' | 'sessions'>) {
  const [list, setList] = createStore<Project[]>([])

  function mainOf(project: Project): Project {
    const repository = project.worktree?.repository
    if (repository === undefined) return project
    const others = list.filter(other => other.worktree === undefined)
    return (
      others.find(other => other.path === repository) ??
      // The project may be a folder of the repository.
      others.find(other => other.path.startsWith(`${repository}/`)) ??
      project
    )
  }

  async function add(path: string): Promise<Project> {
    const project = await api.addProject(path)
    await others.lists.refresh()
    if (!project.trusted) others.intents.askTrust({ project })
    return project
  }

  async function trust(project: Project, trusted: boolean): Promise<void> {
    await api.trustProject(project.projectId, project.path, trusted)
    setList(other => other.projectId === project.projectId, 'trusted', trusted)
  }

  /** Begins to index a project's code; an answer that is not ok says why in words. */
  async function index(project: Project): Promise<void> {
    const answer = await api.indexProject(project.path)
    if (answer.status !== 'ok' && answer.status !== 'not_ready') throw new Error(answer.message)
    others.notices.notify(`Indexing ${project.name}: its code can be searched when that is done.`)
  }

  async function remove(project: Project): Promise<void> {
    await api.removeProject(project.projectId)
    await others.lists.refresh()
  }

  return {
    list,
    /** Takes the server's list; answers the projects that were not in it before. */
    setList: (projects: Project[]): Project[] => {
      const known = new Set(list.map(project => project.projectId))
      setList(reconcile(projects, { key: 'projectId' }))
      return projects.filter(project => !known.has(project.projectId))
    },
    /** The project under which a worktree's sessions are listed; every other one is its own. */
    mainOf,
    /** Those that have a place of their own: no worktree of another one. */
    mains: (): Project[] => list.filter(project => mainOf(project) === project),
    /** The worktrees of a project that are there. */
    worktreesOf: (main: Project): Project[] =>
      list.filter(project => project !== main && mainOf(project) === main),
    ofSession: (sessionId: string | undefined): Project | undefined => {
      const projectId = sessionId === undefined ? undefined : others.sessions.known[sessionId]?.projectId
      return list.find(project => project.projectId === projectId)
    },
    add,
    trust,
    index,
    remove,
  }
}
