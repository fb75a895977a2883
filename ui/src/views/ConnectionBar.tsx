// Says when the server does not answer, and that nothing is lost meanwhile.

import { Show } from 'solid-js'
import { useApp } from '../store/app'

export function ConnectionBar() {
  const app = useApp()
  return (
    <div class="connection" role="status" aria-live="polite">
      <Show when={app.status() === 'disconnected'}>
        <div class="connection-lost">
          <span>
            <strong>Disconnected.</strong> Trying again; what the agents do meanwhile will appear here.
          </span>
          <button type="button" class="button small" onClick={() => app.retryNow()}>
            Try now
          </button>
        </div>
      </Show>
    </div>
  )
}
