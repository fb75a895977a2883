// Adds a folder as a project by its path.

import { useProjects } from '../../store/owners'
import { FormDialog } from './FormDialog'

/** A path as it is copied from a terminal may have quotes around it. */
function unquoted(path: string): string {
  return path.trim().replace(/^(['"])(.+)\1$/, '$2')
}

/** Folders that hold everything else make a poor project. */
function warningFor(path: string): string {
  const folder = path.replace(/(?<=.)\/+$/, '')
  if (folder === '/') return 'This is the whole machine: agents could reach every file on it.'
  if (folder === '~' || folder === '/root' || /^\/(home|Users)\/[^/]+$/.test(folder)) {
    return 'This looks like a home folder: agents could reach everything of yours. A folder inside it is better.'
  }
  return ''
}

export function AddProjectDialog(props: { onClose(): void }) {
  const projects = useProjects()
  return (
    <FormDialog
      title="Add a project"
      field="Folder on this machine"
      action="Add"
      placeholder="/home/you/code/project"
      mono
      warn={path => warningFor(unquoted(path))}
      onSubmit={path => projects.add(unquoted(path))}
      onClose={props.onClose}
    />
  )
}
