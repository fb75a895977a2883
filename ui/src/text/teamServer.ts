// How the server is through which a team shares its indexes, in words.

import type { TeamServer } from '../protocol'
import { relativeTime } from './format'

/** What it calls itself and how quickly it answers, or that it does not. */
export function serverState(server: TeamServer): string {
  if (server.trouble !== undefined) return 'does not answer; the own index does'
  return `${server.version ?? 'unknown'}, ${server.latencyMs.toLocaleString('en')} ms`
}

/** What is wrong now, or what was wrong last and how long ago. */
export function lastTrouble(server: TeamServer, now: number): string | undefined {
  if (server.trouble !== undefined) return server.trouble
  const last = server.lastTrouble
  return last && `${relativeTime(last.at, now)}: ${last.text}`
}
