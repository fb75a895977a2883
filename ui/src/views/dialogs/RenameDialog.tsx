// Gives a session another name.

import { useApp } from '../../store/app'
import { FormDialog } from './FormDialog'

/** As many characters as the server takes. */
const MAX_TITLE = 200

export function RenameDialog(props: { sessionId: string }) {
  const app = useApp()
  return (
    <FormDialog
      title="Rename this session"
      field="Name"
      action="Rename"
      value={app.titleOf(props.sessionId)}
      maxLength={MAX_TITLE}
      onSubmit={title => app.rename(props.sessionId, title)}
      onClose={() => app.askName(undefined)}
    />
  )
}
