// A turn's end: a thin rule with duration, tokens and cost, or what went wrong.

import { Match, Show, Switch } from 'solid-js'
import type { TurnEvent } from '../../protocol'
import type { Session } from '../../store/session'
import { cost, count, duration } from '../../text/format'
import { CopyButton } from '../CopyButton'

type Ended<T extends TurnEvent['type']> = Extract<TurnEvent, { type: T }>

export function TurnEnd(props: { session: Session; turnId: string }) {
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
  return (
    <Switch>
      <Match when={failed()}>
        {error => (
          <div class="turn-error" role="note">
            <strong>This turn failed.</strong> {error().errorMessage}{' '}
            <span class="code">{error().errorCode}</span>
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
            <CopyButton text={answer} label="Copy the answer" icon />
          </div>
        )}
      </Match>
    </Switch>
  )
}

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
