// One session's conversation as the page holds it: the last upsert of each item, the turns, the last seq seen.
//
// Pure: frames in, changes out. An upsert replaces its item in place; history replaces everything; what was
// seen already is ignored, so a reconnect can neither lose nor double anything.

import type { ServerFrame, TurnEvent, Upsert, Usage } from '../protocol'

export type LogFrame = Extract<ServerFrame, { type: 'session:upsert' | 'session:turn' | 'session:history' }>

/** A part of a conversation, as the server tells it. */
export type HistoryPage = Pick<
  Extract<ServerFrame, { type: 'session:history' }>,
  'entries' | 'turns' | 'earlier' | 'earlierUsage'
>

/** What a frame changed: one item's content, the list itself, or nothing. */
export type Change = { kind: 'none' } | { kind: 'item'; itemId: string } | { kind: 'list' }

/** A turn from its start to its end; `end` is missing while it runs. */
export interface Turn {
  turnId: string
  modelId?: string
  end?: Exclude<TurnEvent, { type: 'turn_started' }>
}

const NONE: Change = { kind: 'none' }
const LIST: Change = { kind: 'list' }

export class SessionLog {
  /** The last upsert of each item, in the order the items appeared. */
  readonly items = new Map<string, Upsert>()
  readonly turns = new Map<string, Turn>()
  /** Items that a subagent made, by the call that started it. */
  readonly children = new Map<string, string[]>()
  /** The item of each tool call. */
  readonly calls = new Map<string, string>()
  /** Undefined until the first frame: then a subscription asks for everything. */
  seq: number | undefined
  /** Where older history begins that was not sent yet. */
  earlier: number | undefined
  /** What the turns of that history used. */
  earlierUsage: Usage | undefined

  apply(frame: LogFrame): Change {
    if (frame.type === 'session:history') {
      this.earlier = frame.earlier
      this.earlierUsage = frame.earlierUsage
      return this.replace(frame.entries, frame.turns, frame.seq)
    }
    if (this.seq !== undefined && frame.seq <= this.seq) return NONE
    this.seq = frame.seq
    return frame.type === 'session:upsert' ? this.upsert(frame.payload) : this.turn(frame.payload)
  }

  /** Puts older history in front. What is known already is newer, so it stays. */
  prepend({ entries, turns, earlier, earlierUsage }: HistoryPage): void {
    const items = [...this.items.values()]
    const known = [...this.turns.values()]
    const seq = this.seq
    this.replace(entries, turns, seq ?? 0)
    for (const item of items) this.upsert(item)
    for (const turn of known) this.turns.set(turn.turnId, { ...this.turns.get(turn.turnId), ...turn })
    this.seq = seq
    this.earlier = earlier
    this.earlierUsage = earlierUsage
  }

  private replace(entries: Upsert[], turns: TurnEvent[], seq: number): Change {
    this.items.clear()
    this.turns.clear()
    this.children.clear()
    this.calls.clear()
    for (const entry of entries) this.upsert(entry)
    for (const turn of turns) this.turn(turn)
    this.seq = seq
    return LIST
  }

  private upsert(upsert: Upsert): Change {
    const known = this.items.has(upsert.itemId)
    this.items.set(upsert.itemId, upsert)
    if (known) return { kind: 'item', itemId: upsert.itemId }
    if (upsert.type === 'tool_call') this.calls.set(upsert.callId, upsert.itemId)
    if (upsert.parentCallId !== undefined) {
      const siblings = this.children.get(upsert.parentCallId)
      if (siblings) siblings.push(upsert.itemId)
      else this.children.set(upsert.parentCallId, [upsert.itemId])
    }
    return LIST
  }

  private turn(event: TurnEvent): Change {
    const turn = this.turns.get(event.turnId) ?? { turnId: event.turnId }
    if (event.type === 'turn_started') this.turns.set(event.turnId, { ...turn, modelId: event.modelId })
    else this.turns.set(event.turnId, { ...turn, end: event })
    return LIST
  }
}
