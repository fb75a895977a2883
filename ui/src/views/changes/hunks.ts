// Hunks as patches that git takes, and which of them are staged. Pure.

import type { Hunk, Patch, PatchLine } from './patch'

export type Staged = 'none' | 'part' | 'all'

/** Some hunks of a file that is there before and after, as a patch. */
export function patchOf(path: string, hunks: readonly Hunk[]): string {
  const body = hunks.map(hunk => (hunk.text.endsWith('\n') ? hunk.text : `${hunk.text}\n`))
  return `--- ${name(`a/${path}`)}\n+++ ${name(`b/${path}`)}\n${body.join('')}`
}

/** As git writes a name: what would end it early is in quotes. */
function name(path: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what names must be quoted for
  if (!/["\\\x00-\x1f]/.test(path)) return path.includes(' ') ? `${path}\t` : path
  const quoted = path.replace(/["\\]/g, '\\$&').replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: as above
    /[\x00-\x1f]/g,
    control => `\\${control.charCodeAt(0).toString(8).padStart(3, '0')}`,
  )
  return `"${quoted}"`
}

/** How much of each hunk is staged. Both patches begin with the last commit. */
export function stagedHunks(patch: Patch, staged: Patch): Staged[] {
  const runs = new Set(staged.changes.map(at => runAt(staged.lines, at)))
  return patch.hunks.map(({ from }, at) => {
    const to = patch.hunks[at + 1]?.from ?? patch.lines.length
    const own = patch.changes.filter(change => change >= from && change < to)
    const n = own.filter(change => runs.has(runAt(patch.lines, change))).length
    return n === 0 ? 'none' : n === own.length ? 'all' : 'part'
  })
}

/** What a run of changed lines does, and where in the old file. */
function runAt(lines: readonly PatchLine[], at: number): string {
  // A line that came stands after the last old one before it.
  let last = at - 1
  while (last >= 0 && lines[last]?.old === undefined) last--
  const start = lines[at]?.old ?? (lines[last]?.old ?? 0) + 1
  const run: string[] = [String(start)]
  for (let n = at; lines[n] !== undefined && lines[n]?.kind !== 'context'; n++) {
    run.push(`${lines[n]?.kind} ${lines[n]?.text} ${lines[n]?.unended ?? false}`)
  }
  return run.join('\n')
}
