// Where typed words go: into the composer, from anywhere that is no field. What is typed while a session is being
// made waits for its composer.

/** Whether a dialog lies above the page: then the keys are its own. */
export const dialogOpen = () => document.querySelector('dialog[open]') !== null

/** Focused elements in which letters mean something themselves. */
const FIELDS = 'input, textarea, select, [contenteditable], [role=menu], [role=listbox], dialog, .desk'

let composer: HTMLTextAreaElement | undefined
let waiting: string | undefined

/** The composer that is shown takes what was typed before it was there. Returns what undoes it. */
export function setComposer(area: HTMLTextAreaElement, insert: (text: string) => void): () => void {
  composer = area
  if (waiting) insert(waiting)
  waiting = undefined
  return () => {
    if (composer === area) composer = undefined
  }
}

/** Gives the focus to the composer, unless that would open a phone's keyboard or something else has it. */
export function returnFocus(): void {
  requestAnimationFrame(() => {
    const nowhere = document.activeElement === null || document.activeElement === document.body
    if (nowhere && !dialogOpen() && matchMedia('(hover: hover)').matches) composer?.focus()
  })
}

/** From now on words wait for the composer of a session that is being made. Returns what ends the wait. */
export function awaitComposer(): () => void {
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
  waiting = ''
  return () => {
    waiting = undefined
    returnFocus()
  }
}

/** Brings what is typed outside of any field to the composer. The keys of the page have been looked at before. */
export function onTyping(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
  if (event.key.length !== 1 || dialogOpen()) return
  const target = event.target instanceof Element ? event.target : document.body
  if (target.closest(FIELDS)) return
  // A space presses a button and turns a page.
  if (event.key === ' ' && target !== document.body) return
  if (waiting !== undefined) {
    waiting += event.key
    event.preventDefault()
  } else composer?.focus()
}
