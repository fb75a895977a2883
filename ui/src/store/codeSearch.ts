// What the palette finds in the code of a project: symbols and passages, through the server's index.

import type { SearchCodebaseResponse } from '../protocol'

export interface Hit {
  /** The symbol, or the file where a passage has none. */
  name: string
  /** Where it is, as `file:line`. */
  place: string
  /** Its first line that says something. */
  line: string
}

/** What a search came to: hits, or why there are none. */
export type Found = { kind: 'hits'; hits: Hit[] } | { kind: 'not-indexed' } | { kind: 'wait'; why: string }

export const NOTHING: Found = { kind: 'hits', hits: [] }

export function foundOf(answer: SearchCodebaseResponse): Found {
  switch (answer.status) {
    case 'ok':
      return { kind: 'hits', hits: answer.results.map(hitOf) }
    case 'not_indexed':
      return { kind: 'not-indexed' }
    case 'not_ready':
      return { kind: 'wait', why: 'The code is being indexed.' }
    default:
      return { kind: 'wait', why: answer.message ?? `The index is ${answer.status.replaceAll('_', ' ')}.` }
  }
}

function hitOf(result: SearchCodebaseResponse['results'][number]): Hit {
  const text = result.kind === 'group' ? result.preview : result.content
  return {
    name: result.symbolLabel ?? result.file,
    place: `${result.file}:${result.span.startLine}`,
    line: (text.split('\n').find(line => line.trim() !== '') ?? '').trim(),
  }
}
