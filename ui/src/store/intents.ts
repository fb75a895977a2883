// What one view asks of another: a dialog to open, text to put into the message being written.

import { createSignal } from 'solid-js'
import type { Project } from '../protocol'

export type Intents = ReturnType<typeof createIntents>

export function createIntents() {
  /** The folder that is asked about, and what goes on once it is trusted. */
  const [trustAsked, askTrust] = createSignal<{ project: Project; next?: () => void } | undefined>()
  /** The session whose new name is asked for. */
  const [renaming, askName] = createSignal<string | undefined>()
  /** The place in a file that is looked at. */
  const [placeShown, showPlace] = createSignal<{ project: Project; path: string; line: number } | undefined>()
  /** Text that something else than the keyboard puts into the message being written. */
  const [inserted, setInserted] = createSignal<{ text: string } | undefined>()

  /** A turn that an address leads to. */
  const [turnShown, setTurnShown] = createSignal<{ turnId: string } | undefined>()
  /** The browsers that were let in are shown. */
  const [devicesShown, showDevices] = createSignal(false)
  /** The message that somebody wants to go back to before. */
  const [rewindAsked, askRewind] = createSignal<{ sessionId: string; turnId: string } | undefined>()
  /** The project in which somebody begins something that is asked about first: a session, or several tries. */
  const [beginAsked, askBegin] = createSignal<
    { project: Project; what: 'session' | 'tries'; cliType?: string } | undefined
  >()
  /** The worktree that is brought back or removed, by its project. */
  const [worktreeShown, showWorktree] = createSignal<Project | undefined>()
  /** The conversation is searched. */
  const [finding, setFinding] = createSignal(false)

  return {
    devicesShown,
    showDevices,
    beginAsked,
    askBegin,
    worktreeShown,
    showWorktree,
    rewindAsked,
    askRewind,
    turnShown,
    showTurn: (turnId: string | undefined) => setTurnShown(turnId === undefined ? undefined : { turnId }),
    finding,
    setFinding,
    trustAsked,
    askTrust,
    renaming,
    askName,
    placeShown,
    showPlace,
    inserted,
    insert: (text: string) => setInserted({ text }),
  }
}
