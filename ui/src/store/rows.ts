// The flat list that the conversation shows: items in order, and the end of each turn after its last item.

import type { SessionLog } from './log'

export type Row =
  | { key: string; kind: 'item'; itemId: string }
  | { key: string; kind: 'turn'; turnId: string }

/**
 * Builds the rows. Rows that were there before keep their identity, so the list renders only what is new.
 *
 * Items of a subagent are shown inside its card and are no rows, unless their call is unknown.
 */
export function rowsOf(log: SessionLog, before: Map<string, Row>): Row[] {
  const lastOfTurn = new Map<string, string>()
  for (const item of log.items.values()) {
    if (item.parentCallId === undefined || !log.calls.has(item.parentCallId)) {
      lastOfTurn.set(item.turnId, item.itemId)
    }
  }
  const rows: Row[] = []
  const seen = new Set<string>()
  const push = (row: Row) => {
    const known = before.get(row.key)
    if (known) rows.push(known)
    else {
      before.set(row.key, row)
      rows.push(row)
    }
    seen.add(row.key)
  }
  // A turn without any item ends where the next turn's items begin.
  const bare = [...log.turns.values()].filter(turn => turn.end && !lastOfTurn.has(turn.turnId))
  const order = new Map([...log.turns.keys()].map((turnId, index) => [turnId, index]))
  const pushBareBefore = (index: number) => {
    while (bare[0] && (order.get(bare[0].turnId) ?? 0) < index) {
      const turnId = bare[0].turnId
      push({ key: `turn ${turnId}`, kind: 'turn', turnId })
      bare.shift()
    }
  }
  for (const item of log.items.values()) {
    if (item.parentCallId !== undefined && log.calls.has(item.parentCallId)) continue
    if (bare.length > 0) pushBareBefore(order.get(item.turnId) ?? -1)
    push({ key: `item ${item.itemId}`, kind: 'item', itemId: item.itemId })
    if (lastOfTurn.get(item.turnId) === item.itemId && log.turns.get(item.turnId)?.end) {
      push({ key: `turn ${item.turnId}`, kind: 'turn', turnId: item.turnId })
    }
  }
  pushBareBefore(Number.POSITIVE_INFINITY)
  for (const key of before.keys()) if (!seen.has(key)) before.delete(key)
  return rows
}
