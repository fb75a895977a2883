// A modal dialog: the browser's own element keeps the focus inside, gives it back, and closes on Escape.
// Keys of the page below are not meant while one is open.

import { type JSX, onCleanup, onMount, Show } from 'solid-js'
import { returnFocus } from '../typing'

export function Dialog(props: { label: string; class?: string; onClose(): void; children: JSX.Element }) {
  let dialog: HTMLDialogElement | undefined
  onMount(() => dialog?.showModal())
  onCleanup(() => {
    // Chromium gives the focus back to a field, and sometimes the field then takes no letters until it is focused anew.
    const field = document.activeElement
    if (field instanceof HTMLTextAreaElement) {
      field.blur()
      field.focus()
    }
    returnFocus()
  })
  return (
    <dialog
      ref={dialog}
      class={`dialog ${props.class ?? ''}`}
      aria-label={props.label}
      onClose={() => props.onClose()}
      onPointerDown={event => {
        if (event.target === dialog) dialog?.close()
      }}
    >
      <div class="dialog-body">{props.children}</div>
    </dialog>
  )
}

/** Why what was asked for in a dialog did not happen. */
export function Failure(props: { text: string }) {
  return (
    <Show when={props.text}>
      <p class="failure" role="alert">
        {props.text}
      </p>
    </Show>
  )
}
