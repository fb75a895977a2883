// Which parts of a conversation a person opened or folded. Kept beside the session, because the list takes rows
// out of the page when they are out of sight.

import { createSignal, type Signal } from 'solid-js'
import type { Session } from '../store/session'

const folds = new WeakMap<Session, Map<string, Signal<boolean | undefined>>>()

/** `[isOpen, toggle]`; `natural` decides until the person does. */
export function createFold(
  session: Session,
  key: string,
  natural: () => boolean,
): [() => boolean, () => void] {
  let ofSession = folds.get(session)
  if (!ofSession) {
    ofSession = new Map()
    folds.set(session, ofSession)
  }
  let signal = ofSession.get(key)
  if (!signal) {
    signal = createSignal<boolean | undefined>()
    ofSession.set(key, signal)
  }
  const [chosen, choose] = signal
  const isOpen = () => chosen() ?? natural()
  return [isOpen, () => choose(!isOpen())]
}
