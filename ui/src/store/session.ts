// One session as the views read it: signals around the pure log, painted at most once per frame.

import { batch, createSignal, type Signal } from 'solid-js'
import type {
  Question,
  QueuedMessage,
  ServerFrame,
  SessionOptions,
  SessionState,
  Upsert,
  Usage,
} from '../protocol'
import { type HistoryPage, SessionLog, type Turn } from './log'
import { type Row, rowsOf } from './rows'

/** Runs a paint before the next frame; in a hidden tab, where there are no frames, soon. */
export type Schedule = (paint: () => void) => void

const onNextFrame: Schedule = paint => {
  if (document.hidden) setTimeout(paint, 100)
  else requestAnimationFrame(paint)
}

export class Session {
  readonly log = new SessionLog()
  private readonly known = new Map<string, Row>()
  private readonly itemSignals = new Map<string, Signal<Upsert | undefined>>()
  private readonly childSignals = new Map<string, Signal<string[]>>()
  private readonly dirty = new Set<string>()
  /** By the message's words: they come back with it, the pictures do not. */
  private readonly images = new Map<string, ImageBitmap[]>()
  private listDirty = false
  private scheduled = false

  private readonly rowsSignal = createSignal<Row[]>([])
  private readonly turnsSignal = createSignal<ReadonlyMap<string, Turn>>(new Map(), { equals: false })
  private readonly stateSignal = createSignal<{ state: SessionState; note?: string | undefined }>({
    state: 'loading',
  })
  private personMs = 0
  /** When the first of the open questions was asked. */
  private askedAt: number | undefined
  private readonly questionsSignal = createSignal<Question[]>([])
  private readonly queueSignal = createSignal<QueuedMessage[]>([])
  private readonly heldSignal = createSignal<string | undefined>()
  private readonly optionsSignal = createSignal<SessionOptions>({ models: [], modes: [], commands: [] })
  private readonly earlierSignal = createSignal<number | undefined>()
  private readonly filledSignal = createSignal(false)
  private readonly failureSignal = createSignal<string | undefined>()

  constructor(
    readonly sessionId: string,
    private readonly schedule: Schedule = onNextFrame,
  ) {}

  readonly rows = this.rowsSignal[0]
  readonly turns = this.turnsSignal[0]
  readonly state = this.stateSignal[0]
  readonly questions = this.questionsSignal[0]
  readonly queue = this.queueSignal[0]
  /** Why the queue waits for a person. */
  readonly held = this.heldSignal[0]
  readonly options = this.optionsSignal[0]
  /** Where older history can be had, if there is any. */
  readonly earlier = this.earlierSignal[0]
  /** Whether the server has told the conversation at all. */
  readonly filled = this.filledSignal[0]
  /** Why the session could not be opened, if it could not. */
  readonly failure = this.failureSignal[0]

  setState = (state: SessionState, note?: string) => this.stateSignal[1]({ state, note })
  setFailure = (failure: string | undefined) => this.failureSignal[1](failure)
  patchOptions = (patch: Partial<SessionOptions>) =>
    this.optionsSignal[1](options => ({ ...options, ...patch }))

  /** The item's last state; reading it subscribes to this one item only. */
  item(itemId: string): Upsert | undefined {
    let signal = this.itemSignals.get(itemId)
    if (!signal) {
      signal = createSignal(this.log.items.get(itemId))
      this.itemSignals.set(itemId, signal)
    }
    return signal[0]()
  }

  /** Whether an item is still being written. What its turn has left open when it ended is stopped, for ever. */
  isRunning(item: Upsert): boolean {
    const open = item.status === 'create' || item.status === 'update'
    return open && this.turns().get(item.turnId)?.end === undefined
  }

  /** The items that a subagent's call made. */
  childrenOf(callId: string): string[] {
    let signal = this.childSignals.get(callId)
    if (!signal) {
      signal = createSignal([...(this.log.children.get(callId) ?? [])])
      this.childSignals.set(callId, signal)
    }
    return signal[0]()
  }

