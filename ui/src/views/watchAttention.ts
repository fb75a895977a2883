// Tells a person who looks elsewhere that a session needs them or has finished: notification and sound, if asked for.

import { createEffect, createMemo, on } from 'solid-js'
import type { SessionState } from '../protocol'
import type { Owners } from '../store/owners'
import { notifications, sound } from '../store/settings'

type Watched = Pick<Owners, 'conversations' | 'projects' | 'sessions' | 'tabs'>

export function watchAttention(watched: Watched): void {
  const states = createMemo(() =>
    watched.tabs.open().map(id => [id, watched.conversations.stateOf(id)] as const),
  )
  const look = () => {
    const active = watched.tabs.active()
    if (active && !document.hidden) watched.tabs.setUnread(active, false)
  }
  createEffect(on(watched.tabs.active, look))
  document.addEventListener('visibilitychange', look)
  createEffect(
    on(states, (now, before) => {
      const was = new Map<string, SessionState>(before ?? [])
      for (const [sessionId, state] of now) {
        const previous = was.get(sessionId)
        if (previous === undefined || previous === state) continue
        const away = document.hidden || watched.tabs.active() !== sessionId
        if (away && state === 'open' && previous === 'working') watched.tabs.setUnread(sessionId, true)
        if (state === 'needs_you') tell(watched, sessionId, 'needs you')
        else if (state === 'open' && previous === 'working') tell(watched, sessionId, 'has finished')
        else if (state === 'dead' && previous !== 'loading') tell(watched, sessionId, 'has ended')
      }
    }),
  )
}

function tell(watched: Watched, sessionId: string, what: string): void {
  if (document.hasFocus() && watched.tabs.active() === sessionId) return
  if (sound()) chime()
  if (!notifications() || !('Notification' in window) || Notification.permission !== 'granted') return
  const notification = new Notification(`${watched.sessions.titleOf(sessionId)} ${what}`, {
    body: watched.projects.ofSession(sessionId)?.name ?? '',
    tag: sessionId,
  })
  notification.onclick = () => {
    window.focus()
    watched.tabs.select(sessionId)
  }
}

/** Two short tones, made here: no file to load. */
function chime(): void {
  const audio = new AudioContext()
  for (const [at, frequency] of [
    [0, 660],
    [0.12, 880],
  ] as const) {
    const tone = audio.createOscillator()
    const level = audio.createGain()
    tone.frequency.value = frequency
    level.gain.setValueAtTime(0.06, audio.currentTime + at)
    level.gain.exponentialRampToValueAtTime(0.0001, audio.currentTime + at + 0.2)
    tone.connect(level).connect(audio.destination)
    tone.start(audio.currentTime + at)
    tone.stop(audio.currentTime + at + 0.2)
  }
  setTimeout(() => void audio.close(), 600)
}
