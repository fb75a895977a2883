// Whose terminals this browser tab follows, over a reload. Apart from the terminals themselves, whose code is large and is
// loaded only when there is one.

import type { ShellPlace } from './shells'

const NAME = 'chartroom.shells'

export function rememberShells(places: ShellPlace[]): void {
  try {
    if (places.length === 0) sessionStorage.removeItem(NAME)
    else sessionStorage.setItem(NAME, JSON.stringify(places))
  } catch {
    // A browser that keeps nothing finds its terminals when their tab is opened.
  }
}

export function followedShells(): ShellPlace[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(NAME) ?? '[]')
    return Array.isArray(kept) ? (kept as ShellPlace[]) : []
  } catch {
    return []
  }
}

/** After a reload: a terminal that nobody looks at would end. */
export function followShellsAgain(): void {
  if (followedShells().length > 0) void import('./shells').then(({ followAgain }) => followAgain())
}
