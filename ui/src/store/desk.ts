// What stands beside the conversation: nothing, or one of the desk's tabs, perhaps with a place to go to in it.

import { createSignal } from 'solid-js'
import { deskTab, setDeskTab } from './settings'

export type Desk = ReturnType<typeof createDesk>

/** Where a tab is asked to go, in the tab's own words: a turn, a file, a line. */
export type DeskPlace = Record<string, string>

export function createDesk() {
  const [place, setPlace] = createSignal<DeskPlace | undefined>()
  return {
    /** The tab that is shown; `undefined` while the desk is closed. */
    tab: deskTab,
    /** Where the shown tab is asked to go. Each call of `show` makes a new object, so that the same place can be asked for twice. */
    place,
    show: (tab: string, at?: DeskPlace) => {
      setPlace(at && { ...at })
      setDeskTab(tab)
    },
    close: () => setDeskTab(undefined),
    toggle: (tab: string) => {
      setPlace(undefined)
      setDeskTab(shown => (shown === tab ? undefined : tab))
    },
  }
}
