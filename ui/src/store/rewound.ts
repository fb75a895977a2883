// A session that went back to before a message: the notice that undoes it, which a reload brings again.

import * as git from '../gitApi'
import type { UndoableAct } from '../protocol'
import { visible } from '../text/escape'
import type { Owners } from './owners'

/** A rewind of the day before is no news any more; the changes view still lists it. */
const NEWS_MS = 24 * 3_600_000
const PUT_AWAY = 'chartroom.putAway'

type Needed = Pick<Owners, 'notices' | 'sessions' | 'tabs'>

/** Undoes an act in whose place a session may stand that was archived with it. */
export async function undoRewind(owners: Needed, sessionId: string, act: UndoableAct): Promise<void> {
  const { notices, sessions, tabs } = owners
  await notices.attempt('It was not undone', async () => {
    const done = await git.undo(sessionId, act.act)
    if (!done.done) throw new Error(done.reason ?? 'it does not fit any more')
    const left = done.files?.conflicts ?? []
    const words =
      left.length > 0 ? `; left alone, because it changed since: ${left.map(visible).join(', ')}` : ''
    notices.notify(`Undone: ${act.what}${words}`)
    await backTo(owners, act)
    if (act.archived === undefined) await sessions.refreshAround(sessionId)
    else tabs.select(act.archived)
  })
}

/** Shows the session again that was archived, in the place of the one that was made. */
export async function backTo({ sessions, tabs }: Needed, act: UndoableAct): Promise<void> {
  if (act.archived === undefined) return
  sessions.patch(act.archived, { archived: false })
  await sessions.refreshAround(act.archived)
  tabs.select(act.archived)
  if (act.made !== undefined) tabs.close(act.made)
}

/** Says that a session went back, with the way to undo it, until somebody puts that away. */
export function tellRewind(owners: Needed, sessionId: string, act: UndoableAct, text: string): void {
  owners.notices.notify(
    text,
    'info',
    { name: 'Undo', run: () => void undoRewind(owners, sessionId, act) },
    true,
    () => putAway(act.act),
  )
}

/** Tells the last rewind of a session again. */
export async function tellAgain(owners: Needed, sessionId: string): Promise<void> {
  const { acts } = await git.undoable(sessionId)
  const act = acts.find(act => act.rewound === sessionId || act.made === sessionId)
  if (!act || Date.now() - act.at > NEWS_MS || isPutAway(act.act)) return
  tellRewind(owners, sessionId, act, 'This session went back to before a message.')
}

function isPutAway(act: string): boolean {
  return (localStorage.getItem(PUT_AWAY) ?? '').split(' ').includes(act)
}

function putAway(act: string): void {
  const known = (localStorage.getItem(PUT_AWAY) ?? '').split(' ').slice(-19)
  try {
    localStorage.setItem(PUT_AWAY, [...known, act].join(' '))
  } catch {
    // Then it is told once more.
  }
}
