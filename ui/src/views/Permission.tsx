// May this tool run? The command, path or change in full and every other argument, nothing hidden in it, and no default
// but "no".

import { createMemo, createSignal, For, Show } from 'solid-js'
import type { AnswerParams, Decision, Grant, Question } from '../protocol'
import { useSessions } from '../store/owners'
import type { Session } from '../store/session'
import { visible } from '../text/escape'
import { readQuestion } from '../tools/asked'
import { kindOf, mcpName } from '../tools/describe'
import { Arguments, AsSent } from './Arguments'
import { answerKeyName, onAnswerKey } from './answerKeys'
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
  const grant = ({ grantId }: Grant) => {
    if (!props.busy)
      props.onAnswer({ questionId: props.question.questionId, decision: 'allow_always', grantId })
  }
  // The narrowest stands beside "once"; what is wider comes after "no", and its keys do too.
  const narrow = () => props.question.grants.slice(0, 1)
  const wide = () => props.question.grants.slice(1)
  const denyKey = () => narrow().length + 2
  const keyName = answerKeyName()
  onAnswerKey(props.ready, n => {
    const wider = wide()[n - denyKey() - 1]
    const [narrowest] = narrow()
    if (n === 1) answer('allow')
    else if (n === 2 && narrowest) grant(narrowest)
    else if (n === denyKey()) setDenying(true)
    else if (wider) grant(wider)
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
              <kbd class="by-keys">{keyName()(1)}</kbd> Allow once
            </button>
            <For each={narrow()}>
              {granted => (
                <GrantButton
                  grant={granted}
                  keys={keyName()(2)}
                  busy={props.busy}
                  onGrant={() => grant(granted)}
                />
              )}
            </For>
            <button type="button" class="button" disabled={props.busy} onClick={() => setDenying(true)}>
              <kbd class="by-keys">{keyName()(denyKey())}</kbd> Deny…
            </button>
            <Show when={wide().length > 0}>
              <div class="wider-grants">
                <span class="quiet small-text">Wider, or for longer:</span>
                <For each={wide()}>
                  {(granted, index) => (
                    <GrantButton
                      grant={granted}
                      keys={keyName()(denyKey() + 1 + index())}
                      busy={props.busy}
                      onGrant={() => grant(granted)}
                    />
                  )}
                </For>
              </div>
            </Show>
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

const SCOPES: Record<Grant['scope'], string> = {
  session: ', in this session',
  project: ', in this project',
  shared_project: ', in this project, for everybody who works on it',
  everywhere: ', in all projects',
  as_the_agent_says: ', as the agent says it',
}

function GrantButton(props: { grant: Grant; keys: string; busy: boolean; onGrant(): void }) {
  return (
    <button type="button" class="button grant" disabled={props.busy} onClick={() => props.onGrant()}>
      <kbd class="by-keys">{props.keys}</kbd>
      <span>
        {`Always ${visible(props.grant.what)}`}
        {SCOPES[props.grant.scope]}
      </span>
    </button>
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
