// Markdown, block by block: a finished block is rendered once and never touched again.
//
// Blocks stand in sections, so that a very long reply costs the browser a few sections a frame, not its thousands
// of blocks.

import { createMemo, Index, Match, Switch } from 'solid-js'
import { type Block, blockHtml, MarkdownBlocks, sectionsOf } from '../text/markdown'
import { CodeBlock } from './CodeBlock'
import { paced } from './paced'

export function Markdown(props: { text: string; streaming: boolean }) {
  const reader = new MarkdownBlocks()
  const shown = paced(() => props.text)
  const blocks = createMemo(() => reader.update(shown()))
  const sections = createMemo<Block[][]>(before => sectionsOf(blocks(), before), [])
  const open = () => props.streaming || shown() !== props.text
  const last = createMemo(() => (open() ? blocks().at(-1) : undefined))
  return (
    <div class="markdown">
      <Index each={sections()}>
        {section => (
          <div class="section">
            <Index each={section()}>
              {block => {
                // A memo, so that a new block re-renders the one before it and no other.
                const open = createMemo(() => block() === last())
                return (
                  <Switch>
                    <Match when={block().kind === 'code'}>
                      <CodeBlock block={block() as Block & { kind: 'code' }} open={open()} />
                    </Match>
                    <Match when={block().kind === 'html'}>
                      <HtmlBlock block={block() as Block & { kind: 'html' }} open={open()} />
                    </Match>
                  </Switch>
                )
              }}
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
