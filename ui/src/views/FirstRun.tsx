// The first screen: which agents are here, which are missing and how to install them, and the projects.

import { createResource, For, Show } from 'solid-js'
import * as api from '../api'
import { CopyButton } from './CopyButton'

export function FirstRun() {
  const [health] = createResource(api.health)
  const [agents] = createResource(api.agents)
  const [projects] = createResource(api.projects)
  return (
    <main class="first-run">
      <h1>Chartroom</h1>
      <p class="quiet">
        <Show when={health()} fallback="Connecting to the server…">
          {answer => `Version ${answer().version} is running.`}
        </Show>
      </p>
      <section>
        <h2>Agents</h2>
        <Show when={agents()} fallback={<p class="quiet">Looking for agents…</p>}>
          {answer => (
            <ul class="cards">
              <For each={answer().agents}>
                {agent => (
                  <li>
                    <strong>{agent.name}</strong> <span class="quiet">{agent.path ?? 'not installed'}</span>
                    <Show when={agent.status === 'missing'}>
                      <p class="command">
                        <code>{agent.install}</code> <CopyButton text={agent.install} />
                      </p>
                    </Show>
                  </li>
                )}
              </For>
            </ul>
          )}
        </Show>
      </section>
      <section>
        <h2>Projects</h2>
        <Show when={projects()?.projects.length} fallback={<p class="quiet">No project yet.</p>}>
          <ul class="cards">
            <For each={projects()?.projects}>
              {project => (
                <li>
                  <strong>{project.name}</strong> <span class="quiet">{project.path}</span>
                </li>
              )}
            </For>
          </ul>
        </Show>
      </section>
    </main>
  )
}
