// Says when the server does not answer, and that nothing is lost meanwhile.

import { Show } from 'solid-js'
import { useApp } from '../store/app'
import { CopyButton } from './CopyButton'

export function ConnectionBar() {
  const app = useApp()
  return (
    <div class="connection" role="status" aria-live="polite">
      <Show when={app.status() === 'disconnected'}>
        <div class="connection-lost">
          <Show
            when={app.unauthorized()}
            fallback={
              <span>
                <strong>Disconnected.</strong> Trying again; what the agents do meanwhile will appear here.
              </span>
            }
          >
            <span>
              <strong>The server was started anew.</strong> Open the address that <code>chartroom link</code>{' '}
              prints; this page then goes on by itself.
            </span>
            <CopyButton text="chartroom link" label="Copy command" />
          </Show>
          <button type="button" class="button small" onClick={() => app.retryNow()}>
            Try now
          </button>
        </div>
      </Show>
    </div>
  )
}
