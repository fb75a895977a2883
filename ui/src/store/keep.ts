// Keep or undo: how the repository of a session's folder stands, what is done to it, and what of that can be undone.

import { createEffect, createResource, createSignal, on } from 'solid-js'
import * as git from '../gitApi'
import type {
  ChangedFile,
  CommitParams,
  KeepParams,
  Project,
  PullRequestResponse,
  StatusFile,
  SwitchParams,
  UndoableAct,
} from '../protocol'
import { visible } from '../text/escape'
import { plural } from '../text/format'
import type { ChangesStore } from './changes'
import { settled } from './settled'

export type KeepStore = ReturnType<typeof createKeep>

/** What git, a hook or a forge's program said. */
export interface Said {
  title: string
  text: string
  failed: boolean
  link?: { name: string; url: string }
}

export function createKeep(
  changes: ChangesStore,
  project: () => Project,
  /** A session that was archived with what is undone is back. */
  onSession: (act: UndoableAct) => void,
) {
  const { sessionId } = changes.session
  const place = { projectId: project().projectId, sessionId }
  const isRepository = () => changes.scopes()?.repository ?? false
  const isTrusted = () => project().trusted
  const [status, { refetch: look }] = createResource(
    () => isTrusted() && isRepository(),
    () => git.repository(place),
  )
  const [acts, { refetch: lookForActs }] = createResource(() => git.undoable(sessionId))
  const [said, setSaid] = createSignal<Said | undefined>()
  const [busy, setBusy] = createSignal(false)

  // What is listed anew may be staged anew.
  createEffect(on(changes.all, () => void look(), { defer: true }))

  function lookAgain(): void {
    changes.refresh()
    void look()
    void lookForActs()
  }

  /** One at a time; what fails is told where the answers of git stand. */
  async function attempt<T>(title: string, work: () => Promise<T>): Promise<T | undefined> {
    if (busy()) return undefined
    setBusy(true)
    try {
      return await work()
    } catch (error) {
      setSaid({ title, text: (error as Error).message, failed: true })
      return undefined
    } finally {
      setBusy(false)
      lookAgain()
    }
  }

  async function keep(
    act: 'stage' | 'unstage' | 'revert',
    what: string,
    params: KeepParams,
  ): Promise<boolean> {
    const title = `${what} not ${act === 'revert' ? 'reverted' : `${act}d`}`
    setSaid(undefined)
    const done = await attempt(title, () => git.keep(place, act, params))
    if (done && !done.done) setSaid({ title, text: done.reason ?? '', failed: true })
    return done?.done ?? false
  }

  async function commit(params: CommitParams): Promise<boolean> {
    setSaid(undefined)
    const done = await attempt('Not committed', () => git.commit(place, params))
    if (!done) return false
    if (!done.committed) setSaid({ title: 'Not committed', text: done.output, failed: true })
    else {
      const title = `${params.amend ? 'Amended' : 'Committed'} ${done.commit?.slice(0, 9) ?? ''}`
      setSaid({ title, text: done.output, failed: false })
    }
    return done.committed
  }

  async function switchTo(params: SwitchParams): Promise<boolean> {
    setSaid(undefined)
    const done = await attempt('Not switched', () => git.switchBranch(place, params))
    if (done && !done.done) setSaid({ title: 'Not switched', text: done.output, failed: true })
    return done?.done ?? false
  }

  async function push(): Promise<void> {
    setSaid(undefined)
    const done = await attempt('Not pushed', () => git.push(place))
    if (done) setSaid({ title: done.done ? 'Pushed' : 'Not pushed', text: done.output, failed: !done.done })
  }

  async function pullRequest(): Promise<void> {
    setSaid(undefined)
    const done = await attempt('No pull request', () => git.pullRequest(place, {}))
    if (done) setSaid(requested(done))
  }

  async function undo(act: UndoableAct | undefined = newest()): Promise<void> {
    if (!act) return
    setSaid(undefined)
    const done = await attempt('Not undone', () => git.undo(sessionId, act.act))
    if (!done) return
    const conflicts = done.files?.conflicts ?? []
    if (!done.done) setSaid({ title: 'Not undone', text: done.reason ?? '', failed: true })
    else if (conflicts.length > 0) {
      const text = `Left alone, because it was changed since: ${conflicts.map(visible).join(', ')}`
      setSaid({ title: `Undone: ${act.what}`, text, failed: false })
    } else setSaid({ title: `Undone: ${act.what}`, text: '', failed: false })
    if (done.done) onSession(act)
  }

  const newest = (): UndoableAct | undefined => settled(acts)?.acts[0]
  const files = () => settled(status)?.files ?? []
  const byPath = () => new Map(files().map(file => [file.path, file]))

  return {
    isRepository,
    isTrusted,
    status: () => settled(status),
    /** Why git cannot be asked. */
    error: () => (status.state === 'errored' ? (status.error as Error).message : undefined),
    place,
    busy,
    said,
    setSaid,
    acts: () => settled(acts)?.acts ?? [],
    newest,
    undo,
    of: (file: ChangedFile): StatusFile | undefined => byPath().get(file.path),
    nStaged: () => files().filter(file => file.staged).length,
    conflicts: () => files().filter(file => file.conflicted),
    stage: (what: string, params: KeepParams) => keep('stage', what, params),
    unstage: (what: string, params: KeepParams) => keep('unstage', what, params),
    revert: (what: string, params: KeepParams) => keep('revert', what, params),
    commit,
    switchTo,
    push,
    pullRequest,
    lookAgain,
  }
}

function requested({ made, url, output }: PullRequestResponse): Said {
  const link = url === undefined ? {} : { link: { name: made ? url : 'Make it on the forge’s page', url } }
  return {
    title: made ? 'The pull request is made' : 'No pull request was made',
    text: output,
    // Without the forge's program the page of the forge is the way, and no failure.
    failed: !made && url === undefined,
    ...link,
  }
}

/** What reverting the files of a scope means to the server; nothing where only hunks can be named. */
export function revertOf(changes: ChangesStore, files: readonly ChangedFile[]): KeepParams | undefined {
  const scope = changes.scope()
  const paths = pathsOf(files)
  const session = changes.session.sessionId
  if (scope.kind === 'uncommitted') return { paths }
  if (scope.kind === 'session') return { paths, turn: { session } }
  if (scope.kind !== 'turn') return undefined
  const turn = scope.turn ?? changes.scopes()?.turns.at(-1)
  return turn === undefined ? undefined : { paths, turn: { session, turn } }
}

/** Of a renamed file both names. */
export const pathsOf = (files: readonly ChangedFile[]): string[] =>
  files.flatMap(file => (file.from === undefined ? [file.path] : [file.from, file.path]))

/** What is meant, and whether it is one. */
export const countOf = (files: readonly ChangedFile[]): string =>
  files.length === 1 ? `${visible(files[0]?.path ?? '')} is` : `${plural(files.length, 'file')} are`
