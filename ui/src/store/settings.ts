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
export const [notifications, setNotifications] = stored('notifications', false)
export const [sound, setSound] = stored('sound', false)
export const [lastAgent, setLastAgent] = stored<string | undefined>('lastAgent', undefined)
