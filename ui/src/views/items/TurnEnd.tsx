// A turn's end: a thin rule with duration, tokens and cost, or what went wrong.

import { Match, Show, Switch } from 'solid-js'
import * as api from '../../api'
import type { TurnEvent } from '../../protocol'
import { addressOf } from '../../store/address'
import { useConversations, useDesk, useIntents, useNotices, useSessions, useTabs } from '../../store/owners'
import type { Session } from '../../store/session'
import { cost, count, duration } from '../../text/format'
import { CopyButton } from '../CopyButton'
import { Icon } from '../Icon'
import { Menu, type MenuEntry } from '../Menu'
import { LoginHelp, wantsLogin } from './LoginHelp'

type Ended<T extends TurnEvent['type']> = Extract<TurnEvent, { type: T }>

export function TurnEnd(props: { session: Session; turnId: string }) {
  const conversations = useConversations()
  const desk = useDesk()
  const intents = useIntents()
  const notices = useNotices()
  const sessions = useSessions()
  const tabs = useTabs()
  const end = () => props.session.turns().get(props.turnId)?.end
  const failed = () => (end()?.type === 'turn_error' ? (end() as Ended<'turn_error'>) : undefined)
  const complete = () => (end()?.type === 'turn_complete' ? (end() as Ended<'turn_complete'>) : undefined)
  /** The last thing that the agent said in this turn, as it wrote it. */
  const answer = () => {
    let last = ''
    for (const item of props.session.log.items.values()) {
      if (item.turnId !== props.turnId || item.type !== 'message' || item.parentCallId !== undefined) continue
      if (item.origin === 'agent') last = item.content
    }
    return last
  }
  /** What the person said in this turn; with images it is theirs to send again. */
  const asked = () => {
    for (const item of props.session.log.items.values()) {
      if (item.turnId !== props.turnId || item.type !== 'message' || item.origin !== 'user') continue
      return item.imageCount ? undefined : item.content
    }
    return undefined
  }
  const retry = (message: string) =>
    void notices.attempt('Not sent', () => conversations.send(props.session.sessionId, message, []))
  const fork = () =>
    notices.attempt('There is no new session', async () => {
      const { session, cannot } = await api.fork(props.session.sessionId, props.turnId)
      if (session !== undefined) {
        await sessions.refreshAround(props.session.sessionId)
        tabs.select(session)
      }
      if (cannot !== undefined) notices.notify(cannot)
    })
  const act = (id: string) => {
    if (id === 'changes') desk.show('changes', { turn: props.turnId })
    else if (id === 'fork') void fork()
    else intents.askRewind({ sessionId: props.session.sessionId, turnId: props.turnId })
  }
  const link = () =>
    new URL(
      addressOf({ kind: 'session', sessionId: props.session.sessionId, turnId: props.turnId }),
      location.href,
    ).href
  return (
    <Switch>
      <Match when={failed()}>
        {error => (
          <div class="turn-error" role="note">
            <p>
              <strong>This turn failed.</strong> {error().errorMessage}
            </p>
            <Show when={wantsLogin(error().errorMessage)}>
              <LoginHelp cliType={sessions.known[props.session.sessionId]?.cliType} />
            </Show>
            <div class="turn-error-foot">
              <Show when={asked()}>
                {message => (
                  <button type="button" class="button small" onClick={() => retry(message())}>
                    Retry
                  </button>
                )}
              </Show>
              <details class="small-text quiet">
                <summary>Details</summary>
                <span class="code">{error().errorCode}</span>
              </details>
            </div>
          </div>
        )}
      </Match>
      <Match when={complete()}>
        {complete => (
          <div class="turn-end">
            <span>
              <Show when={complete().status === 'cancelled'}>stopped · </Show>
              {facts(complete()).join(' · ')}
            </span>
            <Menu
              label="About this turn"
              class="icon-button"
              align="end"
              button={<Icon name="more" size={14} />}
              entries={ACTS}
              onChoose={act}
            />
            <CopyButton text={answer} label="Copy the answer" icon />
            <CopyButton text={link} label="Copy the link to this turn" icon="link" />
          </div>
        )}
      </Match>
    </Switch>
  )
}

const ACTS: MenuEntry[] = [
  { id: 'changes', name: 'What this turn changed' },
  { id: 'fork', name: 'Go on from here in a new tab' },
  { id: 'rewind', name: 'Back to before this turn…' },
]

function facts(end: Ended<'turn_complete'>): string[] {
  const facts: string[] = []
  if (end.durationMs !== undefined) facts.push(duration(end.durationMs))
  if (end.usage) {
    const {
      inputTokens,
      outputTokens,
      cacheReadInputTokens = 0,
      cacheCreationInputTokens = 0,
      costUsd,
    } = end.usage
    const all = inputTokens + outputTokens + cacheReadInputTokens + cacheCreationInputTokens
    if (all > 0) facts.push(`${count(all)} tokens`)
    if (costUsd) facts.push(cost(costUsd))
  }
  return facts
}
