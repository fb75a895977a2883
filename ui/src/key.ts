// The page's key: what each request carries beside the cookie, which goes to every port of this host. The browser keeps the
// key for this origin alone, port included, for every tab of it.

import type { EnterParams, EnterResponse } from './protocol'

const NAME = 'chartroom.key'
const CODE = /^#enter=([0-9a-f]+)$/

/** For a browser that keeps nothing: the key of this page until it is closed. */
let unkept: string | undefined

/** The key, as the last link that was opened in this browser left it. */
export function pageKey(): string | undefined {
  try {
    return localStorage.getItem(NAME) ?? unkept
  } catch {
    return unkept
  }
}

/** The headers of a request. */
export function keyHeaders(): Record<string, string> {
  const key = pageKey()
  return key === undefined ? {} : { 'x-chartroom-key': key }
}

/** The protocols of the socket, which takes no headers: the one that we speak, and the key in the place of another. */
export function keyProtocols(): string[] {
  const key = pageKey()
  return key === undefined ? [] : ['chartroom', `chartroom.key.${key}`]
}

/** Asks for the key when a launch link has just let this browser in: its code is in the address, and leaves it first. */
export async function enter(): Promise<void> {
  const code = CODE.exec(location.hash)?.[1]
  if (code === undefined) return
  history.replaceState(null, '', location.pathname)
  const params: EnterParams = { code }
  const headers = { 'content-type': 'application/json' }
  try {
    const response = await fetch('/api/enter', { method: 'POST', headers, body: JSON.stringify(params) })
    if (!response.ok) return
    const { key } = (await response.json()) as EnterResponse
    unkept = key
    localStorage.setItem(NAME, key)
  } catch {
    // Without an answer there is no key: the page says so, as to anybody without one. Without room to keep it, this
    // page has it.
  }
}
