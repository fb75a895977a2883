// Text as it really is: control and direction characters made visible, so that nothing can pretend.

// C0 but tab and newline, DEL, C1, soft hyphen, zero-width, bidi marks and overrides, line separators, spaces that are
// no space to a shell, fillers, BOM, tags.
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose
  /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufeff\uffa0\ufff9-\uffff]|\u034f|[\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu

/** A run of plain text, or one hidden character by its name. */
export interface Run {
  text: string
  hidden: boolean
}

export function visibleRuns(text: string): Run[] {
  const runs: Run[] = []
  let at = 0
  for (const match of text.matchAll(HIDDEN)) {
    if (match.index > at) runs.push({ text: text.slice(at, match.index), hidden: false })
    runs.push({ text: name(match[0]), hidden: true })
    at = match.index + match[0].length
  }
  if (at < text.length) runs.push({ text: text.slice(at), hidden: false })
  return runs
}

export function visible(text: string): string {
  return text.replace(HIDDEN, name)
}

function name(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code === 0x1b) return '\\e'
  if (code === 0x0d) return '\\r'
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`
}

/** A value as JSON, with every hidden character in JSON's own escapes: what it says is what it is. */
export function exactJson(value: unknown): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return (JSON.stringify(value, null, 2) ?? '').replace(HIDDEN, character =>
    character.split('').map(escaped).join(''),
  )
}
