// A button that copies a text and says so.

import { createSignal, onCleanup } from 'solid-js'

export function CopyButton(props: { text: string; label?: string }) {
  const [copied, setCopied] = createSignal(false)
  let timer: ReturnType<typeof setTimeout> | undefined
  onCleanup(() => clearTimeout(timer))
  const copy = async () => {
    await navigator.clipboard.writeText(props.text)
    setCopied(true)
    clearTimeout(timer)
    timer = setTimeout(() => setCopied(false), 1500)
  }
  return (
    <button type="button" class="button small" onClick={() => void copy()}>
      {copied() ? 'Copied' : (props.label ?? 'Copy')}
    </button>
  )
}
