// The whole page: sidebar, tabs, the conversation that is shown, the inspector; dialogs above.

import { createEffect, createSignal, lazy, Match, onCleanup, onMount, Show, Suspense, Switch } from 'solid-js'
import { pageIcon, pageTitle } from './store/attention'
import { createOwners, OwnersProvider } from './store/owners'
import {
  deskWidth,
  inspectorOpen,
  setInspectorOpen,
  setSidebarOpen,
  sidebarOpen,
  sidebarWidth,
  theme,
} from './store/settings'
import { dialogOpen, onTyping } from './typing'
import { ConnectionBar } from './views/ConnectionBar'
import { Conversation } from './views/Conversation'
import { DESK_TABS } from './views/desk/tabs'
import { AddProjectDialog } from './views/dialogs/AddProjectDialog'
import { DevicesDialog } from './views/dialogs/DevicesDialog'
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
import { watchAddress } from './views/watchAddress'
import { watchAttention } from './views/watchAttention'
import { printConversation } from './views/wholeConversation'

const PHONE = '(max-width: 600px)'
/** Below this there is no room for the inspector beside the conversation. */
const MEDIUM = '(max-width: 1000px)'

const RewindDialog = lazy(() => import('./views/dialogs/RewindDialog'))
const Desk = lazy(() => import('./views/desk/Desk'))
const NewSessionDialog = lazy(() => import('./views/worktrees/NewSessionDialog'))
const WorktreeDialog = lazy(() => import('./views/worktrees/WorktreeDialog'))
const NewTriesDialog = lazy(() => import('./views/tries/NewTriesDialog'))
const TriesStrip = lazy(() => import('./views/tries/TriesStrip'))

type Panel = 'sidebar' | 'inspector'

