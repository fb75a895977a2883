// Whole screens without a conversation: nothing chosen, not signed in, a session that did not open.

import { For, Show } from 'solid-js'
import { useApp } from '../store/app'
import type { Session } from '../store/session'
import { lastAgent } from '../store/settings'
import { CopyButton } from './CopyButton'
import { AgentMark } from './marks'

/** Projects are there, no tab is open. */
export function NoSession() {
  const app = useApp()
  const found = () => app.lists.agents.filter(agent => agent.status === 'found')
  const agent = () => found().find(agent => agent.cliType === lastAgent()) ?? found()[0]
  return (
    <main class="screen">
      <h1>Nothing open</h1>
      <p class="quiet">Choose a session on the left, or start one.</p>
      <Show
        when={agent()}
        fallback={
          <p>
            No agent is installed yet. <code>chartroom doctor</code> tells what is missing.{' '}
            <CopyButton text="chartroom doctor" />
          </p>
        }
      >
        {agent => (
          <ul class="cards">
            <For each={app.lists.projects.slice(0, 6)}>
              {project => (
                <li>
                  <button
                    type="button"
                    class="card"
                    onClick={() => void app.create(project, agent().cliType)}
                  >
                    <AgentMark cliType={agent().cliType} />
                    <span class="card-text">
                      <strong>New {agent().name} session</strong>
                      <span class="quiet">in {project.name}</span>
                    </span>
                  </button>
                </li>
              )}
            </For>
          </ul>
        )}
      </Show>
      <p class="quiet">
        <kbd>Ctrl</kbd> <kbd>K</kbd> finds sessions, files, code and commands.
      </p>
    </main>
  )
}

/** The cookie is missing or too old. */
export function SignedOut() {
  return (
    <main class="screen">
      <h1>This page needs its key</h1>
      <p>
        Each start of the server has a new one. Open the address that it printed, or the one that this command
        prints:
      </p>
      <p class="command">
        <code>chartroom link</code> <CopyButton text="chartroom link" />
      </p>
    </main>
  )
}

/** The session is there but could not be opened. */
export function SessionFailure(props: { session: Session; message: string }) {
  const app = useApp()
  return (
    <div class="screen">
      <h1>This session did not open</h1>
      <p class="failure">{props.message}</p>
      <p class="row">
        <button type="button" class="button" onClick={() => void app.reload(props.session)}>
          Try again
        </button>
        <button type="button" class="button" onClick={() => app.close(props.session.sessionId)}>
          Close the tab
        </button>
      </p>
    </div>
  )
}
