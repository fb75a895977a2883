// Adds a folder as a project by its path.

import { createSignal, Show } from 'solid-js'
import { useApp } from '../../store/app'
import { Dialog } from '../Dialog'

export function AddProjectDialog(props: { onClose(): void }) {
  const app = useApp()
  const [path, setPath] = createSignal('')
  const [failure, setFailure] = createSignal('')
  const [busy, setBusy] = createSignal(false)
  const add = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    try {
      await app.addProject(path().trim())
      props.onClose()
    } catch (error) {
      setFailure((error as Error).message)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog label="Add a project" onClose={props.onClose}>
      <h2>Add a project</h2>
      <form onSubmit={event => void add(event)}>
        <label class="field">
          Folder on this machine
          <input
            type="text"
            class="input mono"
            placeholder="/home/you/code/project"
            autocomplete="off"
            spellcheck={false}
            autofocus
            required
            value={path()}
            onInput={event => {
              setPath(event.currentTarget.value)
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
          <button type="button" class="button" onClick={props.onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={busy() || path().trim() === ''}>
            Add
          </button>
        </div>
      </form>
    </Dialog>
  )
}
