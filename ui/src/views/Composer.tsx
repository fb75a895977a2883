// Where a message is written. Enter sends (during a turn it queues), Shift+Enter breaks the line, Esc Esc stops.

import { createEffect, createMemo, createSignal, For, on, onCleanup, onMount, Show } from 'solid-js'
import * as api from '../api'
import type { NamedOption } from '../protocol'
import { ranked } from '../store/fileRank'
import {
  useConversations,
  useIntents,
  useNotices,
  useProjects,
  useServer,
  useSessions,
} from '../store/owners'
import type { Session } from '../store/session'
import { dialogOpen, setComposer } from '../typing'
import { chosenOption } from './chosenOption'
import { commandsFor, complete, filesFor, type Suggestion, type Trigger, triggerAt } from './completion'
import { Icon } from './Icon'
import { type Attachment, attach, imageFiles, MAX_IMAGES } from './images'
import { Menu } from './Menu'
import { agentName } from './marks'
import { Thumbnail } from './Thumbnail'

const DOUBLE_ESCAPE_MS = 600

/** What was written and not sent, by session; it outlives a reload. */
const drafts = {
  get: (sessionId: string) => sessionStorage.getItem(`chartroom.draft.${sessionId}`) ?? '',
  set: (sessionId: string, text: string) => {
    if (text === '') sessionStorage.removeItem(`chartroom.draft.${sessionId}`)
    else sessionStorage.setItem(`chartroom.draft.${sessionId}`, text)
  },
}

