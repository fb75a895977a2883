import { createRoot, createSignal } from 'solid-js'
import { expect, test } from 'vitest'
import { paced, STEP_CHARS } from '../src/views/paced'

/** A text whose length is shown after each frame. */
function stage(first: string) {
  const frames: (() => void)[] = []
  return createRoot(dispose => {
    const [text, setText] = createSignal(first)
    const shown = paced(text, call => {
      frames.push(call)
      return () => frames.splice(frames.indexOf(call), frames.includes(call) ? 1 : 0)
    })
    return { shown, setText, dispose, frames, frame: () => frames.shift()?.() }
  })
}

test('what is there at first is shown whole', () => {
  expect(stage('x'.repeat(50_000)).shown().length).toBe(50_000)
})

test('a burst is shown in steps, one a frame, until nothing is left', () => {
  const { shown, setText, frame, frames } = stage('begin ')
  const text = `begin ${'x'.repeat(2 * STEP_CHARS + 5)}`
  setText(text)
  const lengths = [shown().length]
  while (frames.length > 0) {
    frame()
    lengths.push(shown().length)
  }
  expect(lengths).toEqual([6 + STEP_CHARS, 6 + 2 * STEP_CHARS, text.length])
  setText(`${text} and a few words`)
  expect(shown()).toBe(`${text} and a few words`)
})

test('more that comes in the middle of a burst waits for the next frame', () => {
  const { shown, setText, frame, frames } = stage('')
  setText('x'.repeat(2 * STEP_CHARS))
  setText('x'.repeat(3 * STEP_CHARS))
  setText('x'.repeat(3 * STEP_CHARS + 1))
  expect([shown().length, frames.length]).toEqual([STEP_CHARS, 1])
  frame()
  expect([shown().length, frames.length]).toEqual([2 * STEP_CHARS, 1])
})

test('a text that replaces one that is still shown in steps is shown whole', () => {
  const { shown, setText, frames } = stage('')
  setText('x'.repeat(3 * STEP_CHARS))
  setText('another text')
  expect([shown(), frames.length]).toEqual(['another text', 0])
})

test('a text that replaces another is shown whole', () => {
  const { shown, setText } = stage('one')
  setText('y'.repeat(3 * STEP_CHARS))
  expect(shown()).toBe('y'.repeat(3 * STEP_CHARS))
})

test('what is gone asks for no more frames', () => {
  const { setText, dispose, frames } = stage('')
  setText('x'.repeat(5 * STEP_CHARS))
  expect(frames.length).toBe(1)
  dispose()
  expect(frames.length).toBe(0)
})
