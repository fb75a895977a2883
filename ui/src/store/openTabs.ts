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

  const select = (sessionId: string) => setAll(tabs => openTab(tabs, sessionId))

  return {
    /** The sessions with a tab, in order. */
    open: () => all().open,
    /** The session that is shown. */
    active: () => all().active,
    select,
    close: (sessionId: string) => {
      setAll(tabs => closeTab(tabs, sessionId))
      others.conversations.forget(sessionId)
    },
    move: (sessionId: string, index: number) => setAll(tabs => moveTab(tabs, sessionId, index)),
    step: (by: number) => {
      const next = neighbour(all(), by)
      if (next) select(next)
    },
    /** The highest state of all tabs, for the browser's own title and icon. */
    attention: createMemo(() => highest(all().open.map(others.conversations.stateOf))),
  }
}
