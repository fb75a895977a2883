// Adds a folder as a project by its path.

import * as api from '../../api'
import { useProjects } from '../../store/owners'
import { FormDialog } from './FormDialog'

const HOME_WARNING =
  'This looks like a home folder: agents could reach everything of yours. A folder inside it is better.'
/** How many folders are offered. */
const MOST = 8
const RECENTS = 'chartroom.folders'

/** The folders that were added last from this browser. */
function recents(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(RECENTS) ?? '[]')
    return Array.isArray(kept) ? kept.filter(path => typeof path === 'string').slice(0, 5) : []
  } catch {
    return []
  }
}

function remember(path: string): void {
  localStorage.setItem(RECENTS, JSON.stringify([path, ...recents().filter(other => other !== path)]))
}

/** A path as it is copied from a terminal may have quotes around it. */
function unquoted(path: string): string {
  return path.trim().replace(/^(['"])(.+)\1$/, '$2')
}

/** Folders that hold everything else make a poor project. */
function warningFor(path: string): string {
  const folder = path.replace(/(?<=.)\/+$/, '')
  if (folder === '/') return 'This is the whole machine: agents could reach every file on it.'
  if (folder === '~' || folder === '/root' || /^\/(home|Users)\/[^/]+$/.test(folder)) {
    return HOME_WARNING
  }
  return ''
}

export function AddProjectDialog(props: { onClose(): void }) {
  const projects = useProjects()
  let home = ''
  const expanded = (path: string) => (home !== '' ? path.replace(/^~(?=\/|$)/, home) : path)
  const isHome = (path: string) => home !== '' && expanded(path).replace(/\/+$/, '') === home
  const complete = async (typed: string) => {
    const known = typed.trim() === '' ? recents() : []
    const answer = await api.folders(unquoted(typed))
    home = answer.home
    return [...new Set([...known, ...answer.folders.map(folder => `${folder}/`)])].slice(0, MOST)
  }
  const add = async (typed: string) => {
    const path = expanded(unquoted(typed)).replace(/(?<=.)\/+$/, '')
    const project = await projects.add(path)
    remember(project.path)
    return project
  }
  return (
    <FormDialog
      title="Add a project"
      field="Folder on this machine"
      action="Add"
      placeholder="/home/you/code/project"
      mono
      warn={path => (isHome(unquoted(path)) ? HOME_WARNING : warningFor(unquoted(path)))}
      complete={complete}
      onSubmit={add}
      onClose={props.onClose}
    />
  )
}
