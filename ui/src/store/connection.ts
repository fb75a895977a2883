// The page's one WebSocket: opens, reconnects with back-off, and resubscribes with the last seq.
//
// Commands are answered by `ack` or `error`; a command whose answer the connection lost is rejected, never
// sent twice: whether the server saw it is shown by what it sends next.

import { keyProtocols } from '../key'
import type { ClientFrame, ServerFrame } from '../protocol'

export type Status = 'connecting' | 'connected' | 'disconnected'

/** The part of a WebSocket that is used here, so that a test can stand in for it. */
export interface Socket {
  send(text: string): void
  close(): void
  onopen: (() => void) | null
  onclose: (() => void) | null
  onmessage: ((event: { data: unknown }) => void) | null
}

export interface Surroundings {
  open(): Socket
  /** Calls back after a delay; the answer cancels it. */
  after(ms: number, call: () => void): () => void
  random(): number
}

export interface Listener {
  status(status: Status): void
  frame(frame: ServerFrame): void
  /** The subscriptions to (re)establish on a new connection. */
  subscriptions(): { sessionId: string; afterSeq: number | undefined }[]
}

type Command = ClientFrame extends infer F ? (F extends unknown ? Omit<F, 'requestId'> : never) : never

const FIRST_DELAY_MS = 150
const LAST_DELAY_MS = 5000

export class ConnectionLost extends Error {
  constructor() {
    super('the connection was lost before the server answered')
  }
}

export class Connection {
  private socket: Socket | undefined
  private open = false
  private attempts = 0
  private nextRequest = 1
  private cancelRetry: (() => void) | undefined
  private waiting = new Map<string, { resolve(result: unknown): void; reject(error: Error): void }>()

  constructor(
    private readonly around: Surroundings,
    private readonly listener: Listener,
  ) {}

  start(): void {
    this.cancelRetry?.()
    this.cancelRetry = undefined
    if (this.attempts === 0) this.listener.status('connecting')
    const socket = this.around.open()
    this.socket = socket
    // A frame or a close of an older socket is not ours any more.
    const current = () => this.socket === socket
    socket.onopen = () => {
      if (!current()) return
      this.open = true
      this.attempts = 0
      this.listener.status('connected')
      for (const { sessionId, afterSeq } of this.listener.subscriptions()) {
        // A session that cannot be followed is told where it is opened, not here.
        this.subscribe(sessionId, afterSeq).catch(() => {})
      }
    }
    socket.onmessage = event => {
      if (current() && typeof event.data === 'string') this.receive(event.data)
    }
    socket.onclose = () => {
      if (current()) this.lost()
    }
  }

  stop(): void {
    this.cancelRetry?.()
    const socket = this.socket
    this.socket = undefined
    socket?.close()
    this.fail()
  }

  /** Tries at once, e.g. when the person comes back to the page. */
  retryNow(): void {
    if (this.cancelRetry) this.start()
  }

  subscribe(sessionId: string, afterSeq: number | undefined): Promise<unknown> {
    return this.request({ type: 'subscribe', sessionId, ...(afterSeq === undefined ? {} : { afterSeq }) })
  }

  unsubscribe(sessionId: string): void {
    this.write({ type: 'unsubscribe', sessionId })
  }

  /** Sends a command and waits for its answer. */
  request(command: Command): Promise<unknown> {
    if (!this.open) return Promise.reject(new ConnectionLost())
    const requestId = `r${this.nextRequest++}`
    return new Promise((resolve, reject) => {
      this.waiting.set(requestId, { resolve, reject })
      this.write({ ...command, requestId } as ClientFrame)
    })
  }

  private write(frame: ClientFrame): void {
    if (this.open) this.socket?.send(JSON.stringify(frame))
  }

  private receive(text: string): void {
    let frame: ServerFrame
    try {
      frame = JSON.parse(text) as ServerFrame
    } catch {
      return
    }
    if (frame.type === 'ack') {
      this.waiting.get(frame.requestId)?.resolve(frame.result)
      this.waiting.delete(frame.requestId)
      return
    }
    if (frame.type === 'error' && frame.requestId !== undefined) {
      this.waiting.get(frame.requestId)?.reject(new Error(frame.message))
      this.waiting.delete(frame.requestId)
      return
    }
    this.listener.frame(frame)
  }

  private lost(): void {
    this.socket = undefined
    this.fail()
    this.listener.status('disconnected')
    const ceiling = Math.min(LAST_DELAY_MS, FIRST_DELAY_MS * 2 ** this.attempts)
    this.attempts += 1
    this.cancelRetry = this.around.after(ceiling * (0.5 + this.around.random() / 2), () => this.start())
  }

  private fail(): void {
    this.open = false
    const waiting = [...this.waiting.values()]
    this.waiting.clear()
    for (const { reject } of waiting) reject(new ConnectionLost())
  }
}

/** The real surroundings: this page's own origin. */
export function browserSurroundings(): Surroundings {
  return {
    open: () => {
      const scheme = location.protocol === 'https:' ? 'wss' : 'ws'
      return new WebSocket(`${scheme}://${location.host}/ws`, keyProtocols()) as unknown as Socket
    },
    after: (ms, call) => {
      const timer = setTimeout(call, ms)
      return () => clearTimeout(timer)
    },
    random: Math.random,
  }
}
