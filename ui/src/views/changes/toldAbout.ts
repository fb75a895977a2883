// What the agent was told about a file's lines, from the answers of its tools: the page runs no diagnostics of its own.

import type { Session } from '../../store/session'
import { shortPath } from '../../text/format'
import { toldLines } from '../../tools/told'

/** By line; a later answer about the file replaces all of an earlier one, and a later edit without one ends it. */
export function toldAbout(
  session: Pick<Session, 'rows' | 'log'>,
  path: string,
  root: string,
): ReadonlyMap<number, string> {
  session.rows()
  const marks = new Map<number, string>()
  const isHere = (other: string) => shortPath(other, root) === path
  for (const item of session.log.items.values()) {
    if (item.type !== 'tool_call') continue
    const { diffs, diagnostics } = item.detail ?? {}
    const here = toldLines(diagnostics?.text ?? '').filter(line => line.place && isHere(line.place.path))
    // After another edit the lines may be others.
    if (here.length > 0 || diffs?.some(diff => isHere(diff.path))) marks.clear()
    for (const { text, place } of here) if (place) marks.set(place.line, text)
  }
  return marks
}
