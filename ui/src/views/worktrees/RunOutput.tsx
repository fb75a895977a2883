// What a command of the user's config says: its words, how it went, and its output, of which the end is in sight.

import { createEffect, Show } from 'solid-js'
import type { CommandRun } from '../../protocol'
import { plain } from '../../text/ansi'
import { runWords } from './names'

export function RunOutput(props: { run: CommandRun; label: string }) {
  let box: HTMLPreElement | undefined
  createEffect(() => {
    props.run.output
    queueMicrotask(() => box?.scrollTo({ top: box.scrollHeight }))
  })
  return (
    <div class="run-output">
      <p class="run-line">
        <Show when={props.run.state === 'running'}>
          <span class="spinner" />
        </Show>
        <span
          classList={{
            failure: props.run.state === 'failed' || props.run.state === 'interrupted',
            passed: props.run.state === 'passed',
          }}
          role="status"
        >
          {props.label} {runWords(props.run)}
        </span>
        <code class="ellipsis quiet">{props.run.command.join(' ')}</code>
      </p>
      <Show when={props.run.output}>
        {/* It scrolls, and keys must reach it. */}
        <pre ref={box} tabIndex={0} aria-label={`${props.label}: output`}>
          {plain(props.run.output)}
        </pre>
      </Show>
    </div>
  )
}
