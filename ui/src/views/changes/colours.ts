// Code colours of a long file, some lines at a time, as they come into sight.

import { highlight, languageOf } from '../../text/highlight'
import type { PatchLine } from './patch'
import type { Range } from './words'

/** A run of text in one colour. */
export interface Coloured {
  text: string
  /** The highlighter's class, if it has one. */
  class: string
  changed?: boolean
}

/** So many lines are coloured together: a string or a comment that is longer loses its colour at the seam. */
const BLOCK = 120

/** Splits highlighted HTML into lines of coloured runs. */
export function linesOf(html: string): Coloured[][] {
  const lines: Coloured[][] = [[]]
  const open: string[] = []
  for (const [part] of html.matchAll(/<span class="[^"]*">|<\/span>|[^<]+/g)) {
    if (part === '</span>') open.pop()
    else if (part.startsWith('<')) open.push(part.slice('<span class="'.length, -2))
    else {
      const texts = plain(part).split('\n')
      texts.forEach((text, index) => {
        if (index > 0) lines.push([])
        if (text !== '') lines.at(-1)?.push({ text, class: open.at(-1) ?? '' })
      })
    }
  }
  return lines
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" }
const plain = (html: string) =>
  html.replace(/&(amp|lt|gt|quot|#x27);/g, (_, name: string) => ENTITIES[name] ?? '')

/** Cuts runs where a marked range begins and ends. */
export function marked(runs: readonly Coloured[], ranges: readonly Range[]): Coloured[] {
  if (ranges.length === 0) return [...runs]
  const cut: Coloured[] = []
  let at = 0
  for (const run of runs) {
    const end = at + run.text.length
    let from = at
    for (const [start, stop] of ranges) {
      if (stop <= from || start >= end) continue
      if (start > from) cut.push({ ...run, text: run.text.slice(from - at, start - at) })
      const [low, high] = [Math.max(start, from), Math.min(stop, end)]
      cut.push({ ...run, text: run.text.slice(low - at, high - at), changed: true })
      from = high
    }
    if (from < end) cut.push({ ...run, text: run.text.slice(from - at) })
    at = end
  }
  return cut
}

/** Colours lines by the block; `of` answers at once with what it has, and `came` is called when there is more. */
export function createColours(lines: readonly PatchLine[], path: string, came: () => void) {
  const language = languageOf(path.slice(path.lastIndexOf('.') + 1))
  const blocks = new Map<string, (Coloured[] | undefined)[]>()
  const load = async (key: string, from: number, isOld: boolean) => {
    blocks.set(key, [])
    const skipped = isOld ? 'added' : 'removed'
    const block = lines.slice(from, from + BLOCK)
    const wanted = block.filter(line => line.kind !== skipped)
    const html = await highlight(wanted.map(line => line.text).join('\n'), language ?? '')
    if (html === undefined) return
    const coloured = linesOf(html)
    let next = 0
    blocks.set(
      key,
      block.map(line => (line.kind === skipped ? undefined : coloured[next++])),
    )
    came()
  }
  return {
    of: (index: number): Coloured[] => {
      const line = lines[index]
      if (!line) return []
      const uncoloured = [{ text: line.text, class: '' }]
      if (language === undefined) return uncoloured
      const isOld = line.kind === 'removed'
      const from = index - (index % BLOCK)
      const key = `${isOld} ${from}`
      const block = blocks.get(key)
      if (!block) void load(key, from, isOld).catch(() => {})
      const runs = block?.[index - from]
      // What the highlighter made of it is the line, or it is not shown.
      return runs && runs.reduce((sum, run) => sum + run.text.length, 0) === line.text.length
        ? runs
        : uncoloured
    },
  }
}
