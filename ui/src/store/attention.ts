// What the browser's own title and icon say: the highest state of all tabs.

import type { SessionState } from '../protocol'

/** From the least to the most that a person should know about. */
const RANK: SessionState[] = ['open', 'loading', 'working', 'dead', 'needs_you']

export function highest(states: SessionState[]): SessionState {
  return states.reduce<SessionState>(
    (top, state) => (RANK.indexOf(state) > RANK.indexOf(top) ? state : top),
    'open',
  )
}

export function pageTitle(state: SessionState, title: string | undefined): string {
  const mark = { open: '', loading: '', working: '◐ ', dead: '✕ ', needs_you: '● needs you: ' }[state]
  return `${mark}${title ? `${title} · ` : ''}Chartroom`
}

export function pageIcon(state: SessionState): string {
  return `/icon-${state === 'loading' ? 'open' : state}.svg`
}

export function stateName(state: SessionState): string {
  return { open: 'ready', loading: 'loading', working: 'working', needs_you: 'needs you', dead: 'ended' }[
    state
  ]
}
