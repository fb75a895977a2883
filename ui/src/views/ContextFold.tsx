// What fills the context window, by the agent's own count. It takes the agent a moment, so it is asked only while this
// is open: at once, and again after each turn.

import { createResource, createSignal, For, Match, Show, Switch } from 'solid-js'
import * as api from '../api'
import { type ContextAnswer, partsOf, summaryOf, whyNot } from '../store/contextUse'
import type { Session } from '../store/session'
import { count } from '../text/format'

export function ContextFold(props: { session: Session }) {
  const [open, setOpen] = createSignal(false)
  const ended = () => [...props.session.turns().values()].filter(turn => turn.end !== undefined).length
  const ask = async (): Promise<ContextAnswer> => {
    try {
      return await api.contextUse(props.session.sessionId)
    } catch (error) {
      return { status: 'failed', message: (error as Error).message }
    }
  }
  const [answer] = createResource(() => (open() ? `after ${ended()} turns` : undefined), ask)
  const known = () => {
    const said = answer.latest
    return said?.status === 'known' && whyNot(said) === undefined ? said.context : undefined
  }
  return (
    <details class="context-fold small-text" onToggle={event => setOpen(event.currentTarget.open)}>
      <summary class="quiet">What fills it</summary>
      <Show when={open()}>
        <div aria-busy={answer.loading} aria-live="polite">
          <Switch>
            <Match when={known()}>
              {context => (
                <>
                  <ul class="parts">
                    <For each={partsOf(context())}>
                      {part => (
                        <li>
                          <span class="ellipsis" title={part.name}>
                            {part.name}
                          </span>
                          <span class="quiet">{count(part.tokens)}</span>
                          <meter aria-label={part.name} min={0} max={1} value={part.share} />
                        </li>
                      )}
                    </For>
                  </ul>
                  <p class="quiet">{summaryOf(context())}</p>
                </>
              )}
            </Match>
            <Match when={answer.latest}>{said => <p class="quiet">{whyNot(said())}</p>}</Match>
            <Match when={answer.loading}>
              <p class="quiet waiting">
                <span class="spinner" /> Asking the agent…
              </p>
            </Match>
          </Switch>
        </div>
      </Show>
    </details>
  )
}
