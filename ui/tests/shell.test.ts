import { expect, test } from 'vitest'
import { Shell, type ShellSocket } from '../src/store/shell'
import { runsOf } from '../src/text/terminalRows'

class FakeSocket implements ShellSocket {
  readyState = 1
  sent: string[] = []
  onopen: (() => void) | null = null
  onclose: ((event: { code: number; reason: string }) => void) | null = null
  onmessage: ((event: { data: unknown }) => void) | null = null
  send(data: string | Uint8Array) {
    this.sent.push(typeof data === 'string' ? data : new TextDecoder().decode(data))
  }
  close() {}
  say(frame: object) {
    this.onmessage?.({ data: JSON.stringify(frame) })
  }
  print(text: string) {
    this.onmessage?.({ data: new TextEncoder().encode(text).buffer })
  }
}

function setUp(exists = () => Promise.resolve(true)) {
  const sockets: FakeSocket[] = []
  const shell = new Shell(
    { terminalId: 't', shell: 'bash', folder: '/shop' },
    {
      open: () => {
        const socket = new FakeSocket()
        sockets.push(socket)
        return socket
      },
      after: (_, call) => call(),
      exists,
    },
  )
  const last = () => {
    const socket = sockets.at(-1)
    if (!socket) throw new Error('no socket')
    return socket
  }
  last().onopen?.()
  return { shell, sockets, last }
}

const drawn = (shell: Shell) => new Promise<void>(done => shell.emulator.write('', done))
const row = (shell: Shell, y: number) => shell.emulator.buffer.active.getLine(y)?.translateToString(true)

test('what was drawn is acknowledged, in all', async () => {
  const { shell, last } = setUp()
  last().say({ type: 'attached', replayed: 0 })
  last().print('ab')
  last().print('cde')
  await drawn(shell)
  expect(row(shell, 0)).toBe('abcde')
  expect(last().sent.filter(text => text.includes('read'))).toEqual([
    '{"type":"read","bytes":2}',
    '{"type":"read","bytes":5}',
  ])
})

test('a question to the terminal is answered once, and not again when it is drawn after a reload', async () => {
  const question = '\x1b[c'
  const { shell, last } = setUp()
  last().say({ type: 'attached', replayed: question.length })
  last().print(question)
  await drawn(shell)
  const answers = () => last().sent.filter(text => text.startsWith('\x1b['))
  expect(answers()).toEqual([])
  last().print(question)
  await drawn(shell)
  expect(answers()).toHaveLength(1)
})

test('a lost socket is opened again and the screen begins anew', async () => {
  const { shell, sockets, last } = setUp()
  last().say({ type: 'attached', replayed: 0 })
  last().print('first')
  await drawn(shell)
  last().onclose?.({ code: 1006, reason: '' })
  expect(shell.state()).toBe('lost')
  await Promise.resolve()
  await Promise.resolve()
  expect(sockets).toHaveLength(2)
  last().onopen?.()
  last().say({ type: 'attached', replayed: 5 })
  last().print('first')
  await drawn(shell)
  expect([shell.state(), row(shell, 0)]).toEqual(['open', 'first'])
  expect(last().sent.at(-1)).toBe('{"type":"read","bytes":5}')
})

test('a terminal that the server does not have any more is told', async () => {
  const { shell, last } = setUp(() => Promise.resolve(false))
  last().onclose?.({ code: 1006, reason: '' })
  await Promise.resolve()
  await Promise.resolve()
  expect([shell.state(), shell.note()]).toEqual(['gone', 'This terminal was closed.'])
})

test('the end and what was refused are told in words', () => {
  const { shell, last } = setUp()
  last().say({ type: 'refused', bytes: 2000 })
  expect(shell.note()).toContain('2,000 bytes')
  last().say({ type: 'ended', how: 'exited with status 3', success: false })
  expect([shell.state(), shell.note()]).toEqual(['ended', 'bash exited with status 3'])
})

test('rows are runs with the classes of the sixteen colours, and the cursor is one of its own', async () => {
  const { shell } = setUp()
  await new Promise<void>(done =>
    shell.emulator.write('ab\x1b[31;1mred\x1b[0m \x1b[38;2;0;0;255mblue\x1b[0m 漢!', done),
  )
  const line = shell.emulator.buffer.active.getLine(0)
  expect(runsOf(line, 80, 1)).toEqual([
    { text: 'a', classes: '' },
    { text: 'b', classes: 'cursor' },
    { text: 'red', classes: 'fg1 bold' },
    { text: ' ', classes: '' },
    { text: 'blue', classes: 'fg12' },
    { text: ' ', classes: '' },
    { text: '漢', classes: 'wide' },
    { text: '!', classes: '' },
  ])
})

test('a program that hides the cursor has none', async () => {
  const { shell } = setUp()
  await new Promise<void>(done => shell.emulator.write('\x1b[?25l', done))
  expect(shell.cursorShown).toBe(false)
  await new Promise<void>(done => shell.emulator.write('\x1b[?25h', done))
  expect(shell.cursorShown).toBe(true)
})
