// Places in running text, such as `src/a.ts:2`: what a person would click on. Pure.

import { addressOf } from '../store/address'

export interface TextPart {
  text: string
  /** The address of the place that the text names. */
  href?: string
}

// A file with an extension and a line, not in the middle of an address or of a longer word.
const SOURCE = String.raw`(?<![\w/.@:~-])((?:\.{0,2}/)?(?:[\w@.+-]+/)*[\w@+-][\w@.+-]*\.[A-Za-z][A-Za-z0-9]{0,7}):(\d{1,7})(?::\d+)?(?!\w)`
const PLACE = new RegExp(SOURCE, 'g')
export const FIRST_PLACE = new RegExp(`^${SOURCE}`)
/** What ends the name of a machine, before its port. */
const DOMAIN = /\.(com|org|net|io|dev|local|localhost)$/i

export function addressOfPlace(path: string, line: string): string | undefined {
  if (DOMAIN.test(path)) return undefined
  return addressOf({ kind: 'file', path: path.replace(/^\.\//, ''), line: Number(line) })
}

/** The text in parts, those that name a place with its address. */
export function partsOf(text: string): TextPart[] {
  const parts: TextPart[] = []
  let at = 0
  for (const match of text.matchAll(PLACE)) {
    const href = addressOfPlace(match[1] ?? '', match[2] ?? '1')
    if (href === undefined) continue
    if (match.index > at) parts.push({ text: text.slice(at, match.index) })
    parts.push({ text: match[0], href })
    at = match.index + match[0].length
  }
  if (at < text.length) parts.push({ text: text.slice(at) })
  return parts
}

/** Where the next place may begin, for a reader that goes on from there; -1 without one. */
export function nextPlace(text: string): number {
  return text.search(new RegExp(SOURCE))
}
