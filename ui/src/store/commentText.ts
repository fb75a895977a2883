// Comments as one message to the agent, and where a comment's lines stand now. Pure.

import type { Comment } from '../protocol'
import type { Patch } from '../views/changes/patch'

export function placeOf(comment: Comment): string {
  const { path, firstLine, lastLine, side } = comment
  const lines = firstLine === lastLine ? `${firstLine}` : `${firstLine}-${lastLine}`
  return `${path}:${lines}${side === 'before' ? ' (before the change)' : ''}`
}

export function messageOf(comments: readonly Comment[]): string {
  const one = (comment: Comment) => {
    const quote = comment.quote.split('\n').map(line => `> ${line}`.trimEnd())
    return [placeOf(comment), ...quote, '', comment.text.trim()].join('\n')
  }
  const head =
    comments.length === 1 ? 'A comment on your changes:' : `${comments.length} comments on your changes:`
  return [head, ...comments.map(one)].join('\n\n')
}

export interface Anchor {
  /** The place in the patch of the last of its lines. */
  at: number
  /** The lines are no longer what they were. */
  changed: boolean
}

/** Where a comment stands in a patch, if its lines are shown there. */
export function anchorOf(patch: Patch, comment: Comment): Anchor | undefined {
  const isOld = comment.side === 'before'
  const places: number[] = []
  patch.lines.forEach((line, at) => {
    if (line.kind !== (isOld ? 'added' : 'removed')) places.push(at)
  })
  const number = (at: number) => (isOld ? patch.lines[at]?.old : patch.lines[at]?.now)
  const quote = comment.quote.split('\n')
  const matches = (from: number) =>
    quote.every((text, n) => {
      const at = places[from + n]
      return at !== undefined && patch.lines[at]?.text === text
    })
  const end = (from: number) => places[from + quote.length - 1] ?? 0
  const first = places.findIndex(at => number(at) === comment.firstLine)
  if (first >= 0 && matches(first)) return { at: end(first), changed: false }
  // Lines above it came or went: it is the nearest place where the same lines stand.
  let nearest: number | undefined
  places.forEach((at, from) => {
    const away = (place: number) => Math.abs((number(place) ?? 0) - comment.firstLine)
    if (matches(from) && (nearest === undefined || away(at) < away(places[nearest] ?? 0))) nearest = from
  })
  if (nearest !== undefined) return { at: end(nearest), changed: false }
  const last = places.findLast(at => (number(at) ?? 0) <= comment.lastLine)
  return last === undefined ? undefined : { at: last, changed: true }
}
