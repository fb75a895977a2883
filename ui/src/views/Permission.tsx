// May this tool run? The command, path or change in full and every other argument, nothing hidden in it, and no default
// but "no".

import { createMemo, createSignal, For, Show } from 'solid-js'
import type { AnswerParams, Decision, Question } from '../protocol'
import { useSessions } from '../store/owners'
import type { Session } from '../store/session'
import { visible } from '../text/escape'
import { readQuestion } from '../tools/asked'
import { kindOf, mcpName } from '../tools/describe'
import { Arguments, AsSent } from './Arguments'
import { onAnswerKey } from './answerKeys'
import { Icon } from './Icon'
import { Diff } from './items/Diff'
import { FoldedVerbatim } from './items/Verbatim'
import { agentName } from './marks'

type PermissionQuestion = Extract<Question, { kind: 'permission' }>

export function Permission(props: {
  session: Session
  question: PermissionQuestion
  busy: boolean
  ready: () => boolean
  onAnswer(params: AnswerParams): void
}) {
  const sessions = useSessions()
  const [denying, setDenying] = createSignal(false)
  const [reason, setReason] = createSignal('')
  const agent = () => agentName(sessions.known[props.session.sessionId]?.cliType)
  const answer = (decision: Decision, message?: string) => {
    if (props.busy) return
    props.onAnswer({ questionId: props.question.questionId, decision, ...(message ? { message } : {}) })
  }
  onAnswerKey(props.ready, n => {
    if (n === 1) answer('allow')
    else if (n === 2 && props.question.canAllowAlways) answer('allow_always')
    else if (n === (props.question.canAllowAlways ? 3 : 2)) setDenying(true)
    else return false
    return true
  })
  return (
    <>
      <p class="question-title">
        <Icon name="alert" />
        <span>
          {agent()} wants to {purpose(props.question)}
        </span>
      </p>
      <div class="question-detail">
        <PermissionDetail session={props.session} question={props.question} />
      </div>
      <Show
        when={denying()}
        fallback={
          <div class="question-buttons">
            <button type="button" class="button" disabled={props.busy} onClick={() => answer('allow')}>
              <kbd class="by-keys">1</kbd> Allow once
            </button>
            <Show when={props.question.canAllowAlways}>
              <button
                type="button"
                class="button"
                disabled={props.busy}
                onClick={() => answer('allow_always')}
              >
                <kbd class="by-keys">2</kbd> Always here
              </button>
            </Show>
            <button type="button" class="button" disabled={props.busy} onClick={() => setDenying(true)}>
              <kbd class="by-keys">{props.question.canAllowAlways ? 3 : 2}</kbd> Deny…
            </button>
          </div>
        }
      >
        <form
          class="deny"
          onSubmit={event => {
            event.preventDefault()
            answer('deny', reason().trim())
          }}
        >
          <input
            class="input"
            aria-label="What it should do instead (may stay empty)"
            placeholder="What it should do instead (may stay empty)"
            value={reason()}
            ref={input => queueMicrotask(() => input.focus())}
            onInput={event => setReason(event.currentTarget.value)}
            onKeyDown={event => {
              if (event.key !== 'Escape') return
              event.stopPropagation()
              setDenying(false)
            }}
          />
          <button type="submit" class="button danger" disabled={props.busy}>
            Deny
          </button>
          <button type="button" class="button" onClick={() => setDenying(false)}>
            Back
          </button>
        </form>
      </Show>
    </>
  )
}

/** The tool's name, where it is not one that everybody knows. */
function by({ toolName }: PermissionQuestion, known: RegExp): string {
  return known.test(toolName) ? '' : ` with ${visible(toolName)}`
}

function purpose(question: PermissionQuestion): string {
  switch (kindOf(question.toolName, question.detail, question.toolArguments)) {
    case 'shell':
      return `run a command${by(question, /^(bash|shell|exec|execute|exec_command|local_shell)$/i)}`
    case 'edit':
      return `change a file${by(question, /^(edit|write|multiedit|notebookedit|apply_patch)$/i)}`
    case 'read':
      return 'read a file'
    case 'search':
      return 'search'
    case 'web':
      return 'reach the web'
    case 'mcp': {
      const { server, tool } = mcpName(question.toolName)
      return `use ${visible(tool)} of ${visible(server)}`
    }
    default:
      return `use ${visible(question.toolName)}`
  }
}

/** The command or the change first, then whatever is not wholly in there: no argument stays unseen. */
function PermissionDetail(props: { session: Session; question: PermissionQuestion }) {
  const asked = createMemo(() => readQuestion(props.question))
  return (
    <>
      <For each={asked().said}>{words => <FoldedVerbatim class="said-of-it" text={words} />}</For>
      <Show when={asked().shell}>{shell => <p class="quiet small-text">{visible(shell())} runs</p>}</Show>
      <FoldedVerbatim class="command-line" text={asked().command} prefix="$ " />
      <For each={asked().diffs}>
        {diff => <Diff session={props.session} itemId={props.question.questionId} diff={diff} whole />}
      </For>
      <Arguments entries={asked().rest} />
      <AsSent args={props.question.toolArguments} />
    </>
  )
}
