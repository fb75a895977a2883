// Thinking: one folded line with its duration; open it to read.

import { Show } from 'solid-js'
import type { Upsert } from '../../protocol'
import type { Session } from '../../store/session'
import { duration } from '../../text/format'
import { createFold } from '../folds'
import { Icon } from '../Icon'
import { Markdown } from '../Markdown'

/** How much of it stands in the folded line. */
const PREVIEW = 140

export function Thinking(props: { session: Session; thinking: Extract<Upsert, { type: 'thinking' }> }) {
  const [open, toggle] = createFold(props.session, `thinking ${props.thinking.itemId}`, () => false)
  const streaming = () => props.session.isRunning(props.thinking)
  const took = () => Date.parse(props.thinking.emittedAt) - Date.parse(props.thinking.sourceTimestamp)
  const label = () => {
    if (streaming()) return 'Thinking…'
    return took() >= 1000 ? `Thought for ${duration(took())}` : 'Thought'
  }
  // While it goes on, the newest words are what tells something.
  const preview = () => {
    const words = props.thinking.content.trim().replaceAll(/\s+/g, ' ')
    return streaming() && words.length > PREVIEW ? `…${words.slice(-PREVIEW)}` : words.slice(0, PREVIEW)
  }
  return (
    <div class="tool thinking">
      <button type="button" class="tool-line" aria-expanded={open()} onClick={toggle}>
        <span class="chevron" classList={{ open: open() }}>
          <Icon name="chevron" size={14} />
        </span>
        <Icon name="brain" size={14} />
        <span class="tool-verb">{label()}</span>
        <span class="tool-object plain ellipsis">{open() ? '' : preview()}</span>
      </button>
      <Show when={open()}>
        <div class="tool-body thinking-body">
          <Markdown text={props.thinking.content} streaming={streaming()} />
        </div>
      </Show>
    </div>
  )
}
