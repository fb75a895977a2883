// The open sessions as tabs: mark, title, state; dragged or moved by keys into another order.

import { createEffect, createMemo, createSignal, For, onCleanup, onMount, Show } from 'solid-js'
import { stateName } from '../store/attention'
import {
  useConversations,
  useDesk,
  useIntents,
  useProjects,
  useServer,
  useSessions,
  useTabs,
} from '../store/owners'
import { DESK_TABS } from './desk/tabs'
import { Icon } from './Icon'
import { Menu } from './Menu'
import { AgentMark, BranchName, StateDot, UnreadDot } from './marks'

export function TabBar(props: { onSidebar(): void; onInspector(): void }) {
  const conversations = useConversations()
  const desk = useDesk()
  const intents = useIntents()
  const projects = useProjects()
  const server = useServer()
  const sessions = useSessions()
  const tabs = useTabs()
  const [dragged, setDragged] = createSignal<string | undefined>()
  const [over, setOver] = createSignal<string | undefined>()
  let strip: HTMLUListElement | undefined
  // With more tabs than fit, the chosen one is brought into sight.
  createEffect(() => {
    const at = tabs.open().indexOf(tabs.active() ?? '')
    queueMicrotask(() => strip?.children[at]?.scrollIntoView({ block: 'nearest', inline: 'nearest' }))
  })
  // Those that do not fit are in a list.
  const [overflows, setOverflows] = createSignal(false)
  const measure = () => setOverflows(strip !== undefined && strip.scrollWidth > strip.clientWidth + 1)
  onMount(() => {
    const watch = new ResizeObserver(measure)
    if (strip) watch.observe(strip)
    onCleanup(() => watch.disconnect())
  })
  createEffect(() => {
    tabs.open()
    queueMicrotask(measure)
  })
  const listed = () =>
    tabs.open().map(sessionId => ({
      id: sessionId,
      name: sessions.titleOf(sessionId),
      description: [
        projects.ofSession(sessionId)?.name,
        tabs.isUnread(sessionId) ? 'finished, not seen yet' : stateName(conversations.stateOf(sessionId)),
      ]
        .filter(Boolean)
        .join(' · '),
      chosen: tabs.active() === sessionId,
    }))
  /** What the plus begins: the usual agent, in the project that is shown. */
  const next = createMemo(() => {
    const shown = projects.ofSession(tabs.active())
    const project = shown ? projects.mainOf(shown) : projects.mains()[0]
    const agent = server.usualAgent()
    return project && agent ? { project, agent } : undefined
  })
  const drop = (target: string) => {
    const moved = dragged()
    setDragged(undefined)
    setOver(undefined)
    if (moved && moved !== target) tabs.move(moved, tabs.open().indexOf(target))
  }
  const onKey = (event: KeyboardEvent, sessionId: string) => {
    if (event.key === 'F2') {
      event.preventDefault()
      intents.askName(sessionId)
    }
    if (!event.altKey || !event.shiftKey) return
    const step = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : 0
    if (step === 0) return
    event.preventDefault()
    tabs.move(sessionId, tabs.open().indexOf(sessionId) + step)
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
          <For each={tabs.open()}>
            {sessionId => (
              <li
                class="tab"
                classList={{
                  active: tabs.active() === sessionId,
                  'drop-here': over() === sessionId && dragged() !== sessionId,
                  'needs-you': conversations.stateOf(sessionId) === 'needs_you',
                  unread: tabs.isUnread(sessionId),
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
                // The middle button closes; it neither scrolls nor pastes what was selected.
                onMouseDown={event => event.button === 1 && event.preventDefault()}
                onMouseUp={event => event.button === 1 && event.preventDefault()}
                onAuxClick={event => {
                  if (event.button !== 1) return
                  event.preventDefault()
                  tabs.close(sessionId)
                }}
              >
                <button
                  type="button"
                  class="tab-name"
                  aria-current={tabs.active() === sessionId ? 'page' : undefined}
                  title={sessions.titleOf(sessionId)}
                  onClick={() => tabs.select(sessionId)}
                  onDblClick={() => intents.askName(sessionId)}
                  onKeyDown={event => onKey(event, sessionId)}
                >
                  <AgentMark cliType={sessions.known[sessionId]?.cliType} />
                  <span class="titles">
                    <span class="ellipsis">{sessions.titleOf(sessionId)}</span>
                    <Show when={projects.ofSession(sessionId)?.worktree}>
                      {worktree => <BranchName branch={worktree().branch} />}
                    </Show>
                  </span>
                  <Show
                    when={conversations.stateOf(sessionId) === 'needs_you'}
                    fallback={
                      <Show
                        when={tabs.isUnread(sessionId)}
                        fallback={<StateDot state={conversations.stateOf(sessionId)} />}
                      >
                        <UnreadDot />
                      </Show>
                    }
                  >
                    <span class="badge">{stateName('needs_you')}</span>
                  </Show>
                </button>
                <button
                  type="button"
                  class="icon-button tab-close"
                  aria-label={`Close ${sessions.titleOf(sessionId)}`}
                  onClick={() => tabs.close(sessionId)}
                >
                  <Icon name="close" size={14} />
                </button>
              </li>
            )}
          </For>
        </ul>
      </nav>
      <Show when={overflows()}>
        <Menu
          label={`All ${tabs.open().length} open sessions`}
          button={<Icon name="chevron-down" />}
          class="icon-button"
          align="end"
          entries={listed()}
          onChoose={tabs.select}
        />
      </Show>
      <Show when={next()} keyed>
        {({ project, agent }) => (
          <button
            type="button"
            class="icon-button"
            aria-label="New session"
            title={`New ${agent.name} session in ${project.name}`}
            onClick={() => void sessions.create(project, agent.cliType)}
          >
            <Icon name="plus" />
          </button>
        )}
      </Show>
      <span class="spacer" />
      <Show when={tabs.active() !== undefined}>
        <button
          type="button"
          class="icon-button"
          aria-label="Show or hide the desk"
          aria-expanded={desk.tab() !== undefined}
          title="Changes and more: Ctrl Shift D"
          onClick={() => desk.toggle(desk.tab() ?? DESK_TABS[0]?.id ?? '')}
        >
          <Icon name="columns" />
        </button>
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
