// Markdown, block by block: a finished block is rendered once and never touched again.
//
// Blocks stand in sections, so that a very long reply costs the browser a few sections a frame, not its thousands
// of blocks.

import { createMemo, createSelector, Index, Show } from 'solid-js'
import { type Block, blockHtml, MarkdownBlocks, sectionsOf } from '../text/markdown'
import { CodeBlock } from './CodeBlock'
import { paced } from './paced'

export function Markdown(props: { text: string; streaming: boolean }) {
  const reader = new MarkdownBlocks()
  const shown = paced(() => props.text)
  const blocks = createMemo(() => reader.update(shown()))
  const sections = createMemo<Block[][]>(before => sectionsOf(blocks(), before), [])
  const isStreaming = () => props.streaming || shown() !== props.text
  // A selector, so that a new block re-renders the one before it and asks no other.
  const isOpen = createSelector(() => (isStreaming() ? blocks().at(-1) : undefined))
  return (
    <div class="markdown">
      <Index each={sections()}>
        {section => (
          <div class="section">
            <Index each={section()}>
              {block => (
                <Show
                  when={block().kind === 'code'}
                  fallback={<HtmlBlock block={block() as Block & { kind: 'html' }} open={isOpen(block())} />}
                >
                  <CodeBlock block={block() as Block & { kind: 'code' }} open={isOpen(block())} />
                </Show>
              )}
            </Index>
          </div>
        )}
      </Index>
    </div>
  )
}

function HtmlBlock(props: { block: Block & { kind: 'html' }; open: boolean }) {
  const html = createMemo(() => blockHtml(props.block, props.open))
  // The one place where a reply's HTML is set: `blockHtml` sanitised it.
  return <div class="block" innerHTML={html()} />
}
