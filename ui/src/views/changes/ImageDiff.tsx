// An image before and after. It is drawn on a canvas: the page's policy lets no image in from anywhere else.

import { createResource, For, onMount, Show } from 'solid-js'
import * as api from '../../api'
import type { ChangedFile } from '../../protocol'
import type { Session } from '../../store/session'
import { settled } from '../../store/settled'
import { bytes } from '../../text/format'

export const isImage = (path: string) => /\.(png|jpe?g|gif|webp|avif|bmp|ico)$/i.test(path)

export function ImageDiff(props: { session: Session; file: ChangedFile }) {
  const sides = () =>
    [
      { name: 'Before', version: props.file.before },
      { name: 'After', version: props.file.after },
    ].filter(side => side.version !== undefined)
  return (
    <div class="image-diff">
      <For each={sides()}>
        {side => <Picture session={props.session} name={side.name} content={side.version?.id ?? ''} />}
      </For>
    </div>
  )
}

function Picture(props: { session: Session; name: string; content: string }) {
  const [picture] = createResource(
    () => props.content,
    async content => {
      const blob = await api.changedContent(props.session.sessionId, content)
      return { size: blob.size, bitmap: await createImageBitmap(blob) }
    },
  )
  return (
    <figure>
      <figcaption class="quiet small-text">
        {props.name}
        <Show when={settled(picture)}>
          {shown => ` · ${shown().bitmap.width} × ${shown().bitmap.height} · ${bytes(shown().size)}`}
        </Show>
      </figcaption>
      <Show
        when={picture.state !== 'errored'}
        fallback={<p class="quiet">It is no image that can be shown.</p>}
      >
        <Show when={settled(picture)} keyed>
          {({ bitmap }) => <Canvas bitmap={bitmap} name={props.name} />}
        </Show>
      </Show>
    </figure>
  )
}

function Canvas(props: { bitmap: ImageBitmap; name: string }) {
  let canvas: HTMLCanvasElement | undefined
  onMount(() => {
    if (!canvas) return
    canvas.width = props.bitmap.width
    canvas.height = props.bitmap.height
    canvas.getContext('2d')?.drawImage(props.bitmap, 0, 0)
  })
  return <canvas ref={canvas} role="img" aria-label={`The image ${props.name.toLowerCase()}`} />
}
