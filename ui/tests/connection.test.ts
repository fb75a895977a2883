import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { ServerFrame } from '../src/protocol'
import { Connection, ConnectionLost, type Socket, type Status } from '../src/store/connection'

class FakeSocket implements Socket {
  sent: unknown[] = []
  onopen: (() => void) | null = null
  onclose: (() => void) | null = null
  onmessage: ((event: { data: unknown }) => void) | null = null
  send(text: string): void {
    this.sent.push(JSON.parse(text))
  }
  close(): void {
    this.onclose?.()
  }
  receive(frame: ServerFrame): void {
    this.onmessage?.({ data: JSON.stringify(frame) })
  }
}

let sockets: FakeSocket[]
let timers: { ms: number; call: () => void }[]
let statuses: Status[]
let frames: ServerFrame[]
let seq: number | undefined
let connection: Connection

const last = () => sockets[sockets.length - 1] as FakeSocket

beforeEach(() => {
  sockets = []
  timers = []
  statuses = []
  frames = []
  seq = undefined
  connection = new Connection(
    {
      open: () => {
        sockets.push(new FakeSocket())
        return last()
      },
      after: (ms, call) => {
        const timer = { ms, call }
        timers.push(timer)
        return () => {
          timers = timers.filter(other => other !== timer)
        }
      },
      random: () => 1,
    },
    {
      status: status => statuses.push(status),
      frame: frame => frames.push(frame),
      subscriptions: () => [{ sessionId: 's', afterSeq: seq }],
    },
  )
})

describe('the connection', () => {
  it('subscribes when it opens, with the last seq after a break', () => {
    connection.start()
    last().onopen?.()
    expect(last().sent).toEqual([{ type: 'subscribe', sessionId: 's', requestId: 'r1' }])
    seq = 41
    last().onclose?.()
    timers[0]?.call()
    last().onopen?.()
    expect(last().sent).toEqual([{ type: 'subscribe', sessionId: 's', afterSeq: 41, requestId: 'r2' }])
    expect(statuses).toEqual(['connecting', 'connected', 'disconnected', 'connected'])
  })

  it('says that it is disconnected in the moment the socket closes, not after a wait', () => {
    connection.start()
    last().onopen?.()
    last().onclose?.()
    expect(statuses).toEqual(['connecting', 'connected', 'disconnected'])
  })

  it('waits longer after each failure, up to five seconds, and starts small again after a success', () => {
    connection.start()
    const waits: number[] = []
    for (let attempt = 0; attempt < 8; attempt++) {
      last().onclose?.()
      const timer = timers.shift()
      waits.push(timer?.ms ?? 0)
      timer?.call()
    }
    expect(waits).toEqual([150, 300, 600, 1200, 2400, 4800, 5000, 5000])
    last().onopen?.()
    last().onclose?.()
    expect(timers[0]?.ms).toBe(150)
  })

  it('tries at once when asked', () => {
    connection.start()
    last().onclose?.()
    connection.retryNow()
    expect(sockets.length).toBe(2)
    expect(timers).toEqual([])
  })

  it('answers a command by its request', async () => {
    connection.start()
    last().onopen?.()
    const sent = connection.request({ type: 'cancel', sessionId: 's' })
    const failed = connection.request({ type: 'kill', sessionId: 's' })
    last().receive({ type: 'error', requestId: 'r3', message: 'no such session' })
    last().receive({ type: 'ack', requestId: 'r2', result: { ok: 1 } })
    await expect(sent).resolves.toEqual({ ok: 1 })
    await expect(failed).rejects.toThrow('no such session')
    expect(frames).toEqual([])
  })

  it('fails what waits for an answer when the connection breaks, and sends nothing twice', async () => {
    connection.start()
    last().onopen?.()
    const sent = connection.request({ type: 'cancel', sessionId: 's' })
    last().onclose?.()
    await expect(sent).rejects.toThrow(ConnectionLost)
    await expect(connection.request({ type: 'cancel', sessionId: 's' })).rejects.toThrow(ConnectionLost)
    timers[0]?.call()
    last().onopen?.()
    expect(last().sent).toEqual([{ type: 'subscribe', sessionId: 's', requestId: 'r3' }])
  })

  it('does not listen to an older socket', () => {
    connection.start()
    const old = last()
    old.onopen?.()
    old.onclose?.()
    connection.retryNow()
    last().onopen?.()
    old.receive({ type: 'project:list', projects: [] })
    old.onclose?.()
    expect(frames).toEqual([])
    expect(statuses[statuses.length - 1]).toBe('connected')
  })

  it('survives what is not JSON', () => {
    connection.start()
    last().onopen?.()
    last().onmessage?.({ data: '{' })
    last().onmessage?.({ data: new ArrayBuffer(2) })
    expect(frames).toEqual([])
    vi.restoreAllMocks()
  })
})
