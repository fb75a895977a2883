// A message: yours on a tinted line as you wrote it, the agent's as markdown, the system's small.

import { For, Match, Show, Switch } from 'solid-js'
import type { Upsert } from '../../protocol'
import { useIntents, useSessions } from '../../store/owners'
import type { Session } from '../../store/session'
import { moment, plural } from '../../text/format'
import { createFold } from '../folds'
import { Icon } from '../Icon'
import { Markdown } from '../Markdown'
import { agentName } from '../marks'
import { Thumbnail } from '../Thumbnail'
import { ItemError } from './Item'
import { LoginHelp } from './LoginHelp'

/** A message longer than this is a paste: its beginning is enough until it is wanted. */
const LONG_LINES = 24
const LONG_CHARS = 4000

const lineCount = (text: string) => text.split('\n').length

type MessageUpsert = Extract<Upsert, { type: 'message' }>

export function Message(props: {
  session: Session
  message: MessageUpsert
  index?: (() => number) | undefined
}) {
  const intents = useIntents()
  const sessions = useSessions()
  const agent = () => agentName(sessions.known[props.session.sessionId]?.cliType).toLowerCase()
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
  const long = () =>
    props.message.content.length > LONG_CHARS || lineCount(props.message.content) > LONG_LINES
  const [whole, toggle] = createFold(props.session, `message ${props.message.itemId}`, () => !long())
  const streaming = () => props.session.isRunning(props.message)
  const repeated = () => {
    const end = props.session.turns().get(props.message.turnId)?.end
    return end?.type === 'turn_error' && end.errorMessage === props.message.content
  }
  return (
    <Switch>
      <Match when={props.message.origin === 'user'}>
        <article class="message user" aria-label="You" title={moment(props.message.sourceTimestamp)}>
          <span class="who">you</span>
          <div class="said">
            <div class="verbatim" classList={{ clamp: !whole() }}>
              {props.message.content}
            </div>
            <Show when={long()}>
              <button type="button" class="fold-button" aria-expanded={whole()} onClick={toggle}>
                {whole() ? 'Show less' : `All ${plural(lineCount(props.message.content), 'line')}`}
              </button>
            </Show>
            <Show when={props.message.imageCount}>
              {images => <SentImages session={props.session} text={props.message.content} count={images()} />}
            </Show>
          </div>
          <span class="message-acts">
            <button
              type="button"
              class="icon-button"
              aria-label="Back to before this message"
              title="Back to before this message"
              onClick={() =>
                intents.askRewind({ sessionId: props.session.sessionId, turnId: props.message.turnId })
              }
            >
              <Icon name="undo" size={14} />
            </button>
            <button
              type="button"
              class="icon-button"
              aria-label="Edit and send again"
              title="Edit and send again"
              onClick={() => intents.insert(props.message.content)}
            >
              <Icon name="edit" size={14} />
            </button>
          </span>
        </article>
      </Match>
      <Match when={props.message.origin === 'system'}>
        <div class="message system">
          <span class="who" />
          <div class="said quiet">{props.message.content}</div>
        </div>
      </Match>
      {/* What the turn's failure says is said there, once. */}
      <Match when={repeated()}>{null}</Match>
      <Match when={true}>
        <article class="message agent" aria-label={agent()} aria-busy={streaming()}>
          <span class="who">{begins() ? agent() : ''}</span>
          <div class="said">
            <Markdown text={props.message.content} streaming={streaming()} />
            <Show when={/^\/login isn.t available/.test(props.message.content)}>
              <LoginHelp cliType={sessions.known[props.session.sessionId]?.cliType} />
            </Show>
            <ItemError item={props.message} />
          </div>
        </article>
      </Match>
    </Switch>
  )
}

/** Small pictures of what was sent from here; what came from elsewhere is counted. */
function SentImages(props: { session: Session; text: string; count: number }) {
  const sent = () => props.session.sentImages(props.text)
  return (
    <Show
      when={sent().length > 0}
      fallback={<span class="quiet small-text">{plural(props.count, 'image')}</span>}
    >
      <span class="sent-images" role="img" aria-label={plural(props.count, 'image')}>
        <For each={sent()}>{bitmap => <Thumbnail bitmap={bitmap} />}</For>
      </span>
    </Show>
  )
}
