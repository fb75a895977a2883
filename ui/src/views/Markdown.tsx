// Markdown, block by block: a finished block is rendered once and never touched again.

import { createMemo, Index, Match, Switch } from 'solid-js'
import { type Block, blockHtml, MarkdownBlocks } from '../text/markdown'
import { CodeBlock } from './CodeBlock'

export function Markdown(props: { text: string; streaming: boolean }) {
  const reader = new MarkdownBlocks()
  const blocks = createMemo(() => reader.update(props.text))
  return (
    <div class="markdown">
      <Index each={blocks()}>
        {(block, index) => {
          // A memo, so that a new block re-renders the one before it and no other.
          const open = createMemo(() => props.streaming && index === blocks().length - 1)
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
  )
}

function HtmlBlock(props: { block: Block & { kind: 'html' }; open: boolean }) {
  const html = createMemo(() => blockHtml(props.block, props.open))
  // The one place where HTML is set: `blockHtml` sanitised it.
  return <div class="block" innerHTML={html()} />
}
