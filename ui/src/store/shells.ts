// The terminals that this page follows. They are the server's: after a reload the page finds them again.

import { createSignal } from 'solid-js'
import * as api from '../api'
import type { TerminalInfo } from '../protocol'
import { openShellSocket, Shell } from './shell'
import { followedShells, rememberShells } from './shellMemory'

/** Whose folder a terminal is in. */
export interface ShellPlace {
  projectId: string
  sessionId: string
}

const [shells, setShells] = createSignal<Shell[]>([])

/** Every terminal that the page follows. */
export { shells }

/** Follows the terminals that the server has in a folder, and returns them. */
export async function shellsOf(place: ShellPlace): Promise<Shell[]> {
  const { terminals } = await api.terminals(place)
  return terminals.map(info => follow(place, info))
}

export async function openShell(place: ShellPlace, columns: number, rows: number): Promise<Shell> {
  return follow(place, await api.openTerminal({ ...place, columns, rows }))
}

/** Ends a terminal, with what runs in it. */
export async function closeShell(shell: Shell): Promise<void> {
  setShells(all => all.filter(other => other !== shell))
  remember()
  shell.leave()
  try {
    await api.closeTerminal(shell.info.terminalId)
  } catch (error) {
    // It was gone already.
    if (!(error instanceof api.ApiError && error.status === 404)) throw error
  }
}

/** Follows again what this browser tab followed before it was loaded anew. */
export async function followAgain(): Promise<void> {
  for (const place of followedShells()) await shellsOf(place).catch(() => {})
}

const places = new Map<string, ShellPlace>()

function follow(place: ShellPlace, info: TerminalInfo): Shell {
  const known = shells().find(shell => shell.info.terminalId === info.terminalId)
  if (known) return known
  const shell = new Shell(info, {
    open: openShellSocket,
    after: (ms, call) => void setTimeout(call, ms),
    exists: async id => (await api.terminals(place)).terminals.some(other => other.terminalId === id),
  })
  places.set(info.terminalId, place)
  setShells(all => [...all, shell])
  remember()
  return shell
}

function remember(): void {
  const followed = shells().flatMap(shell => places.get(shell.info.terminalId) ?? [])
  rememberShells(
    followed.filter((place, at) => followed.findIndex(other => other.sessionId === place.sessionId) === at),
  )
}
