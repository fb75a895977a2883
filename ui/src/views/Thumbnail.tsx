// A small picture of an image that was attached here.

import { onMount } from 'solid-js'

export function Thumbnail(props: { bitmap: ImageBitmap | undefined }) {
  let canvas: HTMLCanvasElement | undefined
  onMount(() => {
    const { bitmap } = props
    if (!bitmap || !canvas) return
    canvas.width = bitmap.width
    canvas.height = bitmap.height
    canvas.getContext('2d')?.drawImage(bitmap, 0, 0)
  })
  return <canvas ref={canvas} class="thumbnail" />
}