export function App() {
  const owners = createOwners()
  const { conversations, desk, intents, lists, notices, projects, server, sessions, tabs, tries } = owners
  const [palette, setPalette] = createSignal(false)
  const [searched, setSearched] = createSignal('')
  const [adding, setAdding] = createSignal(false)
  const [phone, medium] = [matchMedia(PHONE), matchMedia(MEDIUM)]
  // Where there is no room beside the conversation a panel is a sheet over it, so it starts closed.
  const [sheet, setSheet] = createSignal<Panel | undefined>()
  const [sheets, setSheets] = createSignal({ sidebar: phone.matches, inspector: medium.matches })
  const onWidth = () => setSheets({ sidebar: phone.matches, inspector: medium.matches })
  const showDesk = () => tabs.active() !== undefined && desk.tab() !== undefined
  /** Beside the desk there is no room for the inspector either. */
  const isSheet = (panel: Panel) => sheets()[panel] || (panel === 'inspector' && showDesk())
  const shownSheet = () => {
    const panel = sheet()
    return panel && isSheet(panel) ? panel : undefined
  }

  const showSidebar = () => (sheets().sidebar ? sheet() === 'sidebar' : sidebarOpen())
  // Without a session there is nothing to inspect, and the room is better left to the page.
  const showInspector = () =>
    tabs.active() !== undefined && (isSheet('inspector') ? sheet() === 'inspector' : inspectorOpen())
  const toggle = (panel: Panel) => {
    if (isSheet(panel)) setSheet(open => (open === panel ? undefined : panel))
    else if (panel === 'sidebar') setSidebarOpen(open => !open)
    else setInspectorOpen(open => !open)
  }

  const shown = () => {
    const active = tabs.active()
    return active === undefined ? undefined : conversations.session(active)
  }
  const find = () => {
    intents.setFinding(true)
    document.querySelector<HTMLElement>('.find-bar input')?.focus()
  }
  /** Prints the whole conversation: what is not in the page yet is read before. */
  const print = () => {
    const session = shown()
    if (session) void notices.attempt('It cannot be printed', () => printConversation(owners, session))
  }

  const onKey = (event: KeyboardEvent) => {
    const control = event.ctrlKey || event.metaKey
    if (dialogOpen() && !(control && event.key.toLowerCase() === 'k')) return
    if (control && event.key.toLowerCase() === 'k') setPalette(open => !open)
    else if (control && event.key.toLowerCase() === 'b') toggle('sidebar')
    else if (control && event.key.toLowerCase() === 'i' && !event.shiftKey) toggle('inspector')
    else if (control && event.key.toLowerCase() === 'f' && tabs.active() && !event.shiftKey) find()
    else if (control && event.key.toLowerCase() === 'p' && tabs.active() && !event.shiftKey) print()
    else if (event.shiftKey && (control || event.altKey) && event.code === 'KeyT') tabs.reopen()
    else if (control && event.shiftKey && tabs.active() && deskTabOf(event))
      desk.toggle(deskTabOf(event) ?? '')
    else if (event.altKey && event.code === 'BracketLeft') tabs.step(-1)
    else if (event.altKey && event.code === 'BracketRight') tabs.step(1)
    else if (event.altKey && event.key.toLowerCase() === 'w') {
      const active = tabs.active()
      if (active) tabs.close(active)
    } else if (event.key === 'F2' && !event.defaultPrevented && tabs.active() && !dialogOpen())
      intents.askName(tabs.active())
    else if (event.key === 'Escape' && shownSheet() && !event.defaultPrevented && !dialogOpen())
      setSheet(undefined)
    else return
    event.preventDefault()
  }

  // After every other key of the page: with Alt a number may be the answer to a question.
  const onLast = (event: KeyboardEvent) => {
    if (event.altKey && /^Digit[1-9]$/.test(event.code) && !event.defaultPrevented && !dialogOpen()) {
      tabs.selectAt(Number(event.code.slice(5)))
      event.preventDefault()
    } else onTyping(event)
  }

  onMount(() => {
    server.connection.start()
    void lists.refresh()
    document.addEventListener('keydown', onKey)
    window.addEventListener('keydown', onLast)
    phone.addEventListener('change', onWidth)
    medium.addEventListener('change', onWidth)
    const wake = () => {
      if (!document.hidden) server.connection.retryNow()
    }
    document.addEventListener('visibilitychange', wake)
    onCleanup(() => {
      document.removeEventListener('keydown', onKey)
      document.removeEventListener('visibilitychange', wake)
      window.removeEventListener('keydown', onLast)
      phone.removeEventListener('change', onWidth)
      medium.removeEventListener('change', onWidth)
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
  createEffect(() => {
    const width = deskWidth()
    if (width !== undefined) document.documentElement.style.setProperty('--desk-width', `${width}px`)
  })
  // What only a notice tells is told again after a reload, where it happened.
  let restored: Set<string> | undefined
  createEffect(() => {
    const active = tabs.active()
    if (!owners.lists.loaded() || active === undefined) return
    restored ??= new Set(tabs.open())
    if (!restored.delete(active)) return
    void import('./store/rewound').then(rewound => rewound.tellAgain(owners, active)).catch(() => {})
  })
  watchAttention(owners)
  watchAddress(owners, query => {
    setSearched(query)
    setPalette(true)
  })

  return (
    <OwnersProvider value={owners}>
      <Switch
        fallback={
          <>
            <button
              type="button"
              class="skip-link"
              onClick={() => document.querySelector<HTMLElement>('.rows, .screen')?.focus()}
            >
              To the conversation
            </button>
            <div
              class="page"
              classList={{
                'no-sidebar': !showSidebar(),
                'no-inspector': !showInspector(),
                'with-desk': showDesk(),
              }}
            >
              <Show when={shownSheet()}>
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
                <Show when={tries.shown(tabs.active())?.triesId} keyed>
                  {triesId => (
                    <Suspense>
                      <TriesStrip triesId={triesId} />
                    </Suspense>
                  )}
                </Show>
                <Show
                  when={tabs.active()}
                  keyed
                  fallback={
                    <Show
                      when={projects.list.length > 0}
                      fallback={<Welcome onAdd={() => setAdding(true)} />}
                    >
                      <NoSession />
                    </Show>
                  }
                >
                  {sessionId => <Conversation session={conversations.session(sessionId)} />}
                </Show>
              </div>
              <Show when={showDesk()}>
                <Suspense>
                  <Desk />
                </Suspense>
              </Show>
              <Show when={showInspector()}>
                <Inspector />
              </Show>
            </div>
          </>
        }
      >
        <Match when={server.unauthorized() && !server.everConnected()}>
          <SignedOut />
        </Match>
      </Switch>
      <Show when={palette()}>
        <Palette
          query={searched()}
          onClose={() => {
            setPalette(false)
            setSearched('')
          }}
          onAdd={() => setAdding(true)}
          onToggle={toggle}
          onPrint={print}
        />
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
      <Show when={intents.rewindAsked()} keyed>
        {asked => (
          <Suspense>
            <RewindDialog sessionId={asked.sessionId} turnId={asked.turnId} />
          </Suspense>
        )}
      </Show>
      <Suspense>
        <Show when={intents.beginAsked()} keyed>
          {asked =>
            asked.what === 'tries' ? (
              <NewTriesDialog project={asked.project} />
            ) : (
              <NewSessionDialog project={asked.project} cliType={asked.cliType} />
            )
          }
        </Show>
        <Show when={intents.worktreeShown()} keyed>
          {project => <WorktreeDialog project={project} />}
        </Show>
      </Suspense>
      <Show when={intents.devicesShown()}>
        <DevicesDialog />
      </Show>
      <Notices />
    </OwnersProvider>
  )
}

/** The tab of the desk that this key opens. */
const deskTabOf = (event: KeyboardEvent): string | undefined =>
  DESK_TABS.find(tab => tab.key !== undefined && event.code === `Key${tab.key}`)?.id
