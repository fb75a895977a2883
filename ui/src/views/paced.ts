// Text that arrives in a burst, shown in steps: however much comes at once, a frame has a bounded amount to draw.

import { type Accessor, createComputed, createSignal, on, onCleanup } from 'solid-js'

/** About what a quick model writes in several seconds; less than this at a time is shown as it comes. */
export const STEP_CHARS = 2000

/** Calls back before the next frame; the answer cancels it. */
export type NextFrame = (call: () => void) => () => void

const nextFrame: NextFrame = call => {
  const id = requestAnimationFrame(call)
  return () => cancelAnimationFrame(id)
}

/** The text as far as it may be shown now. What is there at first, and what replaces it, is shown whole. */
export function paced(text: Accessor<string>, next: NextFrame = nextFrame): Accessor<string> {
  const [shown, setShown] = createSignal(text())
  let cancel = () => {}
  const step = () => {
    cancel()
    const whole = text()
    const from = shown().length
    const burst = whole.length - from > STEP_CHARS && whole.startsWith(shown()) && !document.hidden
    setShown(burst ? whole.slice(0, from + STEP_CHARS) : whole)
    cancel = burst ? next(step) : () => {}
  }
  createComputed(on(text, step, { defer: true }))
  onCleanup(() => cancel())
  return shown
}
