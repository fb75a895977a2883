// A file's hunks, as git writes them, as rows: numbered lines, gaps between them, and which line replaces which. Pure.

export interface PatchLine {
  kind: 'context' | 'added' | 'removed'
  /** Its number before and after; a line that came has none before. */
  old: number | undefined
  now: number | undefined
  text: string
  /** Where the line stands that it replaces or that replaces it, among all lines. */
  pair?: number
  /** The file ends here without a newline. */
  unended?: boolean
}

export interface Patch {
  lines: PatchLine[]
  /** Before which lines something is left out; of the first hunk only if it does not begin the file. */
  gaps: ReadonlyMap<number, Gap>
  /** Where each run of changed lines begins. */
  changes: number[]
  hunks: Hunk[]
}

/** A part of the patch as git wrote it. */
export interface Hunk {
  /** Its first line among all lines. */
  from: number
  /** From its head to its end. */
  text: string
}

export interface Gap {
  /** How many lines are left out, where that can be told. */
  hidden: number
  /** What git says that the hunk is in, such as a function's head. */
  inside: string
}

/** One row of two columns. */
export interface Side {
  left: number | undefined
  right: number | undefined
}

const HEAD = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/

export function parsePatch(text: string): Patch {
  const lines: PatchLine[] = []
  const gaps = new Map<number, Gap>()
  const hunks: Hunk[] = []
  let begun = -1
  const endHunk = (at: number) => {
    const last = hunks.at(-1)
    if (last && begun >= 0) last.text = text.slice(begun, at)
  }
  let [old, now, end] = [1, 1, 1]
  for (let from = 0; from < text.length; ) {
    const newline = text.indexOf('\n', from)
    const to = newline < 0 ? text.length : newline
    const sign = text[from]
    if (sign === '@') {
      const head = HEAD.exec(text.slice(from, to))
      if (head) {
        endHunk(from)
        begun = from
        hunks.push({ from: lines.length, text: '' })
        // Of a side without lines git names the line before.
        old = Number(head[1]) + (head[2] === '0' ? 1 : 0)
        now = Number(head[3]) + (head[4] === '0' ? 1 : 0)
        const hidden = now - end
        if (hidden > 0 || lines.length > 0) gaps.set(lines.length, { hidden, inside: head[5] ?? '' })
      }
    } else if (sign === '\\') {
      const last = lines.at(-1)
      if (last) last.unended = true
    } else {
      const kind = sign === '+' ? 'added' : sign === '-' ? 'removed' : 'context'
      const line: PatchLine = {
        kind,
        old: kind === 'added' ? undefined : old++,
        now: kind === 'removed' ? undefined : now++,
        text: text.slice(from + 1, to),
      }
      if (line.text.endsWith('\r')) line.text = line.text.slice(0, -1)
      lines.push(line)
      end = now
    }
    from = to + 1
  }
  endHunk(text.length)
  return { lines, gaps, changes: pair(lines), hunks }
}

/** Pairs the lines of each run of removed ones with those that follow it. Returns where runs of changes begin. */
function pair(lines: PatchLine[]): number[] {
  const changes: number[] = []
  for (let at = 0; at < lines.length; ) {
    if (lines[at]?.kind === 'context') {
      at++
      continue
    }
    changes.push(at)
    let removed = at
    while (lines[removed]?.kind === 'removed') removed++
    let added = removed
    while (lines[added]?.kind === 'added') added++
    const both = Math.min(removed - at, added - removed)
    for (let n = 0; n < both; n++) {
      const [before, after] = [lines[at + n], lines[removed + n]]
      if (before) before.pair = removed + n
      if (after) after.pair = at + n
    }
    at = added
  }
  return changes
}

/** The lines in two columns: what was on the left, what is on the right. */
export function sideBySide(lines: readonly PatchLine[]): Side[] {
  const rows: Side[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]
    if (line?.kind === 'context') rows.push({ left: at, right: at })
    else if (line?.kind === 'removed') rows.push({ left: at, right: line.pair })
    else if (line?.pair === undefined) rows.push({ left: undefined, right: at })
  }
  return rows
}

/** The text of some lines as they are now, or, where all of them went, as they were. */
export function textOf(lines: readonly PatchLine[]): string {
  const now = lines.filter(line => line.kind !== 'removed')
  return (now.length > 0 ? now : lines).map(line => line.text).join('\n')
}
