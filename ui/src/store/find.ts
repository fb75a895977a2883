// Words in a conversation: every row that has them, and how often. Pure.

import type { Upsert } from '../protocol'
import type { SessionLog } from './log'
import type { Row } from './rows'

/** An occurrence: the row that it is in. */
export interface Hit {
  key: string
  /** Which occurrence of the row it is. */
  nth: number
}

export function hitsIn(log: SessionLog, rows: Row[], words: string): Hit[] {
  const wanted = words.toLowerCase()
  if (wanted === '') return []
  return rows.flatMap(row => {
    if (row.kind !== 'item') return []
    const count = textsOf(log, row.itemId).reduce((sum, text) => sum + occurrences(text, wanted), 0)
    return Array.from({ length: count }, (_, nth) => ({ key: row.key, nth }))
  })
}

/** What an item and everything nested in it says. */
function textsOf(log: SessionLog, itemId: string): string[] {
  const item = log.items.get(itemId)
  if (!item) return []
  if (item.type !== 'tool_call') return [item.content]
  const nested = (log.children.get(item.callId) ?? []).flatMap(child => textsOf(log, child))
  return [item.toolName, ...argumentsOf(item), item.toolOutput ?? '', ...nested]
}

function argumentsOf(call: Extract<Upsert, { type: 'tool_call' }>): string[] {
  const texts: string[] = []
  const read = (value: unknown) => {
    if (typeof value === 'string') texts.push(value)
    else if (typeof value === 'object' && value !== null)
      for (const inner of Object.values(value)) read(inner)
  }
  read(call.toolArguments)
  return texts
}

function occurrences(text: string, wanted: string): number {
  const lower = text.toLowerCase()
  let count = 0
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, at + wanted.length)) count++
  return count
}
