// Which file the desk shows of each session, and where a person has come from: going to a definition has a way back.

import { createSignal } from 'solid-js'

export interface FileSpot {
  path: string
  /** From 1. */
  line: number
}

export interface FileTrail {
  /** What is shown. */
  at(): FileSpot | undefined
  go(spot: FileSpot): void
  canGoBack(): boolean
  back(): void
}

/** A longer way back nobody goes. */
const LONGEST = 50
const trails = new Map<string, FileTrail>()

/** The trail of a session, which outlives the view. */
export function fileTrail(sessionId: string): FileTrail {
  const known = trails.get(sessionId)
  if (known) return known
  const [spots, setSpots] = createSignal<FileSpot[]>([])
  const trail: FileTrail = {
    at: () => spots().at(-1),
    go: spot => {
      const now = spots().at(-1)
      if (now?.path === spot.path && now.line === spot.line) setSpots(all => [...all.slice(0, -1), spot])
      else setSpots(all => [...all, spot].slice(-LONGEST))
    },
    canGoBack: () => spots().length > 1,
    back: () => setSpots(all => (all.length > 1 ? all.slice(0, -1) : all)),
  }
  trails.set(sessionId, trail)
  return trail
}