  /** How long the running turn has waited for a person, in ms, as far as this page has seen. */
  waitedForPerson(): number {
    // A question that was just answered is open until the server says that it is closed.
    const open = this.askedAt === undefined ? 0 : Math.max(0, Date.now() - this.askedAt) || 0
    return this.personMs + open
  }

  /** Small pictures of the images that a message of this page took along. */
  keepImages(message: string, bitmaps: ImageBitmap[]): void {
    if (bitmaps.length > 0) this.images.set(message, bitmaps)
  }

  sentImages(message: string): ImageBitmap[] {
    return this.images.get(message) ?? []
  }

  /** A new subscription tells its open questions again; older ones may have been answered meanwhile. */
  resubscribing(): void {
    this.questionsSignal[1]([])
    this.askedAt = undefined
  }

  receive(frame: ServerFrame): void {
    switch (frame.type) {
      case 'session:upsert':
      case 'session:turn':
      case 'session:history': {
        const change = this.log.apply(frame)
        if (frame.type === 'session:turn') this.personMs = 0
        if (change.kind === 'item') this.dirty.add(change.itemId)
        if (change.kind === 'list') this.listDirty = true
        if (frame.type === 'session:history')
          for (const itemId of this.itemSignals.keys()) this.dirty.add(itemId)
        if (change.kind !== 'none' || frame.type === 'session:history') this.paintSoon()
        return
      }
      case 'session:state':
        this.setState(frame.state, frame.note)
        return
      case 'session:question':
        if (this.questions().length === 0) this.askedAt = Date.parse(frame.question.askedAt)
        this.questionsSignal[1](questions => [
          ...questions.filter(other => other.questionId !== frame.question.questionId),
          frame.question,
        ])
        return
      case 'session:question-closed':
        this.questionsSignal[1](questions => questions.filter(other => other.questionId !== frame.questionId))
        if (this.questions().length === 0 && this.askedAt !== undefined) {
          this.personMs += Math.max(0, Date.now() - this.askedAt) || 0
          this.askedAt = undefined
        }
        return
      case 'session:queue':
        this.queueSignal[1](frame.messages)
        this.heldSignal[1](frame.held)
        return
      case 'session:options':
        this.optionsSignal[1](frame.options)
        return
      default:
    }
  }

  /** Takes a page of older history. */
  prepend(page: HistoryPage): void {
    this.log.prepend(page)
    this.listDirty = true
    this.paint()
  }

  /** Tokens and cost so far: sums over the turns, those not loaded too; the context is the last turn's. */
  usage(): Usage | undefined {
    let sum = this.log.earlierUsage
    for (const turn of this.turns().values()) {
      const usage = turn.end?.type === 'turn_complete' ? turn.end.usage : undefined
      if (!usage) continue
      sum = {
        ...usage,
        inputTokens: (sum?.inputTokens ?? 0) + usage.inputTokens,
        outputTokens: (sum?.outputTokens ?? 0) + usage.outputTokens,
        cacheReadInputTokens: (sum?.cacheReadInputTokens ?? 0) + (usage.cacheReadInputTokens ?? 0),
        cacheCreationInputTokens:
          (sum?.cacheCreationInputTokens ?? 0) + (usage.cacheCreationInputTokens ?? 0),
        ...(usage.costUsd === undefined && sum?.costUsd === undefined
          ? {}
          : { costUsd: (sum?.costUsd ?? 0) + (usage.costUsd ?? 0) }),
      }
    }
    return sum
  }

  private paintSoon(): void {
    if (this.scheduled) return
    this.scheduled = true
    this.schedule(() => {
      this.scheduled = false
      this.paint()
    })
  }

  private paint(): void {
    batch(() => {
      for (const itemId of this.dirty) this.itemSignals.get(itemId)?.[1](this.log.items.get(itemId))
      this.dirty.clear()
      if (!this.listDirty) return
      this.listDirty = false
      this.filledSignal[1](true)
      this.earlierSignal[1](this.log.earlier)
      this.rowsSignal[1](rowsOf(this.log, this.known))
      this.turnsSignal[1](this.log.turns)
      for (const [callId, signal] of this.childSignals) signal[1]([...(this.log.children.get(callId) ?? [])])
    })
  }
}
