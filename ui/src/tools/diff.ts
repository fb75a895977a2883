// A change's hunks, as the server made them or, when it made none, from the call's own arguments.

import type { DiffHunk, DiffLine, FileDiff } from '../protocol'
import { type ToolCall, text } from './describe'

const MAX_FALLBACK_LINES = 400

/** The changes to show for a call. */
export function diffsOf(call: Pick<ToolCall, 'toolArguments' | 'detail'>): FileDiff[] {
  if (call.detail?.diffs?.length) return call.detail.diffs
  const args = call.toolArguments
  const path = text(args, 'file_path', 'path')
  if (path === '') return []
  if (typeof args.old_string === 'string' && typeof args.new_string === 'string') {
    return [shortened(between(path, args.old_string, args.new_string))]
  }
  return typeof args.content === 'string' ? [shortened(between(path, '', args.content))] : []
}

function shortened(diff: FileDiff): FileDiff {
  const [hunk] = diff.hunks
  if (!hunk || hunk.lines.length <= MAX_FALLBACK_LINES) return diff
  return { ...diff, hunks: [{ ...hunk, lines: hunk.lines.slice(0, MAX_FALLBACK_LINES) }], truncated: true }
}

/** Lock files and built files: nobody reads their changes, so they start folded. */
export function isGenerated(path: string): boolean {
  return /(^|\/)([^/]*[-.]lock(\.json|\.yaml)?|.*\.lock|go\.sum|npm-shrinkwrap\.json|.*\.min\.(js|css)|.*\.map)$/.test(
    path,
  )
}

/** The change from one text to another as one hunk: the lines they share at both ends are context, so many of them. */
export function between(path: string, before: string, after: string, nContext = 3): FileDiff {
  const old = splitLines(before)
  const now = splitLines(after)
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
  const removed = old.slice(head, old.length - tail)
  const added = now.slice(head, now.length - tail)
  const contextBefore = now.slice(Math.max(0, head - nContext), head)
  const contextAfter = now.slice(now.length - tail, now.length - tail + nContext)
  const lines: DiffLine[] = [
    ...contextBefore.map(line('context')),
    ...removed.map(line('removed')),
    ...added.map(line('added')),
    ...contextAfter.map(line('context')),
  ]
  const start = head - contextBefore.length + 1
  const hunk: DiffHunk = { oldStart: start, newStart: start, lines }
  return {
    path,
    added: added.length,
    removed: removed.length,
    hunks: lines.length > 0 ? [hunk] : [],
  }
}

const line =
  (kind: DiffLine['kind']) =>
  (content: string): DiffLine => ({ kind, spans: [{ text: content }] })

function splitLines(content: string): string[] {
  if (content === '') return []
  return (content.endsWith('\n') ? content.slice(0, -1) : content).split('\n')
}

export interface NumberedLine extends DiffLine {
  old: number | undefined
  now: number | undefined
}

/** The hunk's lines with the numbers they have before and after. */
export function numbered(hunk: DiffHunk): NumberedLine[] {
  let old = hunk.oldStart
  let now = hunk.newStart
  return hunk.lines.map(line => ({
    ...line,
    old: line.kind === 'added' ? undefined : old++,
    now: line.kind === 'removed' ? undefined : now++,
  }))
}
