// A conversation as a whole, with what the page has not read yet: copied as Markdown, printed.

import { createComponent, render } from 'solid-js/web'
import { type Owners, OwnersProvider } from '../store/owners'
import type { Session } from '../store/session'
import { transcript } from '../text/transcript'
import { copyText } from './copy'
import { Markdown } from './Markdown'
import { agentName } from './marks'

/** Reads every earlier page; stops at one that does not come. */
export async function readAll(
  { conversations }: Pick<Owners, 'conversations'>,
  session: Session,
): Promise<void> {
  for (let before = session.earlier(); before !== undefined; ) {
    await conversations.loadEarlier(session)
    const now = session.earlier()
    if (now === before) throw new Error('the earlier messages did not come')
    before = now
  }
}

function markdownOf({ sessions }: Pick<Owners, 'sessions'>, session: Session): string {
  const { sessionId } = session
  return transcript(session.log, sessions.titleOf(sessionId), agentName(sessions.known[sessionId]?.cliType))
}

export async function copyConversation(
  owners: Pick<Owners, 'conversations' | 'sessions'>,
  session: Session,
): Promise<void> {
  await readAll(owners, session)
  await copyText(markdownOf(owners, session))
}

export async function printConversation(owners: Owners, session: Session): Promise<void> {
  await readAll(owners, session)
  const remove = showForPrint(owners, session)
  try {
    window.print()
  } finally {
    remove()
  }
}

/** Puts the whole conversation beside the page; the style sheet prints it in the page's place. */
function showForPrint(owners: Owners, session: Session): () => void {
  const paper = document.createElement('div')
  paper.className = 'paper'
  document.body.append(paper)
  const text = markdownOf(owners, session)
  const dispose = render(
    () =>
      createComponent(OwnersProvider, {
        value: owners,
        get children() {
          return createComponent(Markdown, { text, streaming: false })
        },
      }),
    paper,
  )
  return () => {
    dispose()
    paper.remove()
  }
}
