// A place in a file of a project: the lines around it as they are now.

import { createResource, For, Show } from 'solid-js'
import { fileLines } from '../../api'
import type { Project } from '../../protocol'
import { useIntents } from '../../store/owners'
import { visible } from '../../text/escape'
import { Dialog, Failure } from '../Dialog'

export interface ShownPlace {
  project: Project
  path: string
  line: number
}

export function PlaceDialog(props: { place: ShownPlace }) {
  const intents = useIntents()
  const [answer] = createResource(
    () => props.place,
    place => fileLines(place.project.projectId, place.path, place.line),
  )
  const close = () => intents.showPlace(undefined)
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
        <button type="button" class="button" autofocus onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
