// The keys 1 to 9 as answers.

import { type Accessor, createSignal, onCleanup } from 'solid-js'

function isEditing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, dialog') !== null
}

/** Calls back with the number of a key that answers; in a text it needs Alt. */
export function onAnswerKey(ready: () => boolean, choose: (n: number) => boolean): void {
  const onKey = (event: KeyboardEvent) => {
    const n = /^Digit[1-9]$/.test(event.code) ? Number(event.code.slice(5)) : 0
    if (n === 0 || !ready() || event.ctrlKey || event.metaKey || event.repeat) return
    if (isEditing(event.target) && !event.altKey) return
    if (choose(n)) event.preventDefault()
  }
  document.addEventListener('keydown', onKey)
  onCleanup(() => document.removeEventListener('keydown', onKey))
}

/** What a key is called where the focus is now: in a text the plain number would be typed. */
export function answerKeyName(): Accessor<(n: number) => string> {
  const [editing, setEditing] = createSignal(isEditing(document.activeElement))
  // A press takes the focus before it is a click: a button that changed its width meanwhile would move from below it.
  let pressed = false
  const look = () => {
    if (!pressed) setEditing(isEditing(document.activeElement))
  }
  const press = () => {
    pressed = true
  }
  const release = () =>
    setTimeout(() => {
      pressed = false
      look()
    })
  // The element that loses the focus is still the active one when it is told.
  const lookSoon = () => queueMicrotask(look)
  document.addEventListener('pointerdown', press, true)
  document.addEventListener('pointerup', release)
  document.addEventListener('pointercancel', release)
  document.addEventListener('focusin', look)
  document.addEventListener('focusout', lookSoon)
  onCleanup(() => {
    document.removeEventListener('pointerdown', press, true)
    document.removeEventListener('pointerup', release)
    document.removeEventListener('pointercancel', release)
    document.removeEventListener('focusin', look)
    document.removeEventListener('focusout', lookSoon)
  })
  return () => n => (editing() ? `Alt ${n}` : `${n}`)
}
