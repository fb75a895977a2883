// A message: yours on a tinted line as you wrote it, the agent's as markdown, the system's small.

import { Match, Show, Switch } from 'solid-js'
import type { Upsert } from '../../protocol'
import { useApp } from '../../store/app'
import type { Session } from '../../store/session'
import { plural } from '../../text/format'
import { Markdown } from '../Markdown'
import { agentName } from '../marks'
import { ItemError } from './Item'

type MessageUpsert = Extract<Upsert, { type: 'message' }>

export function Message(props: {
  session: Session
  message: MessageUpsert
  index?: (() => number) | undefined
}) {
  const app = useApp()
  const agent = () => agentName(app.lists.sessions[props.session.sessionId]?.cliType).toLowerCase()
  // The name stands once a turn, where the agent begins to speak.
  const begins = () => {
    const rows = props.session.rows()
    for (let at = (props.index?.() ?? 0) - 1; at >= 0; at--) {
      const row = rows[at]
      if (row?.kind !== 'item') return true
      const item = props.session.log.items.get(row.itemId)
      if (item?.type === 'message') return item.origin !== 'agent'
    }
    return true
  }
  const streaming = () => props.message.status === 'create' || props.message.status === 'update'
  return (
    <Switch>
      <Match when={props.message.origin === 'user'}>
        <article class="message user" aria-label="You">
          <span class="who">you</span>
          <div class="said">
            <div class="verbatim">{props.message.content}</div>
            <Show when={props.message.imageCount}>
              {images => <span class="quiet small-text">{plural(images(), 'image')}</span>}
            </Show>
          </div>
        </article>
      </Match>
      <Match when={props.message.origin === 'system'}>
        <div class="message system">
          <span class="who" />
          <div class="said quiet">{props.message.content}</div>
        </div>
      </Match>
      <Match when={true}>
        <article class="message agent" aria-label={agent()} aria-busy={streaming()}>
          <span class="who">{begins() ? agent() : ''}</span>
          <div class="said">
            <Markdown text={props.message.content} streaming={streaming()} />
            <ItemError item={props.message} />
          </div>
        </article>
      </Match>
    </Switch>
  )
}
