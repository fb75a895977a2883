// The open sessions as tabs: mark, title, state; dragged or moved by keys into another order.

import { createEffect, createMemo, createSignal, For, Show } from 'solid-js'
import { useApp } from '../store/app'
import { stateName } from '../store/attention'
import { Icon } from './Icon'
import { AgentMark, StateDot } from './marks'

export function TabBar(props: { onSidebar(): void; onInspector(): void }) {
  const app = useApp()
  const [dragged, setDragged] = createSignal<string | undefined>()
  const [over, setOver] = createSignal<string | undefined>()
  let strip: HTMLUListElement | undefined
  // With more tabs than fit, the chosen one is brought into sight.
  createEffect(() => {
    const at = app.tabs().open.indexOf(app.tabs().active ?? '')
    queueMicrotask(() => strip?.children[at]?.scrollIntoView({ block: 'nearest', inline: 'nearest' }))
  })
  /** What the plus begins: the usual agent, in the project that is shown. */
  const next = createMemo(() => {
    const project = app.projectOf(app.tabs().active) ?? app.lists.projects[0]
    const agent = app.usualAgent()
    return project && agent ? { project, agent } : undefined
  })
  const drop = (target: string) => {
    const moved = dragged()
    setDragged(undefined)
    setOver(undefined)
    if (moved && moved !== target) app.move(moved, app.tabs().open.indexOf(target))
  }
  const onKey = (event: KeyboardEvent, sessionId: string) => {
    if (event.key === 'F2') app.askName(sessionId)
    if (!event.altKey || !event.shiftKey) return
    const step = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : 0
    if (step === 0) return
    event.preventDefault()
    app.move(sessionId, app.tabs().open.indexOf(sessionId) + step)
    const button = event.currentTarget as HTMLElement
    queueMicrotask(() => button.focus())
  }
  return (
    <header class="tabbar">
      <button
        type="button"
        class="icon-button"
        aria-label="Show or hide the sidebar"
        title="Ctrl B"
        onClick={props.onSidebar}
      >
        <Icon name="menu" />
      </button>
      <nav class="tabs" aria-label="Open sessions">
        <ul ref={strip}>
          <For each={app.tabs().open}>
            {sessionId => (
              <li
                class="tab"
                classList={{
                  active: app.tabs().active === sessionId,
                  'drop-here': over() === sessionId && dragged() !== sessionId,
                  'needs-you': app.stateOf(sessionId) === 'needs_you',
                }}
                draggable={true}
                onDragStart={event => {
                  setDragged(sessionId)
                  event.dataTransfer?.setData('text/plain', sessionId)
                }}
                onDragOver={event => {
                  event.preventDefault()
                  setOver(sessionId)
                }}
                onDragEnd={() => {
                  setDragged(undefined)
                  setOver(undefined)
                }}
                onDrop={event => {
                  event.preventDefault()
                  drop(sessionId)
                }}
                onAuxClick={event => {
                  if (event.button === 1) app.close(sessionId)
                }}
              >
                <button
                  type="button"
                  class="tab-name"
                  aria-current={app.tabs().active === sessionId ? 'page' : undefined}
                  title={app.titleOf(sessionId)}
                  onClick={() => app.select(sessionId)}
                  onDblClick={() => app.askName(sessionId)}
                  onKeyDown={event => onKey(event, sessionId)}
                >
                  <AgentMark cliType={app.lists.sessions[sessionId]?.cliType} />
                  <span class="ellipsis">{app.titleOf(sessionId)}</span>
                  <Show
                    when={app.stateOf(sessionId) === 'needs_you'}
                    fallback={<StateDot state={app.stateOf(sessionId)} />}
                  >
                    <span class="badge">{stateName('needs_you')}</span>
                  </Show>
                </button>
                <button
                  type="button"
                  class="icon-button tab-close"
                  aria-label={`Close ${app.titleOf(sessionId)}`}
                  onClick={() => app.close(sessionId)}
                >
                  <Icon name="close" size={14} />
                </button>
              </li>
            )}
          </For>
        </ul>
      </nav>
      <Show when={next()} keyed>
        {({ project, agent }) => (
          <button
            type="button"
            class="icon-button"
            aria-label="New session"
            title={`New ${agent.name} session in ${project.name}`}
            onClick={() => void app.create(project, agent.cliType)}
          >
            <Icon name="plus" />
          </button>
        )}
      </Show>
      <span class="spacer" />
      <Show when={app.tabs().active !== undefined}>
        <button
          type="button"
          class="icon-button"
          aria-label="Show or hide the inspector"
          title="Ctrl I"
          onClick={props.onInspector}
        >
          <Icon name="panel" />
        </button>
      </Show>
    </header>
  )
}
