// A commit message that the session's agent proposes: a message in the conversation like any other, and its answer.

import { createEffect, createRoot } from 'solid-js'
import type { ChangedFile } from '../protocol'
import type { Session } from './session'

/** So many names are told; the agent can look for the rest. */
const MAX_NAMES = 40

/** What the agent is asked. */
export function question(files: readonly Pick<ChangedFile, 'path'>[]): string {
  const names = files.slice(0, MAX_NAMES).map(file => `- ${file.path}`)
  const more = files.length > MAX_NAMES ? [`- and ${files.length - MAX_NAMES} more`] : []
  return [
    'Propose a commit message for these changes. Change nothing, and answer with the message alone, in one code block: a first line of at most 72 characters, and a body only where the reason is not plain.',
    '',
    ...names,
    ...more,
  ].join('\n')
}

/** The message in an answer: what stands in its code block, or all of it. */
export function messageIn(answer: string): string {
  const block = /(?:^|\n)(`{3,})[^\n]*\n([\s\S]*?)\n?\1(?=\s*(?:\n|$))/.exec(answer)
  return (block?.[2] ?? answer).trim()
}

/** Waits for the end of a turn; answers what the agent said last in it, or why it said nothing. */
export function answerOf(session: Session, turnId: string): Promise<string> {
  return new Promise((resolve, reject) =>
    createRoot(dispose => {
      createEffect(() => {
        const end = session.turns().get(turnId)?.end
        if (!end) return
        dispose()
        const said = [...session.log.items.values()].findLast(
          item =>
            item.type === 'message' &&
            item.origin !== 'user' &&
            item.turnId === turnId &&
            item.parentCallId === undefined &&
            item.content.trim() !== '',
        )
        if (said?.type === 'message') resolve(said.content)
        else reject(new Error('the agent ended without an answer'))
      })
    }),
  )
}
