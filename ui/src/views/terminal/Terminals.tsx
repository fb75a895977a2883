// The terminals of a session's folder: one is shown, the others wait beside its name.

import { createMemo, createResource, createSignal, For, Match, onMount, Show, Switch } from 'solid-js'
import { ApiError } from '../../api'
import { useIntents, useNotices } from '../../store/owners'
import type { Shell } from '../../store/shell'
import { closeShell, openShell, shells, shellsOf } from '../../store/shells'
import type { DeskTabProps } from '../desk/tabs'
import { Icon } from '../Icon'
import { Screen } from './Screen'
import '../../styles/terminal.css'

export default function Terminals(props: DeskTabProps) {
  const intents = useIntents()
  const notices = useNotices()
  const place = { projectId: props.project.projectId, sessionId: props.session.sessionId }
  const [chosen, choose] = createSignal<Shell | undefined>()
  const [refused, setRefused] = createSignal<ApiError | undefined>()
  let size = { columns: 80, rows: 24 }

  const open = async () => {
    setRefused(undefined)
    try {
      choose(await openShell(place, size.columns, size.rows))
      await refetch()
    } catch (error) {
      if (error instanceof ApiError) setRefused(error)
      else throw error
    }
  }
  const [listed, { refetch }] = createResource(() => shellsOf(place))
  /** Those of this folder that the page still follows. */
  const here = createMemo(() => (listed.latest ?? []).filter(shell => shells().includes(shell)))
  const shown = () => (here().includes(chosen() as Shell) ? chosen() : here().at(-1))
  const close = (shell: Shell) => void notices.attempt('It cannot be closed', () => closeShell(shell))
  onMount(async () => {
    try {
      if ((await shellsOf(place)).length === 0) await open()
    } catch (error) {
      if (error instanceof ApiError) setRefused(error)
    }
  })

  return (
    <div class="terminals">
      <header class="terminals-head" role="toolbar" aria-label="Terminals">
        <For each={here()}>
          {(shell, at) => (
            <span class="terminal-name" classList={{ shown: shown() === shell }}>
              <button type="button" aria-pressed={shown() === shell} onClick={() => choose(shell)}>
                {shell.info.shell} {at() + 1}
              </button>
              <button
                type="button"
                class="icon-button"
                aria-label={`Close ${shell.info.shell} ${at() + 1}`}
                title="Ends it, with what runs in it"
                onClick={() => close(shell)}
              >
                <Icon name="close" size={12} />
              </button>
            </span>
          )}
        </For>
        <button
          type="button"
          class="icon-button"
          aria-label="New terminal"
          title="New terminal"
          onClick={() => void open()}
        >
          <Icon name="plus" />
        </button>
      </header>
      <Switch
        fallback={<p class="quiet pad">{listed.loading ? 'Starting…' : 'There is no terminal here.'}</p>}
      >
        <Match when={refused()?.code === 'WORKSPACE_UNTRUSTED'}>
          <div class="pad">
            <p>A terminal runs what is in the folder, so it wants a folder that you trust.</p>
            <button
              type="button"
              class="button"
              onClick={() => intents.askTrust({ project: props.project, next: () => void open() })}
            >
              Trust this folder…
            </button>
          </div>
        </Match>
        <Match when={refused()}>{error => <p class="pad">{error().message}</p>}</Match>
        <Match when={shown()} keyed>
          {shell => (
            <>
              <Screen
                shell={shell}
                onSize={(columns, rows) => {
                  size = { columns, rows }
                }}
              />
              <Show when={shell.note() !== '' || shell.state() === 'lost'}>
                <p class="terminal-note quiet small-text" role="status">
                  {shell.state() === 'lost' ? 'The connection is lost; trying again…' : shell.note()}
                </p>
              </Show>
            </>
          )}
        </Match>
      </Switch>
    </div>
  )
}
