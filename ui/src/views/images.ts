// Images for a message: read from the clipboard or a drop, as the wire wants them, with a small picture of each.

import type { ImageData } from '../protocol'

const TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
export const MAX_IMAGES = 8
const MAX_BYTES = 5 * 1024 * 1024

export interface Attachment {
  name: string
  image: ImageData
  bitmap: ImageBitmap | undefined
}

export function imageFiles(data: DataTransfer | null): File[] {
  return [...(data?.files ?? [])].filter(file => file.type.startsWith('image/'))
}

/** Reads one image, or says why it cannot be sent. */
export async function attach(file: File): Promise<Attachment | string> {
  if (!TYPES.includes(file.type))
    return `${file.name || 'The image'} is ${file.type}; PNG, JPEG, GIF and WebP can be sent`
  if (file.size > MAX_BYTES) return `${file.name || 'The image'} is larger than 5 MB`
  const bytes = new Uint8Array(await file.arrayBuffer())
  let binary = ''
  for (let at = 0; at < bytes.length; at += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000))
  }
  const bitmap = await createImageBitmap(file, { resizeHeight: 64 }).catch(() => undefined)
  return { name: file.name || 'image', image: { mediaType: file.type, data: btoa(binary) }, bitmap }
}
