// What differs within a line that replaces another: the words that came and went. Pure.

/** From a character up to another. */
export type Range = readonly [from: number, to: number]

/** Lines with more words are marked from the first that differs to the last. */
const MAX_WORDS = 160
const MAX_CHARS = 4_000

export function changedWords(before: string, after: string): { before: Range[]; after: Range[] } {
  const nothing = { before: [], after: [] }
  if (before === after || before.length + after.length > MAX_CHARS) return nothing
  const [old, now] = [words(before), words(after)]
  let head = 0
  while (head < old.length && head < now.length && old[head] === now[head]) head++
  let tail = 0
  while (
    tail < old.length - head &&
    tail < now.length - head &&
    old[old.length - 1 - tail] === now[now.length - 1 - tail]
  ) {
    tail++
  }
  const [oldMiddle, nowMiddle] = [old.slice(head, old.length - tail), now.slice(head, now.length - tail)]
  const kept =
    oldMiddle.length > MAX_WORDS || nowMiddle.length > MAX_WORDS ? [] : common(oldMiddle, nowMiddle)
  const marked = {
    before: ranges(old, head, oldMiddle.length, new Set(kept.map(([at]) => at))),
    after: ranges(now, head, nowMiddle.length, new Set(kept.map(([, at]) => at))),
  }
  // Lines that have nothing in common are better without marks than all marked.
  return isWhole(before, marked.before) && isWhole(after, marked.after) ? nothing : marked
}

const words = (line: string): string[] => line.match(/\w+|\s+|[^\w\s]/gu) ?? []

/** The longest common run of words, in order, as places in both. */
function common(old: string[], now: string[]): [number, number][] {
  const width = now.length + 1
  const longest = new Uint16Array((old.length + 1) * width)
  const of = (i: number, j: number) => longest[i * width + j] ?? 0
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      longest[i * width + j] = old[i] === now[j] ? of(i + 1, j + 1) + 1 : Math.max(of(i + 1, j), of(i, j + 1))
    }
  }
  const kept: [number, number][] = []
  for (let i = 0, j = 0; i < old.length && j < now.length; ) {
    if (old[i] === now[j]) kept.push([i++, j++])
    else if (of(i + 1, j) >= of(i, j + 1)) i++
    else j++
  }
  return kept
}

/** The characters of the words that were not kept, neighbours as one. */
function ranges(all: string[], head: number, length: number, kept: ReadonlySet<number>): Range[] {
  const found: [number, number][] = []
  let at = all.slice(0, head).join('').length
  for (let n = 0; n < length; n++) {
    const to = at + (all[head + n]?.length ?? 0)
    const last = found.at(-1)
    if (!kept.has(n)) {
      if (last?.[1] === at) last[1] = to
      else found.push([at, to])
    }
    at = to
  }
  return found
}

const isWhole = (line: string, marked: readonly Range[]): boolean => {
  let left = line
  for (const [from, to] of [...marked].reverse()) left = left.slice(0, from) + left.slice(to)
  return left.trim() === ''
}
