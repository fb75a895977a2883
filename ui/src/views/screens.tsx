// Whole screens without a conversation: nothing chosen, not signed in, a session that did not open.

import { For, Show } from 'solid-js'
import { useConversations, useProjects, useServer, useSessions, useTabs } from '../store/owners'
import type { Session } from '../store/session'
import { relativeTime } from '../text/format'
import { CopyButton } from './CopyButton'
import { Icon } from './Icon'
import { AgentMark, StateDot } from './marks'

/** How many of each are offered; the rest is in the sidebar and the palette. */
const OFFERED = 6

/** Projects are there, no tab is open: what was last worked on, and what can be begun. */
export function NoSession() {
  const conversations = useConversations()
  const projects = useProjects()
  const server = useServer()
  const sessions = useSessions()
  const tabs = useTabs()
  const recent = () => sessions.recent().slice(0, OFFERED)
  const now = Date.now()
  return (
    <main class="screen">
      <h1>Nothing open</h1>
      <Show when={recent().length > 0}>
        <section aria-labelledby="recent-title">
          <h2 id="recent-title" class="label">
            Last worked on
          </h2>
          <ul class="offers">
            <For each={recent()}>
              {session => (
                <li>
                  <button type="button" class="offer" onClick={() => tabs.select(session.sessionId)}>
                    <AgentMark cliType={session.cliType} />
                    <span class="ellipsis">{sessions.titleOf(session.sessionId)}</span>
                    <span class="quiet ellipsis">{projects.ofSession(session.sessionId)?.name}</span>
                    <Show
                      when={conversations.stateOf(session.sessionId) !== 'open'}
                      fallback={<time class="quiet">{relativeTime(session.lastActivity, now)}</time>}
                    >
                      <StateDot state={conversations.stateOf(session.sessionId)} />
                    </Show>
                  </button>
                </li>
              )}
            </For>
          </ul>
        </section>
      </Show>
      <section aria-labelledby="start-title">
        <h2 id="start-title" class="label">
          Start
        </h2>
        <Show
          when={server.usualAgent()}
          fallback={
            <>
              <p>No agent is installed yet. Any of these installs one:</p>
              <For each={server.agents}>
                {agent => (
                  <p class="command">
                    <code>{agent.install}</code> <CopyButton text={agent.install} />
                  </p>
                )}
              </For>
            </>
          }
        >
          {agent => (
            <ul class="offers">
              <For each={projects.mains().slice(0, OFFERED)}>
                {project => (
                  <li>
                    <button
                      type="button"
                      class="offer"
                      onClick={() => void sessions.create(project, agent().cliType)}
                    >
                      <Icon name="plus" />
                      <span class="ellipsis">New {agent().name} session</span>
                      <span class="quiet ellipsis">{project.name}</span>
                    </button>
                  </li>
                )}
              </For>
            </ul>
          )}
        </Show>
      </section>
      <p class="quiet by-keys">
        <kbd>Ctrl</kbd> <kbd>K</kbd> finds sessions, files, code and commands.
      </p>
    </main>
  )
}

/** The cookie or the key of the page is missing, too old or revoked. */
export function SignedOut() {
  return (
    <main class="screen">
      <h1>This page needs its key</h1>
      <p>
        A browser that was let in stays in for 30 days. Open the address that the server printed when it
        started, or the one that this command prints:
      </p>
      <p class="command">
        <code>chartroom link</code> <CopyButton text="chartroom link" />
      </p>
    </main>
  )
}

/** The session is there but could not be opened. */
export function SessionFailure(props: { session: Session; message: string }) {
  const conversations = useConversations()
  const tabs = useTabs()
  return (
    <div class="screen">
      <h1>This session did not open</h1>
      <p class="failure">{props.message}</p>
      <p class="row">
        <button type="button" class="button" onClick={() => void conversations.load(props.session)}>
          Try again
        </button>
        <button type="button" class="button" onClick={() => tabs.close(props.session.sessionId)}>
          Close the tab
        </button>
      </p>
    </div>
  )
}
