// Everything by name: sessions, projects, commands; files, symbols and code of the current project.

import { createEffect, createMemo, createSignal, For, on, onCleanup, Show } from 'solid-js'
import * as api from '../../api'
import { addressOf, type Place } from '../../store/address'
import { type Found, foundOf, NOTHING } from '../../store/codeSearch'
import { ranked } from '../../store/fileRank'
import {
  useConversations,
  useDesk,
  useIntents,
  useLists,
  useNotices,
  useProjects,
  useServer,
  useSessions,
  useTabs,
} from '../../store/owners'
import {
  notifications,
  setNotifications,
  setSound,
  setTheme,
  sound,
  type Theme,
  theme,
} from '../../store/settings'
import { copyText } from '../copy'
import { Dialog } from '../Dialog'
import { DESK_TABS } from '../desk/tabs'
import { copyConversation as copyWhole } from '../wholeConversation'

interface Entry {
  group: 'Commands' | 'Sessions' | 'New session' | 'Files' | 'Code'
  name: string
  detail: string
  /** A line of code, shown below. */
  code?: string
  run(): void
  /** With Shift: named in the message. */
  mention?(): void
}

/** How many passages of code are shown. */
const MAX_HITS = 8
/** How long the typing rests before the server is asked. */
const SEARCH_AFTER_MS = 120
const THEMES: Theme[] = ['system', 'light', 'dark']

/** Code of tests comes after the code that it tests. */
function rankedCode(found: Found, query: string): Found {
  return found.kind === 'hits'
    ? { ...found, hits: ranked(found.hits, query, hit => hit.place.replace(/:\d.*$/, '')) }
    : found
}