export function Composer(props: { session: Session; onSent(): void }) {
  const conversations = useConversations()
  const intents = useIntents()
  const notices = useNotices()
  const projects = useProjects()
  const server = useServer()
  const sessions = useSessions()
  const sessionId = props.session.sessionId
  let area: HTMLTextAreaElement | undefined
  let picker: HTMLInputElement | undefined
  const [text, setText] = createSignal(drafts.get(sessionId))
  const [images, setImages] = createSignal<Attachment[]>([])
  const [trigger, setTrigger] = createSignal<Trigger | undefined>()
  const [files, setFiles] = createSignal<string[]>([])
  const [marked, setMarked] = createSignal(0)

  const working = () => ['working', 'needs_you'].includes(props.session.state().state)
  const agent = () => agentName(sessions.known[sessionId]?.cliType)
  const connected = () => server.status() === 'connected'
  const empty = () => text().trim() === '' && images().length === 0

  createEffect(() => drafts.set(sessionId, text()))
  onMount(() => {
    if (area) onCleanup(setComposer(area, typed => setText(text => text + typed)))
    if (matchMedia('(hover: hover)').matches && !dialogOpen()) area?.focus()
  })

  const suggestions = createMemo<Suggestion[]>(() => {
    const current = trigger()
    if (!current) return []
    if (current.kind === 'command') return commandsFor(current.query, props.session.options().commands)
    return filesFor(files())
  })
  createEffect(on(suggestions, () => setMarked(0)))
  createEffect(
    on(trigger, current => {
      if (current?.kind !== 'file') return
      const project = projects.ofSession(sessionId)
      if (!project) return
      const wait = setTimeout(() => {
        api.projectFiles(project.projectId, current.query).then(
          answer => {
            if (trigger() === current) setFiles(ranked(answer.files, current.query, file => file))
          },
          () => setFiles([]),
        )
      }, 60)
      onCleanup(() => clearTimeout(wait))
    }),
  )

  const look = () => setTrigger(area ? triggerAt(area.value, area.selectionStart) : undefined)
  const take = (suggestion: Suggestion) => {
    const current = trigger()
    if (!current || !area) return
    const [next, caret] = complete(text(), area.selectionStart, current, suggestion.insert)
    setText(next)
    setTrigger(undefined)
    area.value = next
    area.setSelectionRange(caret, caret)
    area.focus()
  }

  // Messages arrive in the order in which they were sent, however quickly one follows another.
  let sent: Promise<unknown> = Promise.resolve()
  const send = () => {
    if (empty() || !connected()) return
    const message = text().trim()
    const attached = images()
    setText('')
    setImages([])
    setTrigger(undefined)
    props.onSent()
    props.session.keepImages(
      message,
      attached.flatMap(({ bitmap }) => (bitmap ? [bitmap] : [])),
    )
    const wire = attached.map(attachment => attachment.image)
    sent = sent
      .then(() => conversations.send(sessionId, message, wire))
      .catch((error: Error) => {
        // Nothing that was written is lost: it comes back, before what was typed meanwhile.
        setText(now => [message, now].filter(Boolean).join('\n'))
        setImages(now => [...attached, ...now])
        notices.notify(`Not sent: ${error.message}. Your text is still here.`, 'error')
      })
  }

  createEffect(
    on(
      intents.inserted,
      inserted => {
        if (!inserted) return
        setText(text => `${text}${text === '' || text.endsWith(' ') ? '' : ' '}${inserted.text} `)
        area?.focus()
      },
      { defer: true },
    ),
  )

  /** Stops the turn, and keeps what waits behind it back: whoever stops wants to say something first. */
  const stop = () =>
    void notices.attempt('The turn was not stopped', async () => {
      if (props.session.queue().length > 0) await conversations.changeQueue(sessionId, { action: 'hold' })
      return conversations.cancel(sessionId)
    })
  let lastEscape = 0
  const onEscape = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || event.defaultPrevented || dialogOpen()) return
    if (event.timeStamp - lastEscape < DOUBLE_ESCAPE_MS && working()) {
      lastEscape = 0
      stop()
    } else lastEscape = event.timeStamp
  }
  document.addEventListener('keydown', onEscape)
  onCleanup(() => document.removeEventListener('keydown', onEscape))

  /** What was said before, by arrows from an empty message: to say it again, or in better words. */
  let recalled: { text: string; back: number } | undefined
  const recall = (step: number): boolean => {
    if (text() !== (recalled?.text ?? '')) recalled = undefined
    if (text() !== '' && !recalled) return false
    const back = (recalled?.back ?? 0) + step
    const said = [...props.session.log.items.values()].flatMap(item =>
      item.type === 'message' && item.origin === 'user' ? [item.content] : [],
    )
    const words = back === 0 ? '' : said.at(-back)
    if (back < 0 || words === undefined) return recalled !== undefined
    recalled = back === 0 ? undefined : { text: words, back }
    setText(words)
    queueMicrotask(() => area?.setSelectionRange(words.length, words.length))
    return true
  }

  const onKey = (event: KeyboardEvent) => {
    const offered = suggestions()
    if (offered.length > 0) {
      const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
      if (step !== 0) {
        event.preventDefault()
        setMarked(at => (at + step + offered.length) % offered.length)
        return
      }
      const suggestion = offered[marked()]
      if ((event.key === 'Enter' || event.key === 'Tab') && !event.shiftKey && suggestion) {
        event.preventDefault()
        take(suggestion)
        return
      }
      if (event.key === 'Escape') {
        event.preventDefault()
        setTrigger(undefined)
        return
      }
    }
    if ((event.key === 'ArrowUp' || event.key === 'ArrowDown') && recall(event.key === 'ArrowUp' ? 1 : -1)) {
      event.preventDefault()
      return
    }
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
      event.preventDefault()
      send()
    }
  }

  const addImages = async (list: File[]) => {
    for (const file of list) {
      const attached = await attach(file)
      if (typeof attached === 'string') notices.notify(attached, 'error')
      else setImages(images => [...images, attached].slice(0, MAX_IMAGES))
    }
  }

  return (
    <form
      class="composer"
      aria-label="Message"
      onSubmit={event => {
        event.preventDefault()
        send()
      }}
      onDragOver={event => event.preventDefault()}
      onDrop={event => {
        const dropped = imageFiles(event.dataTransfer)
        if (dropped.length === 0) return
        event.preventDefault()
        void addImages(dropped)
      }}
    >
      <Show when={suggestions().length > 0}>
        <ul class="suggestions" id="suggestions" role="listbox" aria-label="Suggestions">
          <For each={suggestions()}>
            {(suggestion, index) => (
              <li
                id={`suggestion-${index()}`}
                role="option"
                aria-selected={marked() === index()}
                tabIndex={-1}
                onPointerDown={event => event.preventDefault()}
                onClick={() => take(suggestion)}
              >
                <span class="mono">{suggestion.name}</span>
                <span class="quiet ellipsis">{suggestion.description}</span>
              </li>
            )}
          </For>
        </ul>
      </Show>
      <Show when={images().length > 0}>
        <ul class="chips" aria-label="Images">
          <For each={images()}>
            {attachment => (
              <li class="chip">
                <Thumbnail bitmap={attachment.bitmap} />
                <span class="ellipsis">{attachment.name}</span>
                <button
                  type="button"
                  class="icon-button"
                  aria-label={`Remove ${attachment.name}`}
                  onClick={() => setImages(images => images.filter(other => other !== attachment))}
                >
                  <Icon name="close" size={14} />
                </button>
              </li>
            )}
          </For>
        </ul>
      </Show>
      <textarea
        ref={area}
        class="composer-text"
        aria-label="Message"
        placeholder={working() ? 'Message… (waits for this turn)' : `Message ${agent()}…`}
        rows={1}
        value={text()}
        aria-controls={suggestions().length > 0 ? 'suggestions' : undefined}
        aria-activedescendant={suggestions().length > 0 ? `suggestion-${marked()}` : undefined}
        onInput={event => {
          setText(event.currentTarget.value)
          look()
        }}
        onClick={look}
        onBlur={() => setTrigger(undefined)}
        onKeyDown={onKey}
        onPaste={event => {
          const pasted = imageFiles(event.clipboardData)
          if (pasted.length === 0) return
          event.preventDefault()
          void addImages(pasted)
        }}
      />
      <div class="composer-foot">
        <input
          ref={picker}
          type="file"
          class="visually-hidden"
          accept="image/png,image/jpeg,image/gif,image/webp"
          multiple
          tabIndex={-1}
          aria-label="Images to attach"
          onChange={event => {
            void addImages([...(event.currentTarget.files ?? [])])
            event.currentTarget.value = ''
          }}
        />
        <button
          type="button"
          class="icon-button"
          aria-label="Attach an image"
          title="Attach an image"
          onClick={() => picker?.click()}
        >
          <Icon name="image" />
        </button>
        <span class="spacer" />
        <OptionPicker
          label="Model"
          options={props.session.options().models}
          chosen={props.session.options().model}
          onChoose={model =>
            void notices.attempt('The model was not changed', async () => {
              await conversations.setModel(sessionId, model)
              props.session.patchOptions({ model })
            })
          }
        />
        <OptionPicker
          label="Permission mode"
          options={props.session.options().modes}
          chosen={props.session.options().mode}
          onChoose={mode =>
            void notices.attempt('The mode was not changed', async () => {
              await conversations.setMode(sessionId, mode)
              props.session.patchOptions({ mode })
            })
          }
        />
        <Show when={working()}>
          <button
            type="button"
            class="icon-button stop"
            aria-label="Stop the turn"
            title="Stop (Esc Esc)"
            onClick={stop}
          >
            <Icon name="stop" size={14} />
          </button>
        </Show>
        <button
          type="submit"
          class="icon-button send"
          aria-label={working() ? 'Queue the message' : 'Send the message'}
          title={connected() ? 'Enter' : 'Disconnected: the text is kept'}
          disabled={empty() || !connected()}
        >
          <Icon name="send" />
        </button>
      </div>
    </form>
  )
}

function OptionPicker(props: {
  label: string
  options: NamedOption[]
  chosen: string | undefined
  onChoose(id: string): void
}) {
  const current = () => chosenOption(props.options, props.chosen)
  const name = () => current()?.name ?? props.chosen
  return (
    <Show when={props.options.length > 0}>
      <Menu
        label={`${props.label}: ${name() ?? 'default'}`}
        button={
          <>
            <span class="ellipsis">{name() ?? props.label}</span> <Icon name="chevron-down" size={12} />
          </>
        }
        class="picker"
        align="end"
        upward
        entries={props.options.map(option => ({
          id: option.id,
          name: option.name,
          description: option.description,
          chosen: option === current(),
        }))}
        onChoose={props.onChoose}
      />
    </Show>
  )
}
