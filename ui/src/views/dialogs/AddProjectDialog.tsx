// Adds a folder as a project by its path.

import { useProjects } from '../../store/owners'
import { FormDialog } from './FormDialog'

export function AddProjectDialog(props: { onClose(): void }) {
  const projects = useProjects()
  return (
    <FormDialog
      title="Add a project"
      field="Folder on this machine"
      action="Add"
      placeholder="/home/you/code/project"
      mono
      onSubmit={path => projects.add(path)}
      onClose={props.onClose}
    />
  )
}
