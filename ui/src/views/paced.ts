// Text that arrives in a burst, shown in steps: however much comes at once, a frame has a bounded amount to draw.

import { type Accessor, createComputed, createSignal, on, onCleanup } from 'solid-js'

/** About what a quick model writes in several seconds; less than this at a time is shown as it comes. */
export const STEP_CHARS = 1000

/** Calls back before the next frame; the answer cancels it. */
export type NextFrame = (call: () => void) => () => void

const nextFrame: NextFrame = call => {
  const id = requestAnimationFrame(call)
  return () => cancelAnimationFrame(id)
}

/** The text as far as it may be shown now. What is there at first, and what replaces it, is shown whole. */
export function paced(text: Accessor<string>, next: NextFrame = nextFrame): Accessor<string> {
  const [shown, setShown] = createSignal(text())
  let cancel: (() => void) | undefined
  const step = () => {
    cancel = undefined
    const whole = text()
    const from = shown().length
    const burst = whole.length - from > STEP_CHARS && whole.startsWith(shown()) && !document.hidden
    setShown(burst ? whole.slice(0, from + STEP_CHARS) : whole)
    if (burst) cancel = next(step)
  }
  const changed = (whole: string) => {
    // The next frame goes on from here: a step now and one then would be two in one frame.
    if (cancel && whole.startsWith(shown())) return
    cancel?.()
    step()
  }
  createComputed(on(text, changed, { defer: true }))
  onCleanup(() => cancel?.())
  return shown
}
