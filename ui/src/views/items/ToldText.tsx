// What the agent was told, word for word; a line that names a place shows it when it is clicked.

import { createMemo, For, Show } from 'solid-js'
import { useIntents, useProjects } from '../../store/owners'
import type { Session } from '../../store/session'
import { type Place, toldLines } from '../../tools/told'
import { Visible } from './Verbatim'

export function ToldText(props: { session: Session; text: string }) {
  const intents = useIntents()
  const projects = useProjects()
  const lines = createMemo(() => toldLines(props.text))
  const show = (place: Place) => {
    const project = projects.ofSession(props.session.sessionId)
    if (project) intents.showPlace({ project, ...place })
  }
  return (
    <pre class="verbatim-block told-text" tabIndex={0}>
      <For each={lines()}>
        {(line, n) => (
          <>
            <Show when={line.place} fallback={<Visible text={line.text} />}>
              {place => (
                <button
                  type="button"
                  class="told-place"
                  title={`Show ${place().path}:${place().line}`}
                  onClick={() => show(place())}
                >
                  <Visible text={line.text} />
                </button>
              )}
            </Show>
            {n() < lines().length - 1 ? '\n' : ''}
          </>
        )}
      </For>
    </pre>
  )
}
