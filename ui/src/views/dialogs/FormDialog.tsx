// Asks for one line of text; what is wrong with it is told below it, and nothing that was typed is lost.

import { createEffect, createSignal, For, on, onCleanup, Show } from 'solid-js'
import { Dialog, Failure } from '../Dialog'

/** How long the typing rests before it is asked what could be meant. */
const COMPLETE_AFTER_MS = 80

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
  /** What could be meant, for as much as was typed. */
  complete?(value: string): Promise<string[]>
  /** Does it; an error is shown and the dialog stays. */
  onSubmit(value: string): Promise<unknown>
  onClose(): void
}) {
  const [value, setValue] = createSignal(props.value ?? '')
  const [failure, setFailure] = createSignal('')
  const [busy, setBusy] = createSignal(false)
  const [offered, setOffered] = createSignal<string[]>([])
  createEffect(
    on(value, typed => {
      let current = true
      const asked = setTimeout(() => {
        props.complete?.(typed).then(
          offered => current && setOffered(offered),
          () => current && setOffered([]),
        )
      }, COMPLETE_AFTER_MS)
      onCleanup(() => {
        current = false
        clearTimeout(asked)
      })
    }),
  )
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
            onKeyDown={event => {
              const [first] = offered()
              // Tab takes the first, as in a shell; without one it goes on.
              if (event.key !== 'Tab' || event.shiftKey || !first || first === value()) return
              event.preventDefault()
              setValue(first)
            }}
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
        <Show when={offered().length > 0}>
          <ul class="offered" aria-label="Folders">
            <For each={offered()}>
              {folder => (
                <li>
                  <button type="button" class="offer" tabIndex={-1} onClick={() => setValue(folder)}>
                    <span class="mono ellipsis">{folder}</span>
                  </button>
                </li>
              )}
            </For>
          </ul>
        </Show>
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
