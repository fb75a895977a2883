// The screen of a terminal: the rows that are seen, a field that takes what is typed, and on a phone the keys that its
// keyboard lacks.
//
// Rows are written by hand, once a frame and only where they differ: a program may print thousands of lines a second. They
// are text, so that selecting and copying are the browser's own.

import { createSignal, For, onCleanup, onMount, Show } from 'solid-js'
import type { Shell } from '../../store/shell'
import { controlOf, pasted, typedBy } from '../../text/terminalKeys'
import { runsOf } from '../../text/terminalRows'

export function Screen(props: { shell: Shell; onSize(columns: number, rows: number): void }) {
  const shell = props.shell
  const emulator = shell.emulator
  let view!: HTMLDivElement
  let filler!: HTMLDivElement
  let rows!: HTMLDivElement
  let probe!: HTMLSpanElement
  let field!: HTMLTextAreaElement
  const [focused, setFocused] = createSignal(false)
  const [control, setControl] = createSignal(false)
  let cell = { width: 8, height: 18 }
  /** Whether the newest row is kept in sight. */
  let atEnd = true
  let asked = false

  const ask = () => {
    if (asked) return
    asked = true
    requestAnimationFrame(() => {
      asked = false
      draw()
    })
  }

  function draw(): void {
    const buffer = emulator.buffer.active
    filler.style.height = `${buffer.length * cell.height}px`
    if (atEnd) view.scrollTop = view.scrollHeight
    const first = Math.max(0, Math.min(buffer.length - 1, Math.floor(view.scrollTop / cell.height)))
    const n_shown = Math.min(buffer.length - first, Math.ceil(view.clientHeight / cell.height) + 1)
    rows.style.transform = `translateY(${first * cell.height}px)`
    while (rows.childElementCount < n_shown) rows.append(document.createElement('div'))
    while (rows.childElementCount > n_shown) rows.lastElementChild?.remove()
    const cursorRow = shell.cursorShown && shell.state() !== 'ended' ? buffer.baseY + buffer.cursorY : -1
    for (let i = 0; i < n_shown; i++) {
      const y = first + i
      const row = rows.children[i] as HTMLDivElement
      const cursor = y === cursorRow ? Math.min(buffer.cursorX, emulator.cols - 1) : undefined
      const runs = runsOf(buffer.getLine(y), emulator.cols, cursor)
      const mark = runs.map(run => `${run.classes}\0${run.text}`).join('\x01')
      if (row.dataset.mark === mark) continue
      row.dataset.mark = mark
      row.replaceChildren(
        ...runs.map(run => {
          if (run.classes === '') return document.createTextNode(run.text)
          const span = document.createElement('span')
          span.className = run.classes
          span.textContent = run.text
          return span
        }),
      )
    }
    field.style.transform = `translate(${buffer.cursorX * cell.width}px, ${(buffer.baseY + buffer.cursorY) * cell.height}px)`
  }

  function measure(): void {
    const box = probe.getBoundingClientRect()
    if (box.width === 0 || view.clientWidth === 0) return
    cell = { width: box.width / 10, height: box.height }
    const columns = Math.floor((view.clientWidth - 16) / cell.width)
    const n_rows = Math.floor(view.clientHeight / cell.height)
    props.onSize(columns, n_rows)
    shell.resize(columns, n_rows)
    ask()
  }

  onMount(() => {
    const observer = new ResizeObserver(measure)
    observer.observe(view)
    const unwatch = shell.watch(ask)
    view.addEventListener('scroll', onScroll)
    view.addEventListener('wheel', onWheel, { passive: false })
    // Wherever it is clicked, the shell is typed into; what was dragged over stays selected.
    view.addEventListener('click', () => {
      if (selected() === '') field.focus({ preventScroll: true })
    })
    measure()
    if (matchMedia('(hover: hover)').matches) field.focus({ preventScroll: true })
    onCleanup(() => {
      observer.disconnect()
      unwatch()
    })
  })

  const selected = () => {
    const selection = getSelection()
    const text = selection?.toString() ?? ''
    return text !== '' && selection?.anchorNode && rows.contains(selection.anchorNode) ? text : ''
  }
  const copy = () => {
    void navigator.clipboard?.writeText(selected().replace(/[ \t]+$/gm, ''))
    getSelection()?.removeAllRanges()
  }

  const send = (text: string) => {
    atEnd = true
    shell.type(text)
    ask()
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.isComposing) return
    const letter = event.key.toLowerCase()
    // A selection is copied; without one Ctrl-C is the program's.
    if (event.ctrlKey && letter === 'c' && selected() !== '') {
      copy()
      event.preventDefault()
      event.stopPropagation()
      return
    }
    // The browser pastes, and then there is an event of its own.
    if (event.ctrlKey && letter === 'v') {
      event.stopPropagation()
      return
    }
    const typed = typedBy(event, emulator.modes.applicationCursorKeysMode)
    if (typed === undefined) {
      if (!event.ctrlKey && !event.metaKey) event.stopPropagation()
      return
    }
    event.preventDefault()
    event.stopPropagation()
    send(typed)
  }
  const onInput = (event: InputEvent) => {
    if (event.isComposing) return
    take()
  }
  const take = () => {
    const text = field.value.replaceAll('\n', '\r')
    field.value = ''
    if (control()) {
      setControl(false)
      send(controlOf(text) ?? text)
    } else send(text)
  }
  const onPaste = (event: ClipboardEvent) => {
    event.preventDefault()
    send(pasted(event.clipboardData?.getData('text/plain') ?? '', emulator.modes.bracketedPasteMode))
  }
  const onWheel = (event: WheelEvent) => {
    // A program that draws the whole screen has nothing to scroll here: it is sent the keys that scroll in it.
    if (emulator.buffer.active.type !== 'alternate') return
    event.preventDefault()
    const key = event.deltaY < 0 ? 'A' : 'B'
    const n_lines = Math.max(1, Math.min(10, Math.round(Math.abs(event.deltaY) / cell.height)))
    shell.type(`\x1b${emulator.modes.applicationCursorKeysMode ? 'O' : '['}${key}`.repeat(n_lines))
  }
  const onScroll = () => {
    atEnd = view.scrollTop + view.clientHeight >= view.scrollHeight - cell.height / 2
    ask()
  }
  const press = (key: string) => {
    const held = { ctrlKey: false, altKey: false, shiftKey: false, metaKey: false }
    send(typedBy({ key, ...held }, emulator.modes.applicationCursorKeysMode) ?? '')
    field.focus({ preventScroll: true })
  }

  return (
    <div class="shell" classList={{ focused: focused() }}>
      <div class="shell-view" ref={view}>
        <div class="shell-filler" ref={filler}>
          <div class="shell-rows" ref={rows} role="log" aria-label="Terminal" aria-live="off" />
          <textarea
            ref={field}
            class="shell-field"
            aria-label={`Type into ${shell.info.shell}`}
            autocapitalize="off"
            autocomplete="off"
            autocorrect="off"
            spellcheck={false}
            onFocus={() => setFocused(true)}
            onBlur={() => setFocused(false)}
            onKeyDown={onKey}
            onInput={onInput}
            onCompositionEnd={take}
            onPaste={onPaste}
          />
        </div>
        <span class="shell-probe" ref={probe} aria-hidden="true">
          0000000000
        </span>
      </div>
      <Show when={matchMedia('(hover: none)').matches}>
        <div class="shell-keys">
          <For
            each={[
              ['Escape', 'Esc'],
              ['Tab', 'Tab'],
              ['ArrowUp', '↑'],
              ['ArrowDown', '↓'],
              ['ArrowLeft', '←'],
              ['ArrowRight', '→'],
            ]}
          >
            {([key, name]) => (
              <button type="button" class="button small" onClick={() => press(key ?? '')}>
                {name}
              </button>
            )}
          </For>
          <button
            type="button"
            class="button small"
            aria-pressed={control()}
            onClick={() => {
              setControl(held => !held)
              field.focus({ preventScroll: true })
            }}
          >
            Ctrl
          </button>
        </div>
      </Show>
    </div>
  )
}
