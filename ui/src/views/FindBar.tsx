// Finds words in the whole conversation, not only in the rows that are on the screen.

import { createEffect, createMemo, createSignal, on, onCleanup, onMount, Show } from 'solid-js'
import { hitsIn } from '../store/find'
import { useConversations, useIntents, useNotices } from '../store/owners'
import type { Session } from '../store/session'
import { returnFocus } from '../typing'
import { Icon } from './Icon'
import { readAll } from './wholeConversation'

const NAME = 'found'

export function FindBar(props: { session: Session; onShow(key: string): void }) {
  const conversations = useConversations()
  const intents = useIntents()
  const notices = useNotices()
  const [words, setWords] = createSignal('')
  const [reading, setReading] = createSignal(false)
  const [at, setAt] = createSignal(0)
  let input: HTMLInputElement | undefined
  const hits = createMemo(() => hitsIn(props.session.log, props.session.rows(), words()))
  const current = () => hits()[at()]
  const close = () => {
    intents.setFinding(false)
    returnFocus()
  }
  const step = (by: number) => {
    const { length } = hits()
    if (length > 0) setAt(at => (at + by + length) % length)
  }
  onMount(async () => {
    input?.focus()
    if (props.session.earlier() === undefined) return
    setReading(true)
    await notices.attempt('Only what is loaded is searched', () => readAll({ conversations }, props.session))
    setReading(false)
  })
  // The newest is nearest to what was just read.
  createEffect(on(words, () => setAt(Math.max(0, hits().length - 1)), { defer: true }))
  // Not at every new row: only when another hit is meant.
  const meant = createMemo(() => (current() ? `${at()} ${current()?.key}` : undefined))
  createEffect(on(meant, () => current() && props.onShow(current()?.key ?? '')))
  const mark = () => markWords(words())
  const rows = new MutationObserver(mark)
  onMount(() => {
    const list = document.querySelector('.rows')
    if (list) rows.observe(list, { childList: true, subtree: true, characterData: true })
  })
  createEffect(mark)
  onCleanup(() => {
    rows.disconnect()
    markWords('')
  })
  return (
    <search class="find-bar">
      <input
        ref={input}
        class="input"
        type="text"
        aria-label="Find in this conversation"
        placeholder="Find in this conversation"
        autocomplete="off"
        spellcheck={false}
        value={words()}
        onInput={event => setWords(event.currentTarget.value)}
        onKeyDown={event => {
          if (event.key === 'Escape') close()
          else if (event.key === 'Enter') step(event.shiftKey ? -1 : 1)
          else return
          event.preventDefault()
          event.stopPropagation()
        }}
      />
      <span class="quiet small-text find-count" role="status">
        <Show when={!reading()} fallback="reading earlier messages…">
          {words() === '' ? '' : hits().length === 0 ? 'none' : `${at() + 1} of ${hits().length}`}
        </Show>
      </span>
      <button
        type="button"
        class="icon-button"
        aria-label="Previous"
        title="Shift Enter"
        onClick={() => step(-1)}
      >
        <span class="up">
          <Icon name="chevron-down" size={14} />
        </span>
      </button>
      <button type="button" class="icon-button" aria-label="Next" title="Enter" onClick={() => step(1)}>
        <Icon name="chevron-down" size={14} />
      </button>
      <button type="button" class="icon-button" aria-label="Close the search" title="Esc" onClick={close}>
        <Icon name="close" size={14} />
      </button>
    </search>
  )
}

/** Marks the words in the rows that are drawn, without changing them. */
function markWords(words: string): void {
  if (!('highlights' in CSS)) return
  CSS.highlights.delete(NAME)
  const list = document.querySelector('.rows')
  if (words === '' || !list) return
  const wanted = words.toLowerCase()
  const ranges: Range[] = []
  const walk = document.createTreeWalker(list, NodeFilter.SHOW_TEXT)
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const text = (node.nodeValue ?? '').toLowerCase()
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
      const range = new Range()
      range.setStart(node, at)
      range.setEnd(node, at + wanted.length)
      ranges.push(range)
    }
  }
  CSS.highlights.set(NAME, new Highlight(...ranges))
}
