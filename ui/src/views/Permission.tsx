// May this tool run? The command, path or change in full, nothing hidden in it, and no default but "no".

import { createSignal, For, Show } from 'solid-js'
import type { AnswerParams, Decision, Question } from '../protocol'
import { useSessions } from '../store/owners'
import type { Session } from '../store/session'
import { visible } from '../text/escape'
import { commandOf, kindOf, mcpName, text } from '../tools/describe'
import { diffsOf } from '../tools/diff'
import { onAnswerKey } from './answerKeys'
import { Icon } from './Icon'
import { Diff } from './items/Diff'
import { Verbatim } from './items/Verbatim'
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
      <Show when={tells(props.question) && props.question.description}>
        {description => <p class="quiet small-text">{visible(description())}</p>}
      </Show>
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

/** Whether the description says more than the beginning of an argument that is shown anyway. */
function tells({ description = '', toolArguments }: PermissionQuestion): boolean {
  const said = description.replace(/…$/, '')
  return !Object.values(toolArguments).some(value => typeof value === 'string' && value.startsWith(said))
}

function purpose(question: PermissionQuestion): string {
  switch (kindOf(question.toolName, question.detail, question.toolArguments)) {
    case 'shell':
      return 'run a command'
    case 'edit':
      return 'change a file'
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

/** Whatever is not drawn as a command or a change is listed by name, so that no argument stays unseen. */
function PermissionDetail(props: { session: Session; question: PermissionQuestion }) {
  const args = () => props.question.toolArguments
  const command = () => commandOf(args())
  const diffs = () => diffsOf(props.question)
  const path = () => text(args(), 'file_path', 'path')
  const drawn = () => {
    const names = new Set<string>()
    if (command()) for (const name of ['command', 'cmd', 'description']) names.add(name)
    if (diffs().length > 0)
      for (const name of ['old_string', 'new_string', 'content', 'edits']) names.add(name)
    return names
  }
  const rest = () => Object.entries(args()).filter(([name]) => !drawn().has(name))
  return (
    <>
      <Verbatim class="command-line" text={command()} prefix="$ " />
      <For each={diffs()}>
        {diff => <Diff session={props.session} itemId={props.question.questionId} diff={diff} whole />}
      </For>
      <Show when={rest().length > 0 && !(diffs().length > 0 && rest().length === 1 && path())}>
        <dl class="arguments">
          <For each={rest()}>
            {([name, value]) => (
              <>
                <dt>{visible(name)}</dt>
                <dd>
                  <Verbatim
                    text={typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '')}
                  />
                </dd>
              </>
            )}
          </For>
        </dl>
      </Show>
    </>
  )
}
