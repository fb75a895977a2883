// The panel beside the conversation: a strip of tabs, and the one that is shown; over the whole page on a phone.

import { createMemo, ErrorBoundary, For, lazy, onCleanup, onMount, Show, Suspense } from 'solid-js'
import { Dynamic } from 'solid-js/web'
import { useConversations, useDesk, useProjects, useTabs } from '../../store/owners'
import { deskWidth, setDeskWidth } from '../../store/settings'
import { dialogOpen, returnFocus } from '../../typing'
import { Icon } from '../Icon'
import { DESK_TABS } from './tabs'
import '../../styles/desk.css'

const SHOWN = DESK_TABS.map(tab => ({ ...tab, view: lazy(tab.load) }))

export default function Desk() {
  const conversations = useConversations()
  const desk = useDesk()
  const projects = useProjects()
  const tabs = useTabs()
  let panel: HTMLElement | undefined
  const shown = createMemo(() => SHOWN.find(tab => tab.id === desk.tab()) ?? SHOWN[0])
  /** What the tab is about; another session makes another view. */
  const subject = createMemo(() => {
    const sessionId = tabs.active()
    const project = projects.ofSession(sessionId)
    return sessionId !== undefined && project
      ? { session: conversations.session(sessionId), project }
      : undefined
  })
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || event.defaultPrevented || dialogOpen()) return
    event.preventDefault()
    desk.close()
  }
  const step = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (by === 0) return
    event.preventDefault()
    const at = SHOWN.findIndex(tab => tab.id === shown()?.id)
    const next = SHOWN[(at + by + SHOWN.length) % SHOWN.length]
    if (!next) return
    desk.show(next.id)
    queueMicrotask(() => panel?.querySelector<HTMLElement>('[role=tab][aria-selected=true]')?.focus())
  }
  onMount(() => {
    panel?.focus({ preventScroll: true })
    onCleanup(() => queueMicrotask(returnFocus))
  })
  return (
    <section
      class="desk"
      aria-label="Desk"
      tabIndex={-1}
      ref={panel}
      // A tab's own keys come first: what they have used is not the desk's.
      onKeyDown={onKey}
    >
      <DeskResizer />
      <header class="desk-head">
        <div class="desk-tabs" role="tablist" aria-label="Desk">
          <For each={SHOWN}>
            {tab => (
              <button
                type="button"
                role="tab"
                id={`desk-tab-${tab.id}`}
                class="desk-tab"
                aria-selected={shown()?.id === tab.id}
                aria-controls="desk-body"
                tabIndex={shown()?.id === tab.id ? 0 : -1}
                title={tab.key === undefined ? undefined : `Ctrl Shift ${tab.key}`}
                onClick={() => desk.show(tab.id)}
                onKeyDown={step}
              >
                {tab.label}
              </button>
            )}
          </For>
        </div>
        <span class="spacer" />
        <button
          type="button"
          class="icon-button"
          aria-label="Close the desk"
          title="Esc"
          onClick={() => desk.close()}
        >
          <Icon name="close" />
        </button>
      </header>
      <div class="desk-body" id="desk-body" role="tabpanel" aria-labelledby={`desk-tab-${shown()?.id}`}>
        <Show when={subject()} keyed>
          {subject => (
            <Show when={shown()} keyed>
              {tab => (
                <ErrorBoundary fallback={error => <p class="pad">It cannot be shown: {String(error)}</p>}>
                  <Suspense fallback={<p class="quiet pad">Loading…</p>}>
                    <Dynamic component={tab.view} session={subject.session} project={subject.project} />
                  </Suspense>
                </ErrorBoundary>
              )}
            </Show>
          )}
        </Show>
      </div>
    </section>
  )
}

const [NARROWEST, STEP] = [360, 32]

function DeskResizer() {
  /** The conversation keeps room for a line of text. */
  const clamp = (width: number) => Math.round(Math.max(NARROWEST, Math.min(innerWidth - 600, width)))
  const drag = (event: PointerEvent) => {
    const handle = event.currentTarget as HTMLElement
    handle.setPointerCapture(event.pointerId)
    const move = (event: PointerEvent) => setDeskWidth(clamp(innerWidth - event.clientX))
    const up = () => {
      handle.removeEventListener('pointermove', move)
      handle.removeEventListener('pointerup', up)
    }
    handle.addEventListener('pointermove', move)
    handle.addEventListener('pointerup', up)
  }
  const width = () => deskWidth() ?? clamp(innerWidth * 0.45)
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'ArrowLeft') setDeskWidth(clamp(width() + STEP))
    if (event.key === 'ArrowRight') setDeskWidth(clamp(width() - STEP))
  }
  return (
    <div
      class="desk-resizer"
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the desk"
      aria-valuenow={Math.round(width())}
      aria-valuemin={NARROWEST}
      aria-valuemax={Math.max(NARROWEST, innerWidth - 600)}
      tabIndex={0}
      onPointerDown={drag}
      onKeyDown={onKey}
    />
  )
}
