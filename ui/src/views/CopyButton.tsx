// A button that copies a text and says so.

import { createSignal, onCleanup } from 'solid-js'
import { useNotices } from '../store/owners'
import { copyText } from './copy'
import { Icon } from './Icon'

const SAID_MS = 1500

/** `text` may be made when it is asked for; with `icon` there is only a sign, and the label is its name. */
export function CopyButton(props: {
  text: string | (() => string)
  label?: string
  icon?: boolean | 'link'
}) {
  const notices = useNotices()
  const [copied, setCopied] = createSignal(false)
  let timer: ReturnType<typeof setTimeout> | undefined
  onCleanup(() => clearTimeout(timer))
  const copy = () =>
    notices.attempt('Not copied', async () => {
      await copyText(typeof props.text === 'string' ? props.text : props.text())
      setCopied(true)
      clearTimeout(timer)
      timer = setTimeout(() => setCopied(false), SAID_MS)
    })
  const label = () => (copied() ? 'Copied' : (props.label ?? 'Copy'))
  return (
    <button
      type="button"
      class={props.icon ? 'icon-button' : 'button small'}
      aria-label={props.icon ? label() : undefined}
      title={props.icon ? label() : undefined}
      onClick={() => void copy()}
    >
      {props.icon ? (
        <Icon name={copied() ? 'check' : props.icon === 'link' ? 'link' : 'copy'} size={14} />
      ) : (
        label()
      )}
    </button>
  )
}
