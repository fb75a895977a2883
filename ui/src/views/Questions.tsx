// What the agent waits for: permissions and choices, above the composer, never in a window of their own.
//
// Keys 1, 2, 3 answer when the focus is not in a text, and Alt with them from anywhere; not in the first moment
// after a question appears, so that a word being typed cannot answer it.

import { createEffect, createSignal, type JSX, Match, on, onCleanup, onMount, Show, Switch } from 'solid-js'
import type { AnswerParams, Question } from '../protocol'
import { useConversations, useNotices, useServer } from '../store/owners'
import type { Session } from '../store/session'
import { returnFocus } from '../typing'
import { ChoiceForm } from './ChoiceForm'
import { Permission } from './Permission'

const SETTLE_MS = 400

export function Questions(props: { session: Session }) {
  const conversations = useConversations()
  const notices = useNotices()
  const server = useServer()
  const first = () => props.session.questions()[0]
  const more = () => props.session.questions().length - 1
  const [sent, setSent] = createSignal<string | undefined>()
  const answer = async (params: AnswerParams) => {
    setSent(params.questionId)
    await notices.attempt('The answer did not arrive', () =>
      conversations.answer(props.session.sessionId, params),
    )
    setSent(undefined)
  }
  return (
    <Show when={first()} keyed>
      {question => (
        <QuestionPanel question={question} more={more()}>
          {ready => (
            <Switch>
              <Match when={question.kind === 'permission' && question}>
                {permission => (
                  <Permission
                    session={props.session}
                    question={permission()}
                    busy={sent() === question.questionId || server.status() !== 'connected'}
                    ready={ready}
                    onAnswer={params => void answer(params)}
                  />
                )}
              </Match>
              <Match when={question.kind === 'choice' && question}>
                {choice => (
                  <ChoiceForm
                    question={choice()}
                    busy={sent() === question.questionId || server.status() !== 'connected'}
                    onAnswer={params => void answer(params)}
                  />
                )}
              </Match>
            </Switch>
          )}
        </QuestionPanel>
      )}
    </Show>
  )
}

function QuestionPanel(props: {
  question: Question
  more: number
  children: (ready: () => boolean) => JSX.Element
}) {
  let panel: HTMLElement | undefined
  const [ready, setReady] = createSignal(false)
  const settle = setTimeout(() => setReady(true), SETTLE_MS)
  onCleanup(() => clearTimeout(settle))
  // An empty composer gives the focus to the question; one with words in it keeps it.
  const takeFocus = () => {
    const active = document.activeElement
    const empty = active === document.body || (active instanceof HTMLTextAreaElement && active.value === '')
    if (empty) panel?.focus({ preventScroll: true })
  }
  onMount(takeFocus)
  onCleanup(returnFocus)
  createEffect(on(() => props.question.questionId, takeFocus, { defer: true }))
  return (
    <section class="question" aria-label="The agent needs you" tabIndex={-1} ref={panel}>
      {props.children(ready)}
      <Show when={props.more > 0}>
        <p class="quiet small-text">{`${props.more} more ${props.more === 1 ? 'question waits' : 'questions wait'} behind this one.`}</p>
      </Show>
    </section>
  )
}
