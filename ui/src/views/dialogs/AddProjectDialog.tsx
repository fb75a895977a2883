// Adds a folder as a project by its path.

import { useApp } from '../../store/app'
import { FormDialog } from './FormDialog'

export function AddProjectDialog(props: { onClose(): void }) {
  const app = useApp()
  return (
    <FormDialog
      title="Add a project"
      field="Folder on this machine"
      action="Add"
      placeholder="/home/you/code/project"
      mono
      onSubmit={path => app.addProject(path)}
      onClose={props.onClose}
    />
  )
}
