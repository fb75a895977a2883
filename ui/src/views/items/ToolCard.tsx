// A tool call: one line (verb, object, result, duration), open while it runs, folded when done.

import { createMemo, Match, Show, Switch } from 'solid-js'
import type { ToolKind } from '../../protocol'
import { useProjects } from '../../store/owners'
import type { Session } from '../../store/session'
import { visible } from '../../text/escape'
import { duration } from '../../text/format'
import { describe, type ToolCall } from '../../tools/describe'
import { createFold } from '../folds'
import { Icon, type IconName } from '../Icon'
import { PathName } from '../PathName'
import { Counts } from './Diff'
import { ItemError } from './Item'
import { EditBody, GenericBody, PlanBody, ReadBody, ShellBody, SubagentBody } from './toolBodies'

const ICONS: Record<ToolKind, IconName> = {
  shell: 'terminal',
  edit: 'edit',
  read: 'file',
  search: 'search',
  web: 'globe',
  mcp: 'plug',
  todo: 'list',
  subagent: 'bot',
  other: 'tool',
}

/** Kinds whose result is worth its room when the call is done. */
const STAYS_OPEN: ToolKind[] = ['edit', 'todo']

const NAMES_A_FILE: ToolKind[] = ['edit', 'read']

export function ToolCard(props: { session: Session; call: ToolCall }) {
  const projects = useProjects()
  const root = () => projects.ofSession(props.session.sessionId)?.path
  const line = createMemo(() => describe(props.call, root(), props.session.isRunning(props.call)))
  const natural = () =>
    line().outcome === 'running' || (STAYS_OPEN.includes(line().kind) && line().outcome === 'passed')
  const [open, toggle] = createFold(props.session, `tool ${props.call.itemId}`, natural)
  const object = () => visible(line().object).replaceAll('\n', ' ↵ ')
  const took = () => props.call.detail?.durationMs
  return (
    <div class={`tool ${line().kind}`} data-outcome={line().outcome}>
      <button type="button" class="tool-line" aria-expanded={open()} onClick={toggle}>
        <span class="chevron" classList={{ open: open() }}>
          <Icon name="chevron" size={14} />
        </span>
        <Icon name={ICONS[line().kind]} size={14} />
        <span class="tool-verb">{visible(line().verb)}</span>
        <Show
          when={NAMES_A_FILE.includes(line().kind)}
          fallback={<span class="tool-object ellipsis">{object()}</span>}
        >
          <span class="tool-object">
            <PathName path={object()} />
          </span>
        </Show>
        <Show when={line().outcome === 'running'}>
          <span class="spinner" role="img" aria-label="running" />
        </Show>
        <span class="tool-result" classList={{ 'failed-text': line().outcome === 'failed' }}>
          <Show when={line().counts} fallback={line().result}>
            {counts => <Counts added={counts().added} removed={counts().removed} />}
          </Show>
        </span>
        <Show when={line().told}>
          {told => (
            <span class="tool-told" classList={{ 'failed-text': told().failed }} title="The agent was told">
              {told().text}
            </span>
          )}
        </Show>
        <Show when={props.call.detail?.sandbox}>
          {note => (
            <span class="tool-told failed-text" title={visible(note())}>
              sandbox
            </span>
          )}
        </Show>
        <Show when={took() !== undefined && (took() ?? 0) >= 100}>
          <span class="tool-time quiet">{duration(took() ?? 0)}</span>
        </Show>
      </button>
      <Show when={open()}>
        <div class="tool-body">
          <Switch fallback={<GenericBody session={props.session} call={props.call} />}>
            <Match when={line().kind === 'shell'}>
              <ShellBody session={props.session} call={props.call} />
            </Match>
            <Match when={line().kind === 'edit'}>
              <EditBody session={props.session} call={props.call} />
            </Match>
            <Match when={line().kind === 'read' || line().kind === 'search'}>
              <ReadBody session={props.session} call={props.call} />
            </Match>
            <Match when={line().kind === 'todo'}>
              <PlanBody call={props.call} />
            </Match>
            <Match when={line().kind === 'subagent'}>
              <SubagentBody session={props.session} call={props.call} />
            </Match>
          </Switch>
          <ItemError item={props.call} />
          <Show when={props.call.detail?.sandbox}>
            {note => <p class="small-text failed-text sandbox-note">{visible(note())}</p>}
          </Show>
        </div>
      </Show>
    </div>
  )
}
