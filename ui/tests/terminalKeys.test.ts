import { describe, expect, test } from 'vitest'
import { controlOf, pasted, typedBy } from '../src/text/terminalKeys'

const key = (name: string, held: Partial<Record<'ctrl' | 'alt' | 'shift' | 'meta', boolean>> = {}) => ({
  key: name,
  ctrlKey: held.ctrl ?? false,
  altKey: held.alt ?? false,
  shiftKey: held.shift ?? false,
  metaKey: held.meta ?? false,
})

describe('keys of a terminal', () => {
  test.each([
    [key('Enter'), '\r'],
    [key('Backspace'), '\x7f'],
    [key('Backspace', { alt: true }), '\x1b\x7f'],
    [key('Tab'), '\t'],
    [key('Tab', { shift: true }), '\x1b[Z'],
    [key('Escape'), '\x1b'],
    [key('ArrowUp'), '\x1b[A'],
    [key('ArrowLeft', { ctrl: true }), '\x1b[1;5D'],
    [key('End', { shift: true }), '\x1b[1;2F'],
    [key('F1'), '\x1bOP'],
    [key('F5', { shift: true }), '\x1b[15;2~'],
    [key('Delete'), '\x1b[3~'],
    [key('c', { ctrl: true }), '\x03'],
    [key('[', { ctrl: true }), '\x1b'],
    [key(' ', { ctrl: true }), '\0'],
    [key('b', { alt: true }), '\x1bb'],
  ])('%o is sent', (pressed, typed) => {
    expect(typedBy(pressed, false)).toBe(typed)
  })

  test('arrows have another form where the program asked for it', () => {
    expect(typedBy(key('ArrowUp'), true)).toBe('\x1bOA')
    expect(typedBy(key('ArrowUp', { ctrl: true }), true)).toBe('\x1b[1;5A')
  })

  test('letters are left to the field, and what is for the page or the system is let through', () => {
    for (const other of [
      key('a'),
      key('ü'),
      key('Shift', { shift: true }),
      key('d', { ctrl: true, shift: true }),
      key('c', { meta: true }),
      key('1', { ctrl: true }),
      key('Dead'),
    ])
      expect(typedBy(other, false)).toBeUndefined()
  })

  test('control characters', () => {
    expect([controlOf('a'), controlOf('Z'), controlOf('_'), controlOf('1')]).toEqual([
      '\x01',
      '\x1a',
      '\x1f',
      undefined,
    ])
  })

  test('pasted text cannot end its own marks', () => {
    expect(pasted('a\r\nb\nc', false)).toBe('a\rb\rc')
    expect(pasted('x\x1b[201~rm -rf /\n', true)).toBe('\x1b[200~x[201~rm -rf /\r\x1b[201~')
  })
})
