// One terminal of the server, as this page holds it: the emulator that draws what it prints, and its socket.
//
// It lives outside of any view, so that a build goes on being followed while another tab is looked at. What is printed is
// acknowledged when it was drawn: without that the server sends no more, so that a flood fills no memory here either.

import { Terminal } from '@xterm/headless/lib-headless/xterm-headless.mjs'
import { type Accessor, createSignal } from 'solid-js'
import { keyProtocols } from '../key'
import type { TerminalCommand, TerminalFrame, TerminalInfo } from '../protocol'

/** The part of a WebSocket that is used here, so that a test can stand in for it. */
export interface ShellSocket {
  readonly readyState: number
  send(data: string | Uint8Array<ArrayBuffer>): void
  close(): void
  onopen: (() => void) | null
  onclose: ((event: { code: number; reason: string }) => void) | null
  onmessage: ((event: { data: unknown }) => void) | null
}

export interface ShellSurroundings {
  open(terminalId: string): ShellSocket
  after(ms: number, call: () => void): void
  /** Whether the server still has the terminal; it fails when the server does not answer. */
  exists(terminalId: string): Promise<boolean>
}

const OPEN = 1
const CLOSED_BY_SERVER = 1000
const FIRST_DELAY_MS = 200
const LAST_DELAY_MS = 5000
/** Lines that can be scrolled back to. */
const SCROLLBACK = 5000

/** Where a terminal is: it may have ended and still show what it printed. */
export type ShellState = 'connecting' | 'open' | 'lost' | 'ended' | 'gone'

export class Shell {
  readonly emulator = new Terminal({
    allowProposedApi: true,
    cols: 80,
    rows: 24,
    scrollback: SCROLLBACK,
    convertEol: false,
  })
  readonly state: Accessor<ShellState>
  /** What is told below the screen: how it ended, what was refused. */
  readonly note: Accessor<string>
  /** Whether the cursor is shown. */
  cursorShown = true
  private readonly setState: (state: ShellState) => void
  private readonly setNote: (note: string) => void
  private socket: ShellSocket | undefined
  private attempts = 0
  private drawn = 0
  /** Bytes that are drawn again after a reload: what they ask a terminal was answered when they were new. */
  private replaying = 0
  private size = { columns: 80, rows: 24 }
  private readonly watchers = new Set<() => void>()

  constructor(
    readonly info: TerminalInfo,
    private readonly around: ShellSurroundings,
  ) {
    const [state, setState] = createSignal<ShellState>('connecting')
    const [note, setNote] = createSignal('')
    this.state = state
    this.note = note
    this.setState = state => void setState(state)
    this.setNote = note => void setNote(note)
    this.emulator.onData(answer => {
      if (this.replaying <= 0) this.type(answer)
    })
    for (const [final, shown] of [
      ['h', true],
      ['l', false],
    ] as const) {
      this.emulator.parser.registerCsiHandler({ prefix: '?', final }, parameters => {
        if (parameters.includes(25)) this.cursorShown = shown
        return false
      })
    }
    this.connect()
  }

  /** Calls back when the screen may look different. Returns what ends it. */
  watch(changed: () => void): () => void {
    this.watchers.add(changed)
    return () => this.watchers.delete(changed)
  }

  type(text: string): void {
    if (text !== '' && this.socket?.readyState === OPEN) this.socket.send(new TextEncoder().encode(text))
  }

  resize(columns: number, rows: number): void {
    if (columns < 2 || rows < 1) return
    if (columns === this.size.columns && rows === this.size.rows) return
    this.size = { columns, rows }
    this.emulator.resize(columns, rows)
    this.command({ type: 'resize', columns, rows })
    this.changed()
  }

  /** Lets go of the socket; the server ends the terminal by itself. */
  leave(): void {
    this.setState('gone')
    this.socket?.close()
    this.socket = undefined
    this.emulator.dispose()
  }

  private connect(): void {
    const socket = this.around.open(this.info.terminalId)
    this.socket = socket
    const current = () => this.socket === socket
    socket.onopen = () => {
      if (!current()) return
      this.attempts = 0
      this.drawn = 0
      this.command({ type: 'resize', ...this.size })
    }
    socket.onmessage = ({ data }) => {
      if (!current()) return
      if (typeof data === 'string') this.told(JSON.parse(data) as TerminalFrame)
      else if (data instanceof ArrayBuffer) this.print(new Uint8Array(data), current)
    }
    socket.onclose = ({ code }) => {
      if (!current()) return
      this.socket = undefined
      if (code === CLOSED_BY_SERVER) this.gone()
      else void this.lost()
    }
  }

  private print(bytes: Uint8Array, current: () => boolean): void {
    this.emulator.write(bytes, () => {
      if (!current()) return
      this.replaying -= bytes.length
      this.drawn += bytes.length
      this.command({ type: 'read', bytes: this.drawn })
      this.changed()
    })
  }

  private told(frame: TerminalFrame): void {
    switch (frame.type) {
      case 'attached':
        this.replaying = frame.replayed
        this.emulator.reset()
        this.cursorShown = true
        this.setState('open')
        this.changed()
        return
      case 'skipped':
        this.emulator.reset()
        this.setNote('Some of the output was too much to be kept.')
        return
      case 'refused':
        this.setNote(
          `${frame.bytes.toLocaleString('en')} bytes that you typed or pasted were left out: nothing reads them.`,
        )
        return
      case 'ended':
        this.setState('ended')
        this.setNote(`${this.info.shell} ${frame.how}`)
    }
  }

  private async lost(): Promise<void> {
    this.setState('lost')
    let there: boolean | undefined
    try {
      there = await this.around.exists(this.info.terminalId)
    } catch {
      // The server does not answer; it may be starting again.
    }
    if (this.state() !== 'lost') return
    if (there === false) {
      this.gone()
      return
    }
    this.around.after(Math.min(LAST_DELAY_MS, FIRST_DELAY_MS * 2 ** this.attempts++), () => {
      if (this.state() !== 'lost') return
      if (there) this.connect()
      else void this.lost()
    })
  }

  private gone(): void {
    this.setState('gone')
    this.setNote('This terminal was closed.')
  }

  private command(command: TerminalCommand): void {
    if (this.socket?.readyState === OPEN) this.socket.send(JSON.stringify(command))
  }

  private changed(): void {
    for (const watcher of this.watchers) watcher()
  }
}

/** The browser's own socket. */
export function openShellSocket(terminalId: string): ShellSocket {
  const address = `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws/terminal/${encodeURIComponent(terminalId)}`
  const socket = new WebSocket(address, keyProtocols())
  socket.binaryType = 'arraybuffer'
  return socket as ShellSocket
}
