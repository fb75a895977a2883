// The first screen: which agents are here, which are missing and how to install them, and the first project.

import { For, Show } from 'solid-js'
import { useLists, useServer } from '../store/owners'
import { CopyButton } from './CopyButton'
import { Icon } from './Icon'
import { AgentMark } from './marks'

export function Welcome(props: { onAdd(): void }) {
  const lists = useLists()
  const server = useServer()
  return (
    <main class="screen">
      <h1>Chartroom</h1>
      <p class="quiet">
        Your coding agents in one place: live, in tabs, with what the compiler and the index know.
      </p>
      <Show when={lists.loaded()} fallback={<p class="quiet">Looking around…</p>}>
        <section aria-labelledby="agents-title">
          <h2 id="agents-title">Agents on this machine</h2>
          <ul class="cards">
            <For each={server.agents}>
              {agent => (
                <li class="card static">
                  <AgentMark cliType={agent.cliType} />
                  <div class="card-text">
                    <strong>{agent.name}</strong>
                    <Show
                      when={agent.status === 'missing'}
                      fallback={
                        <span class="quiet path">
                          <span class="passed">found</span> {agent.path}
                        </span>
                      }
                    >
                      <span class="quiet">not installed; this installs it:</span>
                      <span class="command">
                        <code>{agent.install}</code> <CopyButton text={agent.install} />
                      </span>
                    </Show>
                  </div>
                </li>
              )}
            </For>
          </ul>
          <button type="button" class="button small" onClick={() => void lists.refresh()}>
            <Icon name="refresh" size={14} /> Look again
          </button>
        </section>
        <section aria-labelledby="project-title">
          <h2 id="project-title">First, a project</h2>
          <p>
            A project is a folder with code. Sessions that you already had there with these agents appear by
            themselves.
          </p>
          <button type="button" class="button primary" onClick={props.onAdd}>
            <Icon name="plus" /> Add a project
          </button>
        </section>
      </Show>
    </main>
  )
}
