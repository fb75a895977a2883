// The open tabs: which sessions, in which order, which one is shown. Pure; kept in the browser's storage.

export interface Tabs {
  open: string[]
  active: string | undefined
}

export const NO_TABS: Tabs = { open: [], active: undefined }

export function openTab(tabs: Tabs, sessionId: string): Tabs {
  return {
    open: tabs.open.includes(sessionId) ? tabs.open : [...tabs.open, sessionId],
    active: sessionId,
  }
}

/** Closes a tab; the one that takes its place is its right neighbour, else its left one. */
export function closeTab(tabs: Tabs, sessionId: string): Tabs {
  const at = tabs.open.indexOf(sessionId)
  if (at < 0) return tabs
  const open = tabs.open.filter(other => other !== sessionId)
  const active = tabs.active === sessionId ? (open[at] ?? open[at - 1]) : tabs.active
  return { open, active }
}

/** Moves a tab so that it stands at `index`. */
export function moveTab(tabs: Tabs, sessionId: string, index: number): Tabs {
  if (!tabs.open.includes(sessionId)) return tabs
  const open = tabs.open.filter(other => other !== sessionId)
  open.splice(Math.max(0, Math.min(index, open.length)), 0, sessionId)
  return { ...tabs, open }
}

/** The tab `step` places away, around the ends. */
export function neighbour(tabs: Tabs, step: number): string | undefined {
  if (tabs.open.length === 0) return undefined
  const at = tabs.active === undefined ? 0 : tabs.open.indexOf(tabs.active)
  return tabs.open[(at + step + tabs.open.length) % tabs.open.length]
}

export function readTabs(text: string | null): Tabs {
  try {
    const { open, active } = JSON.parse(text ?? '') as Tabs
    if (!Array.isArray(open)) return NO_TABS
    const ids = [...new Set(open.filter(id => typeof id === 'string'))]
    return { open: ids, active: ids.includes(active ?? '') ? active : ids[0] }
  } catch {
    return NO_TABS
  }
}
