// Asks for one line of text; what is wrong with it is told below it, and nothing that was typed is lost.

import { createSignal, Show } from 'solid-js'
import { Dialog, Failure } from '../Dialog'

export function FormDialog(props: {
  title: string
  field: string
  /** What the button says. */
  action: string
  value?: string
  placeholder?: string
  maxLength?: number
  mono?: boolean
  /** What a person should think about before; it keeps nobody from it. */
  warn?(value: string): string
  /** Does it; an error is shown and the dialog stays. */
  onSubmit(value: string): Promise<unknown>
  onClose(): void
}) {
  const [value, setValue] = createSignal(props.value ?? '')
  const [failure, setFailure] = createSignal('')
  const [busy, setBusy] = createSignal(false)
  const submit = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    try {
      await props.onSubmit(value().trim())
      props.onClose()
    } catch (error) {
      setFailure((error as Error).message)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog label={props.title} onClose={props.onClose}>
      <h2>{props.title}</h2>
      <form onSubmit={event => void submit(event)}>
        <label class="field">
          {props.field}
          <input
            ref={input => queueMicrotask(() => input.select())}
            type="text"
            class="input"
            classList={{ mono: props.mono === true }}
            placeholder={props.placeholder}
            maxLength={props.maxLength}
            autocomplete="off"
            spellcheck={props.mono !== true}
            autofocus
            required
            value={value()}
            onInput={event => {
              setValue(event.currentTarget.value)
              setFailure('')
            }}
          />
        </label>
        <Show when={props.warn?.(value())}>
          {warning => <p class="form-warning small-text">{warning()}</p>}
        </Show>
        <Failure text={failure()} />
        <div class="dialog-foot">
          <button type="button" class="button" onClick={props.onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={busy() || value().trim() === ''}>
            {props.action}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
