// What a person chose on this browser: theme, folded panels, notifications, the agent used last.

import { createEffect, createRoot, createSignal, type Signal } from 'solid-js'

function stored<T>(name: string, initial: T): Signal<T> {
  const key = `chartroom.${name}`
  let value = initial
  try {
    const text = localStorage.getItem(key)
    if (text !== null) value = JSON.parse(text) as T
  } catch {
    // A broken entry is as good as none.
  }
  return createRoot(() => {
    const signal = createSignal<T>(value)
    createEffect(() => {
      try {
        localStorage.setItem(key, JSON.stringify(signal[0]()))
      } catch {
        // Storage is full or forbidden: the choice lasts until the page is closed.
      }
    })
    return signal
  })
}

export type Theme = 'system' | 'light' | 'dark'

export const [theme, setTheme] = stored<Theme>('theme', 'system')
export const [sidebarOpen, setSidebarOpen] = stored('sidebar', true)
export const [sidebarWidth, setSidebarWidth] = stored('sidebarWidth', 240)
export const [inspectorOpen, setInspectorOpen] = stored('inspector', true)
/** The desk's tab that stands beside the conversation, if one does. */
export const [deskTab, setDeskTab] = stored<string | undefined>('desk', undefined)
/** How wide a person has made the desk. */
export const [deskWidth, setDeskWidth] = stored<number | undefined>('deskWidth', undefined)
/** How a change is shown: one column, or what was beside what is. */
export const [diffView, setDiffView] = stored<'unified' | 'split'>('diffView', 'unified')
export const [notifications, setNotifications] = stored('notifications', false)
export const [sound, setSound] = stored('sound', false)
/** The projects, by path, whose new sessions work in a worktree of their own. */
export const [inWorktrees, setInWorktrees] = stored<Record<string, boolean>>('inWorktrees', {})
export const [lastAgent, setLastAgent] = stored<string | undefined>('lastAgent', undefined)
