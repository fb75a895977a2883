// What a terminal is sent for a key, as xterm does it.

/** The part of a keyboard event that decides. */
export interface Key {
  key: string
  ctrlKey: boolean
  altKey: boolean
  shiftKey: boolean
  metaKey: boolean
}

/** Keys that are a letter behind `ESC [` or, where the program has asked for it, `ESC O`. */
const LETTERS: Record<string, string> = {
  ArrowUp: 'A',
  ArrowDown: 'B',
  ArrowRight: 'C',
  ArrowLeft: 'D',
  Home: 'H',
  End: 'F',
}
/** Keys that are a letter behind `ESC O`. */
const FUNCTIONS: Record<string, string> = { F1: 'P', F2: 'Q', F3: 'R', F4: 'S' }
/** Keys that are a number between `ESC [` and `~`. */
const NUMBERS: Record<string, number> = {
  Insert: 2,
  Delete: 3,
  PageUp: 5,
  PageDown: 6,
  F5: 15,
  F6: 17,
  F7: 18,
  F8: 19,
  F9: 20,
  F10: 21,
  F11: 23,
  F12: 24,
}

/** What is typed by a key; `undefined` for a key that is the page's or the browser's. */
export function typedBy(key: Key, applicationCursor: boolean): string | undefined {
  // With Ctrl and Shift the page is meant, with Meta the system.
  if (key.metaKey || (key.ctrlKey && key.shiftKey)) return undefined
  const modifiers = 1 + (key.shiftKey ? 1 : 0) + (key.altKey ? 2 : 0) + (key.ctrlKey ? 4 : 0)
  const letter = LETTERS[key.key]
  if (letter !== undefined) {
    if (modifiers > 1) return `\x1b[1;${modifiers}${letter}`
    return `\x1b${applicationCursor ? 'O' : '['}${letter}`
  }
  const named = FUNCTIONS[key.key]
  if (named !== undefined) return modifiers > 1 ? `\x1b[1;${modifiers}${named}` : `\x1bO${named}`
  const number = NUMBERS[key.key]
  if (number !== undefined) return modifiers > 1 ? `\x1b[${number};${modifiers}~` : `\x1b[${number}~`
  const alt = key.altKey ? '\x1b' : ''
  switch (key.key) {
    case 'Enter':
      return `${alt}\r`
    case 'Escape':
      return `${alt}\x1b`
    case 'Tab':
      return key.shiftKey ? '\x1b[Z' : key.ctrlKey || key.altKey ? undefined : '\t'
    case 'Backspace':
      return `${alt}${key.ctrlKey ? '\b' : '\x7f'}`
  }
  // The rest of what is written comes as text, by the field: so do a phone's words and an input method's.
  if ([...key.key].length !== 1) return undefined
  if (key.ctrlKey) {
    const control = controlOf(key.key)
    return control === undefined ? undefined : `${alt}${control}`
  }
  return key.altKey ? `\x1b${key.key}` : undefined
}

/** The control character of Ctrl with a key, if there is one. */
export function controlOf(key: string): string | undefined {
  if (key === ' ') return '\0'
  const code = key.toUpperCase().charCodeAt(0)
  return code >= 0x40 && code <= 0x5f ? String.fromCharCode(code & 0x1f) : undefined
}

/** Pasted text as a shell takes it: one kind of line end, and marked, so that nothing in it runs by itself. */
export function pasted(text: string, bracketed: boolean): string {
  const lines = text.replace(/\r?\n/g, '\r')
  // An end mark within the text would end the paste there, and what follows would be typed.
  return bracketed ? `\x1b[200~${lines.replaceAll('\x1b', '')}\x1b[201~` : lines
}
