// Short notices at the top of the page.

import { For, Show } from 'solid-js'
import { useNotices } from '../store/owners'
import { Icon } from './Icon'

export function Notices() {
  const notices = useNotices()
  return (
    <div class="notices" role="status">
      <For each={notices.list()}>
        {notice => (
          <div class="notice" classList={{ error: notice.kind === 'error' }}>
            <span class="notice-text">{notice.text}</span>
            <Show when={notice.action}>
              {action => (
                <button
                  type="button"
                  class="link-button"
                  onClick={() => {
                    notices.dismiss(notice.id)
                    action().run()
                  }}
                >
                  {action().name}
                </button>
              )}
            </Show>
            <button
              type="button"
              class="icon-button"
              aria-label="Dismiss"
              onClick={() => {
                notices.dismiss(notice.id)
                notice.dismissed?.()
              }}
            >
              <Icon name="close" size={14} />
            </button>
          </div>
        )}
      </For>
    </div>
  )
}
