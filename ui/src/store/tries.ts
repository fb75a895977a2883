// Several tries of one message: which there are, and which one is looked at. The strip that shows them is loaded when it is.

import { createSignal } from 'solid-js'
import { createStore, reconcile } from 'solid-js/store'
import * as api from '../api'
import type { Tries as OfOne } from '../protocol'

export type Tries = ReturnType<typeof createTries>

export function createTries() {
  /** By project. */
  const [known, setKnown] = createStore<Record<string, OfOne[]>>({})
  /** Those that are shown though no session of theirs is. */
  const [pinned, pin] = createSignal<string | undefined>()
  const all = () => Object.values(known).flat()

  /** How often something newer than a list that is under way has come. */
  let puts = 0

  async function refresh(projectId: string): Promise<void> {
    const before = puts
    const { tries } = await api.tries(projectId)
    // It was asked before what is known now: new tries would be gone again.
    if (before !== puts) return refresh(projectId)
    setKnown(projectId, reconcile(tries, { key: 'triesId' }))
  }

  return {
    /** Those of a project of which none was kept yet. */
    open: (projectId: string): OfOne[] => (known[projectId] ?? []).filter(one => one.kept === undefined),
    /** What the strip shows beside a session. */
    shown: (sessionId: string | undefined): OfOne | undefined => {
      const open = all().filter(one => one.kept === undefined)
      const own = open.find(one => one.tries.some(other => other.sessionId === sessionId))
      return (sessionId === undefined ? undefined : own) ?? open.find(one => one.triesId === pinned())
    },
    put: (tries: OfOne) => {
      puts += 1
      const others = (known[tries.projectId] ?? []).filter(one => one.triesId !== tries.triesId)
      setKnown(tries.projectId, reconcile([tries, ...others], { key: 'triesId' }))
    },
    pin,
    refresh,
  }
}
