// A modal dialog: the browser's own element keeps the focus inside, gives it back, and closes on Escape.
// Keys of the page below are not meant while one is open.

import { type JSX, onMount, Show } from 'solid-js'

/** Whether a dialog lies above the page: then Escape is its own. */
export const dialogOpen = () => document.querySelector('dialog[open]') !== null

export function Dialog(props: { label: string; class?: string; onClose(): void; children: JSX.Element }) {
  let dialog: HTMLDialogElement | undefined
  onMount(() => dialog?.showModal())
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
