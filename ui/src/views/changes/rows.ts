// The rows of a diff in the order in which they are shown: lines or pairs of lines, gaps, and what stands below a line. Pure.

import { type Gap, type Patch, sideBySide } from './patch'

export type DiffRow =
  /** `hunk` is which one begins here, if something can be done with it. */
  | { kind: 'gap'; gap: Gap; hunk: number | undefined }
  | { kind: 'line'; at: number }
  | { kind: 'side'; left: number | undefined; right: number | undefined }
  /** Something that stands below a line: a comment, or the field for one. */
  | { kind: 'card'; id: string }

/** `cards` are ids by the line that they stand below. */
export function rowsOf(
  patch: Patch,
  isSplit: boolean,
  cards: ReadonlyMap<number, readonly string[]>,
  /** Whether each hunk has a row of its own. */
  hasHunks = false,
): { rows: DiffRow[]; rowOf: (line: number) => number } {
  const rows: DiffRow[] = []
  const places = new Int32Array(patch.lines.length)
  let nextHunk = 0
  const gapBefore = (at: number | undefined) => {
    if (at === undefined) return
    const hunk = patch.hunks[nextHunk]?.from === at ? nextHunk++ : undefined
    const gap = patch.gaps.get(at)
    if (gap) rows.push({ kind: 'gap', gap, hunk: hasHunks ? hunk : undefined })
    else if (hasHunks && hunk !== undefined) rows.push({ kind: 'gap', gap: { hidden: 0, inside: '' }, hunk })
  }
  const cardsBelow = (at: number | undefined) => {
    const ids = at === undefined ? undefined : cards.get(at)
    for (const id of ids ?? []) rows.push({ kind: 'card', id })
  }
  if (isSplit) {
    for (const { left, right } of sideBySide(patch.lines)) {
      gapBefore(left ?? right)
      for (const at of [left, right]) if (at !== undefined) places[at] = rows.length
      rows.push({ kind: 'side', left, right })
      cardsBelow(left)
      if (right !== left) cardsBelow(right)
    }
  } else {
    for (let at = 0; at < patch.lines.length; at++) {
      gapBefore(at)
      places[at] = rows.length
      rows.push({ kind: 'line', at })
      cardsBelow(at)
    }
  }
  return { rows, rowOf: line => places[line] ?? 0 }
}
