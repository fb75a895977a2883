// What stands under a tool call's line when it is open, by kind.

import { For, Show } from 'solid-js'
import type { Session } from '../../store/session'
import { bytes } from '../../text/format'
import { commandOf, planOf, type Step, type ToolCall, text } from '../../tools/describe'
import { diffsOf } from '../../tools/diff'
import { createFold } from '../folds'
import { Icon } from '../Icon'
import { Markdown } from '../Markdown'
import { Diff } from './Diff'
import { Item } from './Item'
import { Output } from './Output'
import { ToldText } from './ToldText'
import { Verbatim } from './Verbatim'

interface Props {
  session: Session
  call: ToolCall
}

export function ShellBody(props: Props) {
  const command = () => commandOf(props.call.toolArguments)
  return (
    <>
      <Show when={props.call.detail?.title ?? text(props.call.toolArguments, 'description')}>
        {title => <p class="quiet small-text">{title()}</p>}
      </Show>
      <div class="terminal">
        <Verbatim class="command-line" text={command()} prefix="$ " />
        <Output session={props.session} itemId={props.call.itemId} text={props.call.toolOutput} />
      </div>
      <CutNote call={props.call} />
    </>
  )
}

export function EditBody(props: Props) {
  const diffs = () => diffsOf(props.call)
  const failed = () => props.call.toolOutputIsError || diffs().length === 0
  // Another program's word on the change; ours is told apart.
  const remarks = () => !props.call.detail?.diagnostics && /error|warning/i.test(props.call.toolOutput ?? '')
  // The card's own line names one file and its counts; several need their own heads.
  const named = () => !failed() && props.call.status === 'complete' && props.call.detail?.diffs?.length === 1
  return (
    <>
      <For each={diffs()}>
        {diff => <Diff session={props.session} itemId={props.call.itemId} diff={diff} headless={named()} />}
      </For>
      <Told session={props.session} call={props.call} />
      <Show when={failed() || remarks()}>
        <Output session={props.session} itemId={props.call.itemId} text={props.call.toolOutput} />
      </Show>
      <CutNote call={props.call} />
    </>
  )
}

/** What the agent was told about errors after its change, word for word. */
function Told(props: Props) {
  const [open, toggle] = createFold(props.session, `told ${props.call.itemId}`, () => false)
  return (
    <Show when={props.call.detail?.diagnostics}>
      {told => (
        <>
          <button type="button" class="fold-button told" aria-expanded={open()} onClick={toggle}>
            <span class="chevron" classList={{ open: open() }}>
              <Icon name="chevron" size={12} />
            </span>
            What the agent was told
          </button>
          <Show when={open()}>
            <ToldText session={props.session} text={told().text} />
          </Show>
        </>
      )}
    </Show>
  )
}

export function ReadBody(props: Props) {
  return (
    <>
      <Output session={props.session} itemId={props.call.itemId} text={props.call.toolOutput} />
      <CutNote call={props.call} />
    </>
  )
}

const STEP_ICONS: Record<Step['state'], 'check' | 'chevron' | undefined> = {
  done: 'check',
  doing: 'chevron',
  open: undefined,
}
const STEP_NAMES: Record<Step['state'], string> = { done: 'done', doing: 'in progress', open: 'open' }

export function PlanBody(props: { call: ToolCall }) {
  return (
    <ul class="plan">
      <For each={planOf(props.call.toolArguments)}>
        {step => (
          <li class={step.state}>
            <span class="plan-mark" role="img" aria-label={STEP_NAMES[step.state]}>
              <Show when={STEP_ICONS[step.state]}>{icon => <Icon name={icon()} size={12} />}</Show>
            </span>
            <span>{step.text}</span>
          </li>
        )}
      </For>
    </ul>
  )
}

/** The subagent's own conversation, nested. */
export function SubagentBody(props: Props) {
  const children = () => props.session.childrenOf(props.call.callId)
  return (
    <div class="nested">
      <Show when={text(props.call.toolArguments, 'prompt')}>
        {prompt => <p class="quiet verbatim clamp">{prompt()}</p>}
      </Show>
      <For each={children()}>{itemId => <Item session={props.session} itemId={itemId} />}</For>
      <Show when={props.call.toolOutput}>
        {output => (
          <div class="nested-answer">
            <Markdown text={output()} streaming={false} />
          </div>
        )}
      </Show>
    </div>
  )
}

/** Any other tool: its arguments by name, then its output. */
export function GenericBody(props: Props) {
  return (
    <>
      <dl class="arguments">
        <For each={Object.entries(props.call.toolArguments)}>
          {([name, value]) => (
            <>
              <dt>{name}</dt>
              <dd>
                <Verbatim text={typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '')} />
              </dd>
            </>
          )}
        </For>
      </dl>
      <Output session={props.session} itemId={props.call.itemId} text={props.call.toolOutput} />
      <CutNote call={props.call} />
    </>
  )
}

function CutNote(props: { call: ToolCall }) {
  return (
    <Show when={props.call.detail?.truncatedFrom}>
      {size => <p class="quiet small-text">Cut here; the whole output has {bytes(size())}.</p>}
    </Show>
  )
}
