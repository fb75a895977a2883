// Keeps the browser's address on what is shown, and goes where an address, Back or Forward lead.

import { createEffect, on, onCleanup, onMount, untrack } from 'solid-js'
import { addressOf, type Place, placeOf } from '../store/address'
import type { Owners } from '../store/owners'

export function watchAddress(
  { intents, lists, notices, projects, tabs }: Owners,
  openSearch: (query: string) => void,
): void {
  let going = false
  const goToFile = (place: Extract<Place, { kind: 'file' }>) => {
    const project =
      place.projectId === undefined
        ? projects.ofSession(tabs.active())
        : projects.list.find(project => project.projectId === place.projectId)
    if (project) intents.showPlace({ project, path: place.path, line: place.line })
    else notices.notify('This link leads to a file of a project that is not here.', 'error')
  }
  const go = (place: Place | undefined) => {
    if (place?.kind !== 'file') intents.showPlace(undefined)
    if (place?.kind === 'session') {
      going = true
      tabs.select(place.sessionId)
      going = false
      intents.showTurn(place.turnId)
    } else if (place?.kind === 'file') whenLoaded(() => goToFile(place))
    else if (place?.kind === 'search') openSearch(place.query)
    else if (place?.kind === 'home' && tabs.active() !== undefined) remember(tabs.active(), 'replaceState')
  }
  const remember = (sessionId: string | undefined, how: 'pushState' | 'replaceState') => {
    const place = sessionPlace(sessionId)
    const here = placeOf(location.hash)
    const same = here?.kind === place.kind && (here.kind !== 'session' || here.sessionId === sessionId)
    if (!same) history[how](null, '', addressOf(place))
  }
  /** A link may be opened before the page knows any project. */
  const whenLoaded = (then: () => void) => {
    if (untrack(lists.loaded)) then()
    else waiting = then
  }
  let waiting: (() => void) | undefined
  createEffect(() => {
    if (!lists.loaded()) return
    waiting?.()
    waiting = undefined
  })
  createEffect(
    on(
      intents.placeShown,
      shown => {
        const here = placeOf(location.hash)
        if (!shown) {
          if (here?.kind === 'file') history.pushState(null, '', addressOf(sessionPlace(tabs.active())))
          return
        }
        const { path, line } = shown
        const address = addressOf({ kind: 'file', projectId: shown.project.projectId, path, line })
        // A link in a text has no project yet; the address gets it, and Back skips the link.
        if (location.hash !== address)
          history[here?.kind === 'file' ? 'replaceState' : 'pushState'](null, '', address)
      },
      { defer: true },
    ),
  )
  // The address that the page is opened with decides; the tabs of the last visit only without one.
  const first = placeOf(location.hash)
  if (first && first.kind !== 'home') go(first)
  createEffect(
    on(tabs.active, (sessionId, before) => {
      if (untrack(() => going)) return
      remember(sessionId, before === undefined ? 'replaceState' : 'pushState')
    }),
  )
  const onMove = () => go(placeOf(location.hash))
  onMount(() => {
    addEventListener('popstate', onMove)
    onCleanup(() => removeEventListener('popstate', onMove))
  })
}

const sessionPlace = (sessionId: string | undefined): Place =>
  sessionId === undefined ? { kind: 'home' } : { kind: 'session', sessionId }
