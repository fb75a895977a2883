// The whole page: sidebar, tabs, the conversation that is shown, the inspector; dialogs above.

import { createEffect, createSignal, Match, onCleanup, onMount, Show, Switch } from 'solid-js'
import { pageIcon, pageTitle } from './store/attention'
import { createOwners, OwnersProvider } from './store/owners'
import {
  inspectorOpen,
  setInspectorOpen,
  setSidebarOpen,
  sidebarOpen,
  sidebarWidth,
  theme,
} from './store/settings'
import { ConnectionBar } from './views/ConnectionBar'
import { Conversation } from './views/Conversation'
import { dialogOpen } from './views/Dialog'
import { AddProjectDialog } from './views/dialogs/AddProjectDialog'
import { Palette } from './views/dialogs/Palette'
import { PlaceDialog } from './views/dialogs/PlaceDialog'
import { RenameDialog } from './views/dialogs/RenameDialog'
import { TrustDialog } from './views/dialogs/TrustDialog'
import { Inspector } from './views/Inspector'
import { Notices } from './views/Notices'
import { Sidebar } from './views/Sidebar'
import { NoSession, SignedOut } from './views/screens'
import { TabBar } from './views/TabBar'
import { Welcome } from './views/Welcome'
import { watchAttention } from './views/watchAttention'

const PHONE = '(max-width: 600px)'

export function App() {
  const owners = createOwners()
  const { conversations, intents, lists, projects, server, sessions, tabs } = owners
  const [palette, setPalette] = createSignal(false)
  const [adding, setAdding] = createSignal(false)
  const phone = matchMedia(PHONE)
  // On the phone the panels are sheets over the conversation, so they start closed.
  const [sheet, setSheet] = createSignal<'sidebar' | 'inspector' | undefined>()
  const [narrow, setNarrow] = createSignal(phone.matches)
  const onWidth = () => setNarrow(phone.matches)

  const showSidebar = () => (narrow() ? sheet() === 'sidebar' : sidebarOpen())
  // Without a session there is nothing to inspect, and the room is better left to the page.
  const showInspector = () =>
    tabs.active() !== undefined && (narrow() ? sheet() === 'inspector' : inspectorOpen())
  const toggle = (panel: 'sidebar' | 'inspector') => {
    if (narrow()) setSheet(open => (open === panel ? undefined : panel))
    else if (panel === 'sidebar') setSidebarOpen(open => !open)
    else setInspectorOpen(open => !open)
  }

  const onKey = (event: KeyboardEvent) => {
    const control = event.ctrlKey || event.metaKey
    if (control && event.key.toLowerCase() === 'k') setPalette(open => !open)
    else if (control && event.key.toLowerCase() === 'b') toggle('sidebar')
    else if (control && event.key.toLowerCase() === 'i' && !event.shiftKey) toggle('inspector')
    else if (event.altKey && event.code === 'BracketLeft') tabs.step(-1)
    else if (event.altKey && event.code === 'BracketRight') tabs.step(1)
    else if (event.altKey && event.key.toLowerCase() === 'w') {
      const active = tabs.active()
      if (active) tabs.close(active)
    } else if (event.key === 'Escape' && sheet() && !event.defaultPrevented && !dialogOpen())
      setSheet(undefined)
    else return
    event.preventDefault()
  }

  onMount(() => {
    server.connection.start()
    void lists.refresh()
    document.addEventListener('keydown', onKey)
    phone.addEventListener('change', onWidth)
    const wake = () => {
      if (!document.hidden) server.connection.retryNow()
    }
    document.addEventListener('visibilitychange', wake)
    onCleanup(() => {
      document.removeEventListener('keydown', onKey)
      document.removeEventListener('visibilitychange', wake)
      phone.removeEventListener('change', onWidth)
    })
  })

  createEffect(() => {
    if (theme() === 'system') document.documentElement.removeAttribute('data-theme')
    else document.documentElement.setAttribute('data-theme', theme())
  })
  createEffect(() => {
    const active = tabs.active()
    document.title = pageTitle(tabs.attention(), active && sessions.titleOf(active))
    document.querySelector('link[rel=icon]')?.setAttribute('href', pageIcon(tabs.attention()))
  })
  createEffect(() => {
    document.documentElement.style.setProperty('--sidebar-width', `${sidebarWidth()}px`)
  })
  watchAttention(owners)

  return (
    <OwnersProvider value={owners}>
      <Switch
        fallback={
          <div class="page" classList={{ 'no-sidebar': !showSidebar(), 'no-inspector': !showInspector() }}>
            <Show when={narrow() && sheet()}>
              <button
                type="button"
                class="scrim"
                aria-label="Close the panel"
                onClick={() => setSheet(undefined)}
              />
            </Show>
            <Show when={showSidebar()}>
              <Sidebar
                onAdd={() => setAdding(true)}
                onPalette={() => setPalette(true)}
                onChosen={() => setSheet(undefined)}
              />
            </Show>
            <div class="middle">
              <TabBar onSidebar={() => toggle('sidebar')} onInspector={() => toggle('inspector')} />
              <ConnectionBar />
              <Show
                when={tabs.active()}
                keyed
                fallback={
                  <Show when={projects.list.length > 0} fallback={<Welcome onAdd={() => setAdding(true)} />}>
                    <NoSession />
                  </Show>
                }
              >
                {sessionId => <Conversation session={conversations.session(sessionId)} />}
              </Show>
            </div>
            <Show when={showInspector()}>
              <Inspector />
            </Show>
          </div>
        }
      >
        <Match when={server.unauthorized() && !server.everConnected()}>
          <SignedOut />
        </Match>
      </Switch>
      <Show when={palette()}>
        <Palette onClose={() => setPalette(false)} onAdd={() => setAdding(true)} onToggle={toggle} />
      </Show>
      <Show when={adding()}>
        <AddProjectDialog onClose={() => setAdding(false)} />
      </Show>
      <Show when={intents.trustAsked()} keyed>
        {asked => <TrustDialog project={asked.project} next={asked.next} />}
      </Show>
      <Show when={intents.renaming()} keyed>
        {sessionId => <RenameDialog sessionId={sessionId} />}
      </Show>
      <Show when={intents.placeShown()} keyed>
        {place => <PlaceDialog place={place} />}
      </Show>
      <Notices />
    </OwnersProvider>
  )
}
