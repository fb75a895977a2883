// What a session is doing, above its composer; and what stands there before anything was said.

import { createMemo, createSignal, Match, onCleanup, Show, Switch } from 'solid-js'
import { useProjects, useServer } from '../store/owners'
import type { Session } from '../store/session'
import { elapsed } from '../text/format'

export function Blank(props: { session: Session }) {
  const projects = useProjects()
  const waiting = () => props.session.state().state === 'loading' && !props.session.filled()
  return (
    <Show when={!waiting()} fallback={<p class="quiet">Opening…</p>}>
      <h1>New session</h1>
      <p class="quiet">
        in <code>{projects.ofSession(props.session.sessionId)?.path ?? 'this project'}</code>
      </p>
      <p class="quiet">
        Say what should be done. <kbd>/</kbd> gives commands, <kbd>@</kbd> names a file, an image can be
        pasted.
      </p>
    </Show>
  )
}

/** What the agent is doing, or why it has ended. */
export function Activity(props: { session: Session }) {
  const state = () => props.session.state()
  return (
    <div class="activity" role="status">
      <Switch>
        <Match when={state().state === 'dead'}>
          <span class="failed-text">
            The agent has ended{state().note ? `: ${state().note}` : '.'} Send a message to start it again.
          </span>
        </Match>
        <Match when={state().note}>{note => <span class="quiet">{note()}</span>}</Match>
        <Match when={state().state === 'working'}>
          <span class="quiet working-line">
            <span class="dot working" /> Working <Since session={props.session} />
            <span class="by-keys">
              · <kbd>Esc</kbd> <kbd>Esc</kbd> stops
            </span>
          </span>
        </Match>
      </Switch>
    </div>
  )
}

/** How long the running turn has taken. Not read out: it would be, every second. */
function Since(props: { session: Session }) {
  const server = useServer()
  const [now, setNow] = createSignal(Date.now())
  // Nobody knows how long it works while the server does not answer.
  const clock = setInterval(() => server.status() === 'connected' && setNow(Date.now()), 1000)
  onCleanup(() => clearInterval(clock))
  const began = createMemo(() => beginningOf(props.session))
  return (
    <Show when={began()}>
      {began => (
        <span class="elapsed" aria-hidden="true">
          {elapsed(now() - began() - props.session.waitedForPerson())}
        </span>
      )}
    </Show>
  )
}

/** When the first item after the last ended turn came. */
function beginningOf(session: Session): number | undefined {
  const rows = session.rows()
  let first: string | undefined
  for (let at = rows.length - 1; at >= 0; at--) {
    const row = rows[at]
    if (row?.kind !== 'item') break
    first = session.log.items.get(row.itemId)?.sourceTimestamp ?? first
  }
  const began = first === undefined ? Number.NaN : Date.parse(first)
  return Number.isNaN(began) ? undefined : began
}
