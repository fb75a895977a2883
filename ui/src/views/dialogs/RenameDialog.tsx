// Gives a session another name.

import { createSignal, Show } from 'solid-js'
import { useApp } from '../../store/app'
import { Dialog } from '../Dialog'

/** As many characters as the server takes. */
const MAX_TITLE = 200

export function RenameDialog(props: { sessionId: string }) {
  const app = useApp()
  const [title, setTitle] = createSignal(app.titleOf(props.sessionId))
  const [failure, setFailure] = createSignal('')
  const close = () => app.askName(undefined)
  const rename = async (event: Event) => {
    event.preventDefault()
    try {
      await app.rename(props.sessionId, title().trim())
      close()
    } catch (error) {
      setFailure((error as Error).message)
    }
  }
  return (
    <Dialog label="Rename this session" onClose={close}>
      <h2>Rename this session</h2>
      <form onSubmit={event => void rename(event)}>
        <label class="field">
          Name
          <input
            ref={input => queueMicrotask(() => input.select())}
            type="text"
            class="input"
            autocomplete="off"
            maxLength={MAX_TITLE}
            autofocus
            required
            value={title()}
            onInput={event => {
              setTitle(event.currentTarget.value)
              setFailure('')
            }}
          />
        </label>
        <Show when={failure()}>
          <p class="failure" role="alert">
            {failure()}
          </p>
        </Show>
        <div class="dialog-foot">
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={title().trim() === ''}>
            Rename
          </button>
        </div>
      </form>
    </Dialog>
  )
}
