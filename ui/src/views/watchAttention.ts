// Tells a person who looks elsewhere that a session needs them or has finished: notification and sound, if asked for.

import { createEffect, createMemo, on } from 'solid-js'
import type { SessionState } from '../protocol'
import type { App } from '../store/app'
import { notifications, sound } from '../store/settings'

export function watchAttention(app: App): void {
  const states = createMemo(() => app.tabs().open.map(id => [id, app.stateOf(id)] as const))
  createEffect(
    on(states, (now, before) => {
      const was = new Map<string, SessionState>(before ?? [])
      for (const [sessionId, state] of now) {
        const previous = was.get(sessionId)
        if (previous === undefined || previous === state) continue
        if (state === 'needs_you') tell(app, sessionId, 'needs you')
        else if (state === 'open' && previous === 'working') tell(app, sessionId, 'has finished')
        else if (state === 'dead' && previous !== 'loading') tell(app, sessionId, 'has ended')
      }
    }),
  )
}

function tell(app: App, sessionId: string, what: string): void {
  if (document.hasFocus() && app.tabs().active === sessionId) return
  if (sound()) chime()
  if (!notifications() || !('Notification' in window) || Notification.permission !== 'granted') return
  const notification = new Notification(`${app.titleOf(sessionId)} ${what}`, {
    body: app.projectOf(sessionId)?.name ?? '',
    tag: sessionId,
  })
  notification.onclick = () => {
    window.focus()
    app.select(sessionId)
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
