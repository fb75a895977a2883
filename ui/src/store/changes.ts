// What is compared in the changes view, the files that differ, and which of them is looked at.

import { createEffect, createMemo, createResource, createSignal, on, onCleanup } from 'solid-js'
import * as api from '../api'
import type { ChangedFile, Changes } from '../protocol'
import type { Session } from './session'
import { settled } from './settled'

export type ChangesStore = ReturnType<typeof createChanges>

/** What is compared with the files as they are, or as a turn has left them. */
export type Scope =
  | { kind: 'turn'; turn?: string }
  | { kind: 'session' }
  | { kind: 'looked' }
  | { kind: 'uncommitted' }
  | { kind: 'branch'; name: string }

/** While the agent works, files change without a word. */
const WORKING_REFRESH_MS = 4_000

export function scopeName(scope: Scope): string {
  switch (scope.kind) {
    case 'turn':
      return scope.turn === undefined ? 'This turn' : 'One turn'
    case 'session':
      return 'This session'
    case 'looked':
      return 'Since I last looked'
    case 'uncommitted':
      return 'Uncommitted'
    case 'branch':
      return `Against ${scope.name}`
  }
}

export function scopeQuery(scope: Scope): Record<string, string> {
  if (scope.kind === 'branch') return { scope: scope.name }
  return scope.kind === 'turn' && scope.turn !== undefined
    ? { scope: 'turn', turn: scope.turn }
    : { scope: scope.kind }
}

export function createChanges(session: Session) {
  const [scope, setScope] = createSignal<Scope>({ kind: 'session' })
  const ask = (scope: Scope, quick: boolean) =>
    api.changes(session.sessionId, { ...scopeQuery(scope), ...(quick ? { quick: 'true' } : {}) })
  const [answer, { refetch, mutate }] = createResource<Changes, Scope>(
    scope,
    async (asked, { refetching }) => {
      // What is counted already is counted again; otherwise very many files are shown before their lines are counted.
      const changes = await ask(asked, !refetching)
      if (changes.uncounted) {
        const count = async () => {
          const counted = await ask(asked, false)
          if (scope() === asked) mutate(counted)
        }
        void count().catch(() => {})
      }
      return changes
    },
  )
  const [scopes, { refetch: lookForScopes }] = createResource(() => api.changeScopes(session.sessionId))
  const [wanted, setWanted] = createSignal<string | undefined>()
  const [filter, setFilter] = createSignal('')

  // What a turn has done is there when it has ended; until then the files are looked at now and again.
  const isWorking = createMemo(() => session.state().state === 'working')
  createEffect(
    on(
      isWorking,
      () => {
        void refetch()
        void lookForScopes()
      },
      { defer: true },
    ),
  )
  createEffect(() => {
    if (!isWorking()) return
    const timer = setInterval(() => !document.hidden && void refetch(), WORKING_REFRESH_MS)
    onCleanup(() => clearInterval(timer))
  })

  const changes = () => settled(answer)
  const all = createMemo<ChangedFile[]>(() => changes()?.files ?? [])
  const files = createMemo(() => {
    const words = filter().toLowerCase().split(/\s+/).filter(Boolean)
    if (words.length === 0) return all()
    return all().filter(file => words.every(word => file.path.toLowerCase().includes(word)))
  })
  /** The chosen file, or the first: one that changes no more gives way. */
  const shown = createMemo(() => files().find(file => file.path === wanted()) ?? files()[0])
  const step = (by: number): boolean => {
    const at = files().findIndex(file => file.path === shown()?.path)
    const next = files()[at + by]
    if (next) setWanted(next.path)
    return next !== undefined
  }
  return {
    session,
    scope,
    setScope,
    scopes: () => settled(scopes),
    isLoading: () => answer.loading,
    /** Why there is nothing to show. */
    error: () => (answer.state === 'errored' ? (answer.error as Error).message : undefined),
    isReady: () => changes() !== undefined,
    isCounted: () => changes()?.uncounted !== true,
    all,
    files,
    filter,
    setFilter,
    shown,
    /** Whether a person has chosen a file: on a phone it is shown instead of the list. */
    chosen: wanted,
    choose: setWanted,
    step,
    refresh: () => void refetch(),
  }
}
