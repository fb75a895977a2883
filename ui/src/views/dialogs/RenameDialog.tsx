// Gives a session another name.

import { useIntents, useSessions } from '../../store/owners'
import { FormDialog } from './FormDialog'

/** As many characters as the server takes. */
const MAX_TITLE = 200

export function RenameDialog(props: { sessionId: string }) {
  const intents = useIntents()
  const sessions = useSessions()
  return (
    <FormDialog
      title="Rename this session"
      field="Name"
      action="Rename"
      value={sessions.titleOf(props.sessionId)}
      maxLength={MAX_TITLE}
      onSubmit={title => sessions.rename(props.sessionId, title)}
      onClose={() => intents.askName(undefined)}
    />
  )
}
