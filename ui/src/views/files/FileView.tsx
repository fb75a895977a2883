// A file of the session's folder, to be read: its colours, what it defines, where a name leads, who wrote a line.

import {
  createEffect,
  createMemo,
  createResource,
  createSignal,
  For,
  Match,
  on,
  type Resource,
  Show,
  Switch,
} from 'solid-js'
import * as api from '../../api'
import type { BlameRun, FilePlacesResponse } from '../../protocol'
import { fileTrail } from '../../store/openFile'
import { useDesk, useIntents } from '../../store/owners'
import { visible } from '../../text/escape'
import { bytes, plural } from '../../text/format'
import type { DeskTabProps } from '../desk/tabs'
import { Icon } from '../Icon'
import { PathName } from '../PathName'
import { CodeRows, type Word } from './CodeRows'
import '../../styles/files.css'

type Panel = { kind: 'outline' } | { kind: 'places'; title: string; answer: FilePlacesResponse }

export default function FileView(props: DeskTabProps) {
  const desk = useDesk()
  const intents = useIntents()
  const trail = fileTrail(props.session.sessionId)
  const place = { projectId: props.project.projectId, sessionId: props.session.sessionId }
  const [query, setQuery] = createSignal('')
  const [word, setWord] = createSignal<Word | undefined>()
  const [panel, setPanel] = createSignal<Panel | undefined>()
  const [note, setNote] = createSignal('')
  const [blame, setBlame] = createSignal<BlameRun[] | undefined>()

  // What somebody else has asked for: a place in the conversation, a changed file.
  createEffect(
    on(desk.place, asked => {
      if (asked?.path !== undefined) go(asked.path, Number(asked.line ?? 1))
    }),
  )
  const path = createMemo(() => trail.at()?.path)
  const [file, { refetch }] = createResource(path, path => api.wholeFile(place, path))
  const [found] = createResource(
    () => query().trim() || undefined,
    query => api.projectFiles(place.projectId, query),
  )
  const [outline] = createResource(
    () => (panel()?.kind === 'outline' ? path() : undefined),
    path => api.fileOutline(props.project.path, path),
  )
  createEffect(
    on(path, () => {
      setWord(undefined)
      setBlame(undefined)
      setNote('')
    }),
  )
  const go = (path: string, line: number) => {
    setQuery('')
    trail.go({ path, line })
  }
  const look = async (of: 'definition' | 'references', at: Word) => {
    const shown = path()
    if (shown === undefined) return
    setNote(`Looking for ${at.word}…`)
    try {
      const answer = await api.filePlaces(place, shown, at.line, at.column, of)
      const [only] = answer.places
      setNote(answer.places.length === 0 ? (answer.note ?? `Nothing is known of ${at.word}.`) : '')
      if (of === 'definition' && answer.places.length === 1 && only && only.text !== undefined) {
        go(only.path, only.line)
      } else if (answer.places.length > 0) {
        setPanel({ kind: 'places', title: `${at.word}: ${plural(answer.places.length, 'place')}`, answer })
      }
    } catch (error) {
      setNote((error as Error).message)
    }
  }
  const toggleBlame = async () => {
    const shown = path()
    if (blame() || shown === undefined) {
      setBlame(undefined)
      return
    }
    try {
      setBlame((await api.fileBlame(place, shown)).runs)
      setNote('')
    } catch (error) {
      setNote((error as Error).message)
    }
  }
  return (
    <div class="file-view">
      <header class="file-head">
        <button
          type="button"
          class="icon-button"
          aria-label="Back"
          title="Back to where you came from"
          disabled={!trail.canGoBack()}
          onClick={() => trail.back()}
        >
          <Icon name="back" />
        </button>
        <input
          type="search"
          class="file-search"
          aria-label="Open a file"
          placeholder="Open a file…"
          value={query()}
          onInput={event => setQuery(event.currentTarget.value)}
          onKeyDown={event => {
            const first = read(found)?.files[0]
            if (event.key === 'Enter' && first !== undefined) go(first, 1)
            if (event.key === 'Escape' && query() !== '') {
              event.preventDefault()
              setQuery('')
            }
          }}
        />
        <button
          type="button"
          class="button small"
          aria-pressed={panel()?.kind === 'outline'}
          disabled={path() === undefined}
          onClick={() => setPanel(shown => (shown?.kind === 'outline' ? undefined : { kind: 'outline' }))}
        >
          Outline
        </button>
        <button
          type="button"
          class="button small"
          aria-pressed={blame() !== undefined}
          disabled={path() === undefined}
          onClick={() => void toggleBlame()}
        >
          Blame
        </button>
      </header>
      <Show when={query().trim() !== ''}>
        <ul class="file-found" aria-label="Files">
          <For each={read(found)?.files} fallback={<li class="quiet pad">No file has this in its name.</li>}>
            {path => (
              <li>
                <button type="button" onClick={() => go(path, 1)}>
                  <PathName path={path} />
                </button>
              </li>
            )}
          </For>
        </ul>
      </Show>
      <Show when={trail.at()}>
        {spot => (
          <p class="file-title">
            <PathName path={visible(spot().path)} />
            <span class="spacer" />
            <button
              type="button"
              class="link small-text"
              onClick={() => intents.insert(`@${spot().path}${spot().line > 1 ? `:${spot().line}` : ''}`)}
            >
              Put it into the message
            </button>
            <button
              type="button"
              class="icon-button"
              aria-label="Read it again"
              onClick={() => void refetch()}
            >
              <Icon name="refresh" size={14} />
            </button>
          </p>
        )}
      </Show>
      <div class="file-body">
        <Switch
          fallback={
            <p class="quiet pad">
              {file.loading
                ? 'Loading…'
                : 'Type a part of a file’s name, or click a place in the conversation.'}
            </p>
          }
        >
          <Match when={file.error}>{error => <p class="pad">{(error() as Error).message}</p>}</Match>
          <Match when={read(file)?.kind !== 'text' ? read(file) : undefined}>
            {file => (
              <p class="quiet pad">
                {file().kind === 'image' ? 'A picture' : 'A binary file'} of {bytes(file().bytes)}: there is
                no text to show.
              </p>
            )}
          </Match>
          <Match when={read(file)?.text === '' ? read(file) : undefined}>
            <p class="quiet pad">The file is empty.</p>
          </Match>
          <Match when={read(file)}>
            {file => (
              <CodeRows
                path={file().path}
                text={file().text ?? ''}
                spot={trail.at() ?? { line: 1 }}
                blame={blame()}
                onWord={(word, follow) => {
                  setWord(word)
                  if (word && follow) void look('definition', word)
                }}
              />
            )}
          </Match>
        </Switch>
        <Show when={panel()}>
          {panel => (
            <aside class="file-panel" aria-label={panel().kind === 'outline' ? 'Outline' : 'Places'}>
              <Switch>
                <Match when={panel().kind === 'outline'}>
                  <ul>
                    <For
                      each={read(outline)?.outline?.symbols}
                      fallback={
                        <li class="quiet pad small-text">
                          {outline.loading
                            ? 'Loading…'
                            : (read(outline)?.message ??
                              'Nothing is known of this file; the index has its outline.')}
                        </li>
                      }
                    >
                      {symbol => (
                        <li>
                          <button type="button" onClick={() => go(path() ?? '', symbol.span.startLine)}>
                            <span class="ellipsis">{visible(symbol.symbolLabel)}</span>
                            <span class="quiet">{symbol.span.startLine}</span>
                          </button>
                        </li>
                      )}
                    </For>
                  </ul>
                </Match>
                <Match when={placesOf(panel())}>
                  {places => (
                    <>
                      <p class="file-panel-title">
                        {visible(places().title)}
                        <span class="spacer" />
                        <button
                          type="button"
                          class="icon-button"
                          aria-label="Close the places"
                          onClick={() => setPanel(undefined)}
                        >
                          <Icon name="close" size={12} />
                        </button>
                      </p>
                      <ul>
                        <For each={places().answer.places}>
                          {at => (
                            <li>
                              <button
                                type="button"
                                disabled={at.text === undefined}
                                title={at.text === undefined ? 'Outside of the project' : undefined}
                                onClick={() => go(at.path, at.line)}
                              >
                                <span class="place-of">
                                  <PathName path={visible(at.path)} />
                                  <span class="quiet">:{at.line}</span>
                                </span>
                                <code class="ellipsis">{visible(at.text ?? '')}</code>
                              </button>
                            </li>
                          )}
                        </For>
                      </ul>
                      <Show when={places().answer.note}>
                        {note => <p class="quiet pad small-text">{visible(note())}</p>}
                      </Show>
                    </>
                  )}
                </Match>
              </Switch>
            </aside>
          )}
        </Show>
      </div>
      <Show when={word() || note() !== '' || read(file)?.cut}>
        <footer class="file-foot" role="status">
          <Show when={word()}>
            {word => (
              <>
                <code class="ellipsis">{visible(word().word)}</code>
                <button type="button" class="button small" onClick={() => void look('definition', word())}>
                  Definition
                </button>
                <button type="button" class="button small" onClick={() => void look('references', word())}>
                  References
                </button>
              </>
            )}
          </Show>
          <span class="quiet small-text">
            {note() ||
              (read(file)?.cut ? `Only the beginning of ${bytes(read(file)?.bytes ?? 0)} is shown.` : '')}
          </span>
        </footer>
      </Show>
    </div>
  )
}

/** What a resource has, without a wait: whoever waits here takes the focus from the field. */
const read = <T,>(resource: Resource<T>): T | undefined =>
  resource.state === 'ready' || resource.state === 'refreshing' ? resource.latest : undefined

const placesOf = (panel: Panel) => (panel.kind === 'places' ? panel : undefined)
