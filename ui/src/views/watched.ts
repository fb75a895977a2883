// What the inspector shows of the server, kept up to date while somebody looks.

import { createResource, onCleanup } from 'solid-js'
import { optional } from '../api'

const REFRESH_MS = 10_000

/** A route read now and again; `undefined` when this server does not have it. */
export function watched<T>(path: () => string, everyMs = REFRESH_MS) {
  const [answer, { refetch }] = createResource(path, path => optional<T>(path).catch(() => undefined))
  const timer = setInterval(() => {
    if (!document.hidden) void refetch()
  }, everyMs)
  onCleanup(() => clearInterval(timer))
  return [answer, () => void refetch()] as const
}
