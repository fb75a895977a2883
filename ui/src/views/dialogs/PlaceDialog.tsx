// A place in a file of a project: the lines around it as they are now.

import { createResource, For, Show } from 'solid-js'
import { fileLines } from '../../api'
import type { Project } from '../../protocol'
import { addressOf } from '../../store/address'
import { useDesk, useIntents, useTabs } from '../../store/owners'
import { visible } from '../../text/escape'
import { CopyButton } from '../CopyButton'
import { Dialog, Failure } from '../Dialog'

export interface ShownPlace {
  project: Project
  path: string
  line: number
}

export function PlaceDialog(props: { place: ShownPlace }) {
  const intents = useIntents()
  const tabs = useTabs()
  const desk = useDesk()
  const [answer] = createResource(
    () => props.place,
    place => fileLines(place.project.projectId, place.path, place.line),
  )
  const close = () => intents.showPlace(undefined)
  const link = () => {
    const { project, path, line } = props.place
    return new URL(addressOf({ kind: 'file', projectId: project.projectId, path, line }), location.href).href
  }
  /** As the agent is told of it: without a line when the whole file is meant. */
  const named = () => `${props.place.path}${props.place.line > 1 ? `:${props.place.line}` : ''}`
  const mention = () => {
    close()
    intents.insert(`@${named()}`)
  }
  const open = () => {
    close()
    desk.show('file', { path: props.place.path, line: String(props.place.line) })
  }
  const isPlace = (n: number) => n === props.place.line
  return (
    <Dialog label={`${props.place.path}, line ${props.place.line}`} class="place-dialog" onClose={close}>
      <h2 class="place-title">
        <code>
          {visible(props.place.path)}:{props.place.line}
        </code>
      </h2>
      <Failure text={answer.state === 'errored' ? (answer.error as Error).message : ''} />
      <Show when={answer.state === 'ready' ? answer() : undefined}>
        {file => (
          <Show
            when={file().firstLine + file().lines.length > props.place.line}
            fallback={<p class="quiet">The file has only {file().totalLines} lines now.</p>}
          >
            <pre class="place-lines" tabIndex={0}>
              <For each={file().lines}>
                {(line, n) => (
                  <div
                    class="place-line"
                    classList={{ here: isPlace(file().firstLine + n()) }}
                    ref={element => {
                      if (isPlace(file().firstLine + n())) {
                        queueMicrotask(() => element.scrollIntoView({ block: 'center' }))
                      }
                    }}
                  >
                    <span class="place-number">{file().firstLine + n()}</span>
                    <span>{visible(line)}</span>
                  </div>
                )}
              </For>
            </pre>
          </Show>
        )}
      </Show>
      <div class="dialog-foot">
        <CopyButton text={link} label="Copy the link" />
        <Show when={tabs.active()}>
          <button type="button" class="button" onClick={mention}>
            Put it into the message
          </button>
          <button type="button" class="button" onClick={open}>
            Open the file
          </button>
        </Show>
        <button type="button" class="button" autofocus onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
