// Code in a message: plain text while it streams, coloured once it is finished and in sight.

import { createEffect, createSignal, onCleanup, onMount, Show } from 'solid-js'
import { highlight } from '../text/highlight'
import type { Block } from '../text/markdown'
import { CopyButton } from './CopyButton'

export function CodeBlock(props: { block: Block & { kind: 'code' }; open: boolean }) {
  let frame: HTMLDivElement | undefined
  const [visible, setVisible] = createSignal(false)
  const [coloured, setColoured] = createSignal<{ text: string; html: string } | undefined>()

  onMount(() => {
    if (!frame || typeof IntersectionObserver === 'undefined') return
    const sight = new IntersectionObserver(
      entries => {
        if (!entries.some(entry => entry.isIntersecting)) return
        setVisible(true)
        sight.disconnect()
      },
      { rootMargin: '200px' },
    )
    sight.observe(frame)
    onCleanup(() => sight.disconnect())
  })
  createEffect(() => {
    const { text, language } = props.block
    if (!visible() || props.open) return
    void highlight(text, language).then(html => {
      if (html !== undefined && text === props.block.text) setColoured({ text, html })
    })
  })
  const html = () => (coloured()?.text === props.block.text ? coloured()?.html : undefined)

  return (
    <div class="code-block" ref={frame}>
      <div class="code-head">
        <span class="quiet">{props.block.language}</span>
        <CopyButton text={props.block.text} />
      </div>
      <pre tabIndex={0}>
        <Show when={html()} fallback={<code>{props.block.text}</code>}>
          {/* The highlighter escapes all text and makes only spans with classes. */}
          {html => <code innerHTML={html()} />}
        </Show>
      </pre>
    </div>
  )
}
