// A button that opens a list to choose from; arrows move, Enter chooses, Escape closes, letters jump.

import { createEffect, createSignal, createUniqueId, For, type JSX, onCleanup, Show } from 'solid-js'

export interface MenuEntry {
  id: string
  name: string
  description?: string
  /** The keys that do the same. */
  keys?: string
  disabled?: boolean
  chosen?: boolean
}

/** How near to the window's edge a menu may come. */
const EDGE_PX = 8

/** Moves a menu that would leave the window back into it. */
function keepInside(list: HTMLElement): void {
  list.style.maxHeight = `${innerHeight - 2 * EDGE_PX}px`
  const { left, right, top, bottom } = list.getBoundingClientRect()
  const by = (low: number, high: number, size: number) =>
    low < EDGE_PX ? EDGE_PX - low : high > size - EDGE_PX ? Math.max(EDGE_PX - low, size - EDGE_PX - high) : 0
  const [x, y] = [by(left, right, innerWidth), by(top, bottom, innerHeight)]
  if (x !== 0 || y !== 0) list.style.translate = `${x}px ${y}px`
}

export function Menu(props: {
  label: string
  button: JSX.Element
  class?: string
  align?: 'start' | 'end'
  upward?: boolean
  disabled?: boolean
  entries: MenuEntry[]
  onChoose(id: string): void
  /** Is given a function that opens the menu, for what opens it besides its button. */
  opener?(open: () => void): void
}) {
  const [open, setOpen] = createSignal(false)
  const listId = createUniqueId()
  let root: HTMLDivElement | undefined
  let button: HTMLButtonElement | undefined
  let list: HTMLDivElement | undefined

  props.opener?.(() => setOpen(true))
  const items = () => [
    ...(list?.querySelectorAll<HTMLButtonElement>('button:not([aria-disabled=true])') ?? []),
  ]
  const close = (focus: boolean) => {
    setOpen(false)
    if (focus) button?.focus()
  }
  const choose = (entry: MenuEntry) => {
    if (entry.disabled) return
    close(true)
    props.onChoose(entry.id)
  }
  const onKey = (event: KeyboardEvent) => {
    const all = items()
    const at = all.indexOf(document.activeElement as HTMLButtonElement)
    if (event.key === 'ArrowDown') all[(at + 1) % all.length]?.focus()
    else if (event.key === 'ArrowUp') all[(at - 1 + all.length) % all.length]?.focus()
    else if (event.key === 'Home') all[0]?.focus()
    else if (event.key === 'End') all[all.length - 1]?.focus()
    else if (event.key === 'Escape') close(true)
    else if (event.key === 'Tab') close(false)
    else if (event.key.length === 1 && event.key !== ' ') {
      all.find(item => item.textContent?.toLowerCase().startsWith(event.key.toLowerCase()))?.focus()
    } else return
    if (event.key !== 'Tab') event.preventDefault()
    event.stopPropagation()
  }
  const outside = (event: Event) => {
    if (!root?.contains(event.target as Node)) close(false)
  }
  createEffect(() => {
    if (!open()) return
    document.addEventListener('pointerdown', outside)
    onCleanup(() => document.removeEventListener('pointerdown', outside))
    if (list) keepInside(list)
    const chosen = list?.querySelector<HTMLButtonElement>('[aria-checked=true]')
    ;(chosen ?? items()[0])?.focus()
  })

  return (
    <div class="menu-root" ref={root}>
      <button
        ref={button}
        type="button"
        class={props.class ?? 'button'}
        aria-haspopup="menu"
        aria-expanded={open()}
        aria-controls={open() ? listId : undefined}
        aria-label={props.label}
        title={props.label}
        disabled={props.disabled}
        onClick={() => setOpen(open => !open)}
        onKeyDown={event => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
          event.preventDefault()
          setOpen(true)
        }}
      >
        {props.button}
      </button>
      <Show when={open()}>
        <div
          ref={list}
          id={listId}
          class="menu"
          classList={{ end: props.align === 'end', upward: props.upward === true }}
          role="menu"
          tabIndex={-1}
          aria-label={props.label}
          onKeyDown={onKey}
        >
          <For each={props.entries} fallback={<p class="quiet pad">Nothing to choose.</p>}>
            {entry => (
              <button
                type="button"
                role={entry.chosen === undefined ? 'menuitem' : 'menuitemradio'}
                aria-checked={entry.chosen}
                aria-disabled={entry.disabled === true}
                onClick={() => choose(entry)}
              >
                <span class="menu-name">
                  {entry.name}
                  <Show when={entry.keys}>
                    <kbd class="by-keys">{entry.keys}</kbd>
                  </Show>
                </span>
                <Show when={entry.description}>
                  <span class="quiet">{entry.description}</span>
                </Show>
              </button>
            )}
          </For>
        </div>
      </Show>
    </div>
  )
}
