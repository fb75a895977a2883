// The open tabs, kept in the browser's storage, and the highest state among them.

import { createEffect, createMemo, createSignal } from 'solid-js'
import { highest } from './attention'
import type { Owners } from './owners'
import { closeTab, moveTab, neighbour, openTab, readTabs, type Tabs } from './tabs'

const TABS_KEY = 'chartroom.tabs'

export type OpenTabs = ReturnType<typeof createOpenTabs>

export function createOpenTabs(others: Pick<Owners, 'conversations'>) {
  const [all, setAll] = createSignal<Tabs>(readTabs(localStorage.getItem(TABS_KEY)))
  createEffect(() => localStorage.setItem(TABS_KEY, JSON.stringify(all())))

  const [unread, setUnread] = createSignal<ReadonlySet<string>>(new Set<string>())
  /** Closed here, the last one at the end. */
  let closed: string[] = []
  const select = (sessionId: string) => setAll(tabs => openTab(tabs, sessionId))

  return {
    /** The sessions with a tab, in order. */
    open: () => all().open,
    /** The session that is shown. */
    active: () => all().active,
    select,
    close: (sessionId: string) => {
      if (all().open.includes(sessionId)) closed = [...closed.filter(other => other !== sessionId), sessionId]
      setAll(tabs => closeTab(tabs, sessionId))
      others.conversations.forget(sessionId)
    },
    move: (sessionId: string, index: number) => setAll(tabs => moveTab(tabs, sessionId, index)),
    step: (by: number) => {
      const next = neighbour(all(), by)
      if (next) select(next)
    },
    /** Whether a session finished while nobody looked. */
    isUnread: (sessionId: string) => unread().has(sessionId),
    setUnread: (sessionId: string, is: boolean) =>
      setUnread(before => {
        if (before.has(sessionId) === is) return before
        const after = new Set(before)
        if (is) after.add(sessionId)
        else after.delete(sessionId)
        return after
      }),
    /** Shows the tab at a place, the first being 1; 9 is the last. */
    selectAt: (place: number) => {
      const { open } = all()
      const sessionId = place === 9 ? open.at(-1) : open[place - 1]
      if (sessionId) select(sessionId)
    },
    /** Opens the tab that was closed last. */
    reopen: () => {
      const sessionId = closed.pop()
      if (sessionId) select(sessionId)
    },
    /** The highest state of all tabs, for the browser's own title and icon. */
    attention: createMemo(() => highest(all().open.map(others.conversations.stateOf))),
  }
}