export function Palette(props: {
  query: string
  onClose(): void
  onAdd(): void
  onToggle(panel: 'sidebar' | 'inspector'): void
  onPrint(): void
}) {
  const conversations = useConversations()
  const desk = useDesk()
  const intents = useIntents()
  const lists = useLists()
  const notices = useNotices()
  const projects = useProjects()
  const server = useServer()
  const sessions = useSessions()
  const tabs = useTabs()
  const [query, setQuery] = createSignal(props.query)
  const [marked, setMarked] = createSignal(0)
  const [files, setFiles] = createSignal<string[]>([])
  const [code, setCode] = createSignal<Found>(NOTHING)
  const { active } = tabs
  /** The project that is searched: the shown session's, else the first. */
  const project = () => projects.ofSession(active()) ?? projects.list[0]

  /** The worktree that the shown session works in. */
  const ofWorktree = () => {
    const shown = projects.ofSession(active())
    return shown?.worktree && !shown.worktree.removed ? shown : undefined
  }

  const commands = (): Entry[] => [
    command('Add a project…', '', props.onAdd),
    ...(active()
      ? [
          command('Close this tab', 'Alt W', () => tabs.close(active() ?? '')),
          command('Rename this session…', 'F2', () => intents.askName(active())),
          command(
            'Archive this session',
            '',
            () => void notices.attempt('It was not archived', () => sessions.archive(active() ?? '', true)),
          ),
          ...(ofWorktree()
            ? [
                command('Bring this worktree back or remove it…', '', () =>
                  intents.showWorktree(ofWorktree()),
                ),
              ]
            : []),
          ...DESK_TABS.map(tab =>
            command(`Show ${tab.label.toLowerCase()}`, tab.key ? `Ctrl Shift ${tab.key}` : '', () =>
              desk.show(tab.id),
            ),
          ),
          command('Find in this conversation', 'Ctrl F', () => intents.setFinding(true)),
          command('Print this conversation', 'Ctrl P', props.onPrint),
          command('Copy this conversation as Markdown', '', () => void copyConversation()),
          command(
            'Copy the link to this session',
            '',
            () => void copyLink({ kind: 'session', sessionId: active() ?? '' }),
          ),
          command('Next tab', 'Alt ]', () => tabs.step(1)),
          command('Previous tab', 'Alt [', () => tabs.step(-1)),
          command(
            'Stop the turn',
            'Esc Esc',
            () =>
              void notices.attempt('The turn was not stopped', () => conversations.cancel(active() ?? '')),
          ),
          command(
            'End this session’s agent',
            '',
            () => void notices.attempt('The agent was not ended', () => conversations.kill(active() ?? '')),
          ),
        ]
      : []),
    command('Reopen the tab that was closed last', 'Alt Shift T', () => tabs.reopen()),
    command('Show or hide the sidebar', 'Ctrl B', () => props.onToggle('sidebar')),
    command('Show or hide the inspector', 'Ctrl I', () => props.onToggle('inspector')),
    ...THEMES.filter(choice => choice !== theme()).map(choice =>
      command(
        choice === 'system'
          ? 'Colours as the system has them'
          : `${choice === 'dark' ? 'Dark' : 'Light'} colours`,
        '',
        () => setTheme(choice),
      ),
    ),
    command(
      notifications() ? 'Stop notifications' : 'Notify me when a session needs me',
      '',
      () => void toggleNotifications(),
    ),
    command(sound() ? 'No sound' : 'Play a sound when a session needs me', '', () => setSound(on => !on)),
    command('Browsers that were let in…', '', () => intents.showDevices(true)),
    command('Read agents and sessions again', '', () => void lists.refresh()),
  ]
  const command = (name: string, detail: string, run: () => void): Entry => ({
    group: 'Commands',
    name,
    detail,
    run,
  })

  const copyConversation = () =>
    notices.attempt('Not copied', async () => {
      await copyWhole({ conversations, sessions }, conversations.session(active() ?? ''))
      notices.notify('The conversation is on the clipboard.')
    })
  const copyLink = (place: Place) =>
    notices.attempt('Not copied', async () => {
      await copyText(new URL(addressOf(place), location.href).href)
      notices.notify('The link is on the clipboard.')
    })

  async function toggleNotifications(): Promise<void> {
    if (notifications()) setNotifications(false)
    else if ((await Notification.requestPermission()) === 'granted') setNotifications(true)
    else notices.notify('The browser does not allow notifications from this page.', 'error')
  }

  const recent = (): Entry[] =>
    sessions.recent().map(session => ({
      group: 'Sessions',
      name: sessions.titleOf(session.sessionId),
      detail: projects.ofSession(session.sessionId)?.name ?? '',
      run: () => tabs.select(session.sessionId),
    }))
  const starts = (): Entry[] =>
    projects.mains().flatMap(project => [
      ...server.agents
        .filter(agent => agent.status === 'found')
        .map(agent => ({
          group: 'New session' as const,
          name: `New ${agent.name} session in ${project.name}`,
          detail: project.path,
          run: () => void sessions.create(project, agent.cliType),
        })),
      ...(['session', 'tries'] as const).map(what => ({
        group: 'New session' as const,
        name: `${what === 'tries' ? 'Several tries' : 'New session, in a worktree if you like,'} in ${project.name}…`,
        detail: project.path,
        run: () => intents.askBegin({ project, what }),
      })),
    ])
  /** Shows a place, such as `src/a.ts:2`. */
  const show = (place: string) => {
    const shown = project()
    const [, path = place, line = '1'] = /^(.*):(\d+)$/.exec(place) ?? []
    if (shown) intents.showPlace({ project: shown, path, line: Number(line) })
  }
  /** Puts a place into the message that is being written. */
  const mention = (place: string) => active() && intents.insert(`@${place}`)
  const taken = () => (active() ? 'Shift Enter: into the message' : '')
  const found = (): Entry[] =>
    files().map(file => ({
      group: 'Files',
      name: file,
      detail: taken(),
      run: () => show(file),
      mention: () => mention(file),
    }))
  const inCode = (): Entry[] => {
    const found = code()
    const searched = project()
    if (found.kind === 'hits') {
      return found.hits.map(hit => ({
        group: 'Code',
        name: hit.name,
        detail: hit.place,
        code: hit.line,
        run: () => show(hit.place),
        mention: () => mention(hit.place),
      }))
    }
    if (found.kind === 'wait') return [{ group: 'Code', name: found.why, detail: '', run: () => {} }]
    if (!searched) return []
    const index = () => void notices.attempt('It was not indexed', () => projects.index(searched))
    return [{ group: 'Code', name: `Index ${searched.name} to search its code`, detail: '', run: index }]
  }

  const linkToSearch = () =>
    command('Copy the link to this search', '', () => void copyLink({ kind: 'search', query: query() }))

  const entries = createMemo<Entry[]>(() => {
    const wanted = query().toLowerCase().split(/\s+/).filter(Boolean)
    const matches = (entry: Entry) => {
      const text = `${entry.name} ${entry.detail}`.toLowerCase()
      return wanted.every(word => text.includes(word))
    }
    const first = wanted.length === 0 ? recent().slice(0, 6) : recent().filter(matches).slice(0, 12)
    return [
      ...first,
      ...starts().filter(matches),
      ...commands().filter(matches),
      ...found().slice(0, 8),
      ...inCode(),
      ...(wanted.length > 0 ? [linkToSearch()] : []),
    ]
  })
  createEffect(on(query, () => setMarked(0)))
  createEffect(
    on(query, query => {
      const searched = project()
      if (query.trim().length < 2 || !searched) {
        setFiles([])
        setCode(NOTHING)
        return
      }
      let current = true
      const wait = setTimeout(() => {
        api.projectFiles(searched.projectId, query).then(
          answer => current && setFiles(ranked(answer.files, query, file => file)),
          () => current && setFiles([]),
        )
        api.searchCode(searched.path, query, MAX_HITS).then(
          answer => current && setCode(rankedCode(foundOf(answer), query)),
          () => current && setCode(NOTHING),
        )
      }, SEARCH_AFTER_MS)
      onCleanup(() => {
        current = false
        clearTimeout(wait)
      })
    }),
  )

  const run = (entry: Entry | undefined, shift: boolean) => {
    if (!entry) return
    props.onClose()
    if (shift && entry.mention) entry.mention()
    else entry.run()
  }
  const onKey = (event: KeyboardEvent) => {
    const length = entries().length
    if (event.key === 'ArrowDown') setMarked(at => (at + 1) % Math.max(1, length))
    else if (event.key === 'ArrowUp') setMarked(at => (at - 1 + length) % Math.max(1, length))
    else if (event.key === 'Enter') run(entries()[marked()], event.shiftKey)
    else return
    event.preventDefault()
    document.getElementById(`palette-${marked()}`)?.scrollIntoView({ block: 'nearest' })
  }

  return (
    <Dialog label="Search and commands" class="palette" onClose={props.onClose}>
      <input
        class="palette-input"
        type="text"
        role="combobox"
        aria-label="Search sessions, files, code and commands"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={entries().length > 0 ? `palette-${marked()}` : undefined}
        placeholder="Sessions, files, code, commands…"
        autocomplete="off"
        spellcheck={false}
        autofocus
        value={query()}
        onInput={event => setQuery(event.currentTarget.value)}
        onKeyDown={onKey}
      />
      <ul id="palette-list" role="listbox" aria-label="Results" class="palette-list">
        <For each={entries()} fallback={<li class="quiet pad">Nothing has this name.</li>}>
          {(entry, index) => (
            <li
              id={`palette-${index()}`}
              role="option"
              aria-selected={marked() === index()}
              tabIndex={-1}
              onPointerMove={() => setMarked(index())}
              onClick={event => run(entry, event.shiftKey)}
            >
              <Show when={index() === 0 || entries()[index() - 1]?.group !== entry.group}>
                <span class="palette-group">{entry.group}</span>
              </Show>
              <span class="palette-entry">
                <span class="ellipsis">{entry.name}</span>
                <span
                  class="quiet ellipsis"
                  classList={{ 'by-keys': entry.group === 'Commands' || entry.group === 'Files' }}
                >
                  {entry.detail}
                </span>
                <Show when={entry.code}>{code => <code class="palette-code ellipsis">{code()}</code>}</Show>
              </span>
            </li>
          )}
        </For>
      </ul>
    </Dialog>
  )
}
