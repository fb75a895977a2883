// Everything by name: sessions, projects, files of the current project, commands.

import { createEffect, createMemo, createSignal, For, on, onCleanup, Show } from 'solid-js'
import * as api from '../../api'
import { useApp } from '../../store/app'
import {
  notifications,
  setNotifications,
  setSound,
  setTheme,
  sound,
  type Theme,
  theme,
} from '../../store/settings'
import { Dialog } from '../Dialog'

interface Entry {
  group: 'Commands' | 'Sessions' | 'New session' | 'Files'
  name: string
  detail: string
  run(): void
}

const THEMES: Theme[] = ['system', 'light', 'dark']

export function Palette(props: {
  onClose(): void
  onAdd(): void
  onToggle(panel: 'sidebar' | 'inspector'): void
}) {
  const app = useApp()
  const [query, setQuery] = createSignal('')
  const [marked, setMarked] = createSignal(0)
  const [files, setFiles] = createSignal<string[]>([])
  const active = () => app.tabs().active

  const commands = (): Entry[] => [
    command('Add a project…', '', props.onAdd),
    ...(active()
      ? [
          command('Close this tab', 'Alt W', () => app.close(active() ?? '')),
          command('Next tab', 'Alt ]', () => app.step(1)),
          command('Previous tab', 'Alt [', () => app.step(-1)),
          command(
            'Stop the turn',
            'Esc Esc',
            () => void app.attempt('The turn was not stopped', () => app.cancel(active() ?? '')),
          ),
          command(
            'End this session’s agent',
            '',
            () => void app.attempt('The agent was not ended', () => app.kill(active() ?? '')),
          ),
        ]
      : []),
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
    command('Read agents and sessions again', '', () => void app.refresh()),
  ]
  const command = (name: string, detail: string, run: () => void): Entry => ({
    group: 'Commands',
    name,
    detail,
    run,
  })

  async function toggleNotifications(): Promise<void> {
    if (notifications()) setNotifications(false)
    else if ((await Notification.requestPermission()) === 'granted') setNotifications(true)
    else app.notify('The browser does not allow notifications from this page.', 'error')
  }

  const sessions = (): Entry[] =>
    Object.values(app.lists.sessions)
      .filter(session => session !== undefined)
      .sort((a, b) => b.lastActivity.localeCompare(a.lastActivity))
      .map(session => ({
        group: 'Sessions',
        name: app.titleOf(session.sessionId),
        detail: app.projectOf(session.sessionId)?.name ?? '',
        run: () => app.select(session.sessionId),
      }))
  const starts = (): Entry[] =>
    app.lists.projects.flatMap(project =>
      app.lists.agents
        .filter(agent => agent.status === 'found')
        .map(agent => ({
          group: 'New session' as const,
          name: `New ${agent.name} session in ${project.name}`,
          detail: project.path,
          run: () => void app.create(project, agent.cliType),
        })),
    )
  const found = (): Entry[] =>
    files().map(file => ({
      group: 'Files',
      name: file,
      detail: 'copy the path',
      run: () => void app.attempt('Not copied', () => navigator.clipboard.writeText(file)),
    }))

  const entries = createMemo<Entry[]>(() => {
    const wanted = query().toLowerCase().split(/\s+/).filter(Boolean)
    const matches = (entry: Entry) => {
      const text = `${entry.name} ${entry.detail}`.toLowerCase()
      return wanted.every(word => text.includes(word))
    }
    const first = wanted.length === 0 ? sessions().slice(0, 6) : sessions().filter(matches).slice(0, 12)
    return [...first, ...starts().filter(matches), ...commands().filter(matches), ...found().slice(0, 12)]
  })
  createEffect(on(query, () => setMarked(0)))
  createEffect(
    on(query, query => {
      const project = app.projectOf(active())
      if (query.length < 2 || !project) {
        setFiles([])
        return
      }
      const wait = setTimeout(
        () =>
          api.projectFiles(project.projectId, query).then(
            answer => setFiles(answer.files),
            () => setFiles([]),
          ),
        100,
      )
      onCleanup(() => clearTimeout(wait))
    }),
  )

  const run = (entry: Entry | undefined) => {
    if (!entry) return
    props.onClose()
    entry.run()
  }
  const onKey = (event: KeyboardEvent) => {
    const length = entries().length
    if (event.key === 'ArrowDown') setMarked(at => (at + 1) % Math.max(1, length))
    else if (event.key === 'ArrowUp') setMarked(at => (at - 1 + length) % Math.max(1, length))
    else if (event.key === 'Enter') run(entries()[marked()])
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
        aria-label="Search sessions, files and commands"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={entries().length > 0 ? `palette-${marked()}` : undefined}
        placeholder="Sessions, files, commands…"
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
              onClick={() => run(entry)}
            >
              <Show when={index() === 0 || entries()[index() - 1]?.group !== entry.group}>
                <span class="palette-group">{entry.group}</span>
              </Show>
              <span class="palette-entry">
                <span class="ellipsis">{entry.name}</span>
                <span class="quiet ellipsis">{entry.detail}</span>
              </span>
            </li>
          )}
        </For>
      </ul>
    </Dialog>
  )
}
