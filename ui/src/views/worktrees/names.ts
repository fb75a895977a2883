// Words about worktrees that more than one view has.

import type { CommandRun, RemoveWorktreeResponse } from '../../protocol'
import { visible } from '../../text/escape'
import { duration, plural } from '../../text/format'

/** So many names are told; the rest is counted. */
const MAX_NAMES = 8

/** A branch for work that has no name yet: by the day and the time. */
export function proposedBranch(now: Date): string {
  const two = (n: number) => String(n).padStart(2, '0')
  const day = `${two(now.getMonth() + 1)}${two(now.getDate())}`
  return `work/${day}-${two(now.getHours())}${two(now.getMinutes())}${two(now.getSeconds())}`
}

/** What would be lost with a worktree, or is kept in records of it. */
export function lossOf({
  uncommitted,
  commits,
}: Pick<RemoveWorktreeResponse, 'uncommitted' | 'commits'>): string {
  const words = [
    uncommitted.length > 0 && `${plural(uncommitted.length, 'file')} not committed (${names(uncommitted)})`,
    commits.length > 0 && `${plural(commits.length, 'commit')} on no other branch`,
  ]
  return words.filter(Boolean).join(' and ')
}

export function names(paths: string[]): string {
  const shown = paths.slice(0, MAX_NAMES).map(visible).join(', ')
  return paths.length > MAX_NAMES ? `${shown} and ${plural(paths.length - MAX_NAMES, 'more file')}` : shown
}

/** How a command of the config went. */
export function runWords(run: CommandRun): string {
  const took = run.durationMs === undefined ? '' : ` in ${duration(run.durationMs)}`
  switch (run.state) {
    case 'running':
      return 'runs'
    case 'passed':
      return `passed${took}`
    case 'failed':
      return `failed${took}`
    case 'interrupted':
      return 'was interrupted'
  }
}
