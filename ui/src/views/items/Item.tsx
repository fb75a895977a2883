// One item of a conversation, drawn by its type.

import { Match, Show, Switch } from 'solid-js'
import type { Upsert } from '../../protocol'
import type { Session } from '../../store/session'
import { Message } from './Message'
import { Thinking } from './Thinking'
import { ToolCard } from './ToolCard'

type Of<T extends Upsert['type']> = Extract<Upsert, { type: T }>

export function Item(props: { session: Session; itemId: string; index?: () => number }) {
  const item = () => props.session.item(props.itemId)
  const of = <T extends Upsert['type']>(type: T) => {
    const current = item()
    return current?.type === type ? (current as Of<T>) : undefined
  }
  return (
    <Switch>
      <Match when={of('message')}>
        {message => <Message session={props.session} message={message()} index={props.index} />}
      </Match>
      <Match when={of('thinking')}>
        {thinking => <Thinking session={props.session} thinking={thinking()} />}
      </Match>
      <Match when={of('tool_call')}>{call => <ToolCard session={props.session} call={call()} />}</Match>
    </Switch>
  )
}

/** Why an item ended badly. */
export function ItemError(props: { item: Upsert }) {
  return (
    <Show when={props.item.status === 'error' && (props.item.errorMessage ?? props.item.errorCode)}>
      {message => <p class="item-error">{message()}</p>}
    </Show>
  )
}
