// The keys 1 to 9 as answers.

import { onCleanup } from 'solid-js'

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
