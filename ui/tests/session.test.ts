import { describe, expect, it } from 'vitest'
import type { Question, ServerFrame, TurnEvent, Upsert } from '../src/protocol'
import { Session } from '../src/store/session'

/** A session whose frames are painted when the test says so. */
function held(): { session: Session; paint(): number } {
  const paints: (() => void)[] = []
  const session = new Session('s', paint => paints.push(paint))
  const paint = () => {
    const due = paints.splice(0)
    for (const run of due) run()
    return due.length
  }
  return { session, paint }
}

const upsert = (seq: number, itemId: string, content: string): ServerFrame => ({
  type: 'session:upsert',
  sessionId: 's',
  seq,
  payload: {
    turnId: 't',
    sessionId: 's',
    itemId,
    sourceTimestamp: '',
    emittedAt: '',
    status: 'update',
    type: 'message',
    content,
    origin: 'agent',
  } satisfies Upsert,
})

const question = (questionId: string): Question => ({
  questionId,
  askedAt: '',
  kind: 'permission',
  toolName: 'Bash',
  toolArguments: {},
  grants: [],
})

describe('a session', () => {
  it('tells why its queue waits, until it goes on', () => {
    const { session } = held()
    const queue: ServerFrame = { type: 'session:queue', sessionId: 's', messages: [] }
    session.receive({ ...queue, held: 'claude exited with status 1' })
    expect(session.held()).toBe('claude exited with status 1')
    session.receive(queue)
    expect(session.held()).toBeUndefined()
  })

  it('paints many frames at once', () => {
    const { session, paint } = held()
    for (let n = 1; n <= 50; n++) session.receive(upsert(n, 'a', `v${n}`))
    expect(session.rows()).toEqual([])
    expect(paint()).toBe(1)
    expect(session.rows().map(row => row.key)).toEqual(['item a'])
    expect(session.item('a')).toMatchObject({ content: 'v50' })
  })

  it('replaces every item that is shown when history comes', () => {
    const { session, paint } = held()
    session.receive(upsert(1, 'a', 'before'))
    paint()
    expect(session.item('a')).toMatchObject({ content: 'before' })
    const after = upsert(9, 'a', 'after') as Extract<ServerFrame, { type: 'session:upsert' }>
    session.receive({ type: 'session:history', sessionId: 's', seq: 9, entries: [after.payload], turns: [] })
    paint()
    expect(session.item('a')).toMatchObject({ content: 'after' })
  })

  it('has no running item in a turn that has ended, live or in a history', () => {
    const live = held()
    live.session.receive(upsert(1, 'a', 'half a sentence'))
    live.paint()
    const open = live.session.item('a') as Upsert
    expect(live.session.isRunning(open)).toBe(true)
    const end: TurnEvent = { type: 'turn_complete', turnId: 't', sessionId: 's', status: 'cancelled' }
    live.session.receive({ type: 'session:turn', sessionId: 's', seq: 2, payload: end })
    live.paint()
    expect(live.session.isRunning(open)).toBe(false)

    const second = held()
    second.session.receive({ type: 'session:history', sessionId: 's', seq: 2, entries: [open], turns: [end] })
    second.paint()
    expect(second.session.isRunning(open)).toBe(false)
    expect(second.session.isRunning({ ...open, turnId: 'next' })).toBe(true)
    expect(second.session.isRunning({ ...open, turnId: 'next', status: 'complete' })).toBe(false)
  })

  it('keeps questions until they are closed, each once', () => {
    const { session } = held()
    const ask = (id: string) =>
      session.receive({ type: 'session:question', sessionId: 's', question: question(id) })
    ask('q1')
    ask('q2')
    ask('q1')
    expect(session.questions().map(open => open.questionId)).toEqual(['q2', 'q1'])
    session.receive({ type: 'session:question-closed', sessionId: 's', questionId: 'q2' })
    expect(session.questions().map(open => open.questionId)).toEqual(['q1'])
  })

  it('forgets questions that were answered while it was away', () => {
    const { session } = held()
    session.receive({ type: 'session:question', sessionId: 's', question: question('old') })
    session.resubscribing()
    session.receive({ type: 'session:question', sessionId: 's', question: question('new') })
    expect(session.questions().map(open => open.questionId)).toEqual(['new'])
  })

  it('adds up tokens and cost over its turns, and takes the context of the last one', () => {
    const { session, paint } = held()
    const usage = (n: number) => ({
      inputTokens: n,
      outputTokens: 1,
      costUsd: 0.5,
      contextTokens: n,
      contextWindow: 100,
    })
    const turns = [1, 2].map(n => ({
      type: 'turn_complete' as const,
      turnId: `t${n}`,
      sessionId: 's',
      status: 'completed' as const,
      usage: usage(n),
    }))
    session.receive({ type: 'session:history', sessionId: 's', seq: 1, entries: [], turns })
    paint()
    expect(session.usage()).toMatchObject({ inputTokens: 3, outputTokens: 2, costUsd: 1, contextTokens: 2 })
  })

  it('counts what was used before the first page it has, until that page is here', () => {
    const { session, paint } = held()
    const turn = (turnId: string, inputTokens: number) => ({
      type: 'turn_complete' as const,
      turnId,
      sessionId: 's',
      status: 'completed' as const,
      usage: { inputTokens, outputTokens: 1, costUsd: 0.5, contextTokens: inputTokens },
    })
    const earlierUsage = { inputTokens: 40, outputTokens: 4, costUsd: 2 }
    const page = { entries: [], turns: [turn('t9', 9)], earlier: 7, earlierUsage }
    session.receive({ type: 'session:history', sessionId: 's', seq: 9, ...page })
    paint()
    expect(session.usage()).toMatchObject({
      inputTokens: 49,
      outputTokens: 5,
      costUsd: 2.5,
      contextTokens: 9,
    })
    session.prepend({ entries: [], turns: [turn('t8', 40)] })
    expect(session.usage()).toMatchObject({ inputTokens: 49, outputTokens: 2, costUsd: 1, contextTokens: 9 })
  })
})
