// One session of the stand-in server: a journal with seqs, readers, a queue, questions; and a scripted agent.

let nextId = 1
export const freshId = prefix => `${prefix}-${nextId++}`

export const OPTIONS = {
  models: [
    { id: 'opus', name: 'Opus', description: 'the most capable' },
    { id: 'sonnet', name: 'Sonnet', description: 'quick and capable' },
  ],
  modes: [
    { id: 'default', name: 'Ask', description: 'asks before it changes or runs anything' },
    { id: 'acceptEdits', name: 'Accept edits', description: 'changes files without asking' },
    { id: 'plan', name: 'Plan', description: 'reads only' },
  ],
  commands: [
    { id: 'compact', name: 'compact', description: 'Shorten the conversation' },
    { id: 'clear', name: 'clear', description: 'Start anew' },
    { id: 'review', name: 'review', description: 'Review the current change' },
  ],
  model: 'opus',
  mode: 'default',
}

export class MockSession {
  constructor({ sessionId, cliType, projectId, title, discovered = false, lastActivity, state = 'open' }) {
    this.summary = {
      sessionId,
      cliType,
      projectId,
      title,
      state,
      lastActivity: lastActivity ?? new Date().toISOString(),
      discovered,
      archived: false,
    }
    this.note = undefined
    this.journal = []
    this.entries = new Map()
    this.turns = []
    this.seq = 0
    this.journalStart = 0
    this.readers = new Set()
    this.queue = []
    this.questions = new Map()
    this.resolvers = new Map()
    this.options = structuredClone(OPTIONS)
    this.turn = undefined
  }

  get id() {
    return this.summary.sessionId
  }

  /** Takes a recorded conversation without a journal: a reader gets it as history. */
  remember(entries, turns) {
    for (const entry of entries) this.entries.set(entry.itemId, entry)
    this.turns.push(...turns)
    this.seq += entries.length + turns.length
    this.journalStart = this.seq
  }

  tell(frame) {
    for (const reader of this.readers) reader(frame)
  }

  upsert(payload) {
    const full = {
      sessionId: this.id,
      sourceTimestamp: new Date().toISOString(),
      emittedAt: new Date().toISOString(),
      ...payload,
    }
    this.entries.set(full.itemId, full)
    this.record({ type: 'session:upsert', payload: full })
  }

  turnEvent(payload) {
    const full = { sessionId: this.id, ...payload }
    this.turns.push(full)
    this.record({ type: 'session:turn', payload: full })
  }

  record(frame) {
    const full = { ...frame, sessionId: this.id, seq: ++this.seq }
    this.journal.push(full)
    this.tell(full)
  }

  setState(state, note) {
    this.summary.state = state
    this.note = note
    this.tell(this.stateFrame())
  }

  stateFrame() {
    const note = this.note ? { note: this.note } : {}
    return { type: 'session:state', sessionId: this.id, state: this.summary.state, ...note }
  }

  subscribe(reader, afterSeq) {
    this.readers.add(reader)
    if (afterSeq !== undefined && afterSeq >= this.journalStart && afterSeq <= this.seq) {
      for (const frame of this.journal) if (frame.seq > afterSeq) reader(frame)
    } else {
      const entries = [...this.entries.values()]
      reader({ type: 'session:history', sessionId: this.id, seq: this.seq, entries, turns: this.turns })
    }
    reader(this.stateFrame())
    reader({ type: 'session:options', sessionId: this.id, options: this.options })
    reader(this.queueFrame())
    for (const question of this.questions.values()) {
      reader({ type: 'session:question', sessionId: this.id, question })
    }
  }

  queueFrame() {
    const held = this.held && this.queue.length > 0 ? { held: this.held } : {}
    return { type: 'session:queue', sessionId: this.id, messages: this.queue, ...held }
  }

  /** Asks, and resolves with the answer. */
  ask(body) {
    const question = { questionId: freshId('q'), askedAt: new Date().toISOString(), ...body }
    this.questions.set(question.questionId, question)
    this.tell({ type: 'session:question', sessionId: this.id, question })
    this.setState('needs_you')
    return new Promise(resolve => this.resolvers.set(question.questionId, resolve))
  }

  answer(params) {
    if (!this.questions.has(params.questionId)) throw new Error('this question is not open')
    this.setState('working')
    this.closeQuestion(params.questionId, params)
    return {}
  }

  closeQuestion(questionId, answer) {
    this.questions.delete(questionId)
    this.tell({ type: 'session:question-closed', sessionId: this.id, questionId })
    this.resolvers.get(questionId)?.(answer)
    this.resolvers.delete(questionId)
  }

  send(params, script) {
    const turnId = freshId('turn')
    const imageCount = params.images?.length ?? 0
    if (this.turn) {
      const queuedAt = new Date().toISOString()
      this.queue.push({ queuedId: freshId('queued'), turnId, message: params.message, imageCount, queuedAt })
      this.tell(this.queueFrame())
      return { turnId, queued: true }
    }
    this.held = undefined
    this.tell(this.queueFrame())
    void this.run(turnId, params.message, imageCount, script)
    return { turnId, queued: false }
  }

  changeQueue(change, script) {
    if (change.action === 'hold' || change.action === 'continue') {
      this.held = change.action === 'hold' ? 'you stopped the agent; what you send now goes first' : undefined
      this.tell(this.queueFrame())
      if (!this.held && !this.turn) this.next(script)
      return { messages: this.queue }
    }
    const at = this.queue.findIndex(message => message.queuedId === change.queuedId)
    if (at < 0) throw new Error('this message is not queued any more')
    if (change.action === 'edit') this.queue[at] = { ...this.queue[at], message: change.message }
    if (change.action === 'remove') this.queue.splice(at, 1)
    if (change.action === 'send_now') {
      this.queue.unshift(...this.queue.splice(at, 1))
      this.cancel()
    }
    this.tell(this.queueFrame())
    return { messages: this.queue }
  }

  cancel() {
    if (this.turn) this.turn.cancelled = true
    for (const questionId of [...this.questions.keys()]) this.closeQuestion(questionId, { decision: 'deny' })
    return {}
  }

  async run(turnId, message, imageCount, script) {
    const turn = { turnId, cancelled: false, n: 0 }
    this.turn = turn
    if (this.summary.title === '') {
      this.summary.title = message.slice(0, 50)
      this.tell({ type: 'session:title', sessionId: this.id, title: this.summary.title })
    }
    this.setState('working')
    this.upsert({
      type: 'message',
      turnId,
      itemId: `${turnId}:user`,
      status: 'complete',
      content: message,
      origin: 'user',
      ...(imageCount ? { imageCount } : {}),
    })
    this.turnEvent({ type: 'turn_started', turnId, modelId: this.options.model, providerId: 'mock' })
    const started = Date.now()
    try {
      await script(this, turn, message)
      const status = turn.cancelled ? 'cancelled' : 'completed'
      this.turnEvent({
        type: 'turn_complete',
        turnId,
        status,
        usage: USAGE,
        durationMs: Date.now() - started,
      })
    } catch (error) {
      this.turnEvent({ type: 'turn_error', turnId, errorCode: 'RESPONSE_ERROR', errorMessage: error.message })
    }
    this.turn = undefined
    this.summary.lastActivity = new Date().toISOString()
    this.next(script)
  }

  /** The turn of the next message, if one waits and nobody keeps it back. */
  next(script) {
    const next = this.held ? undefined : this.queue.shift()
    if (next) {
      this.tell(this.queueFrame())
      void this.run(next.turnId, next.message, next.imageCount, script)
    } else this.setState('open')
  }
}

const USAGE = {
  inputTokens: 1200,
  outputTokens: 340,
  cacheReadInputTokens: 36_000,
  costUsd: 0.042,
  contextTokens: 38_000,
  contextWindow: 200_000,
}
