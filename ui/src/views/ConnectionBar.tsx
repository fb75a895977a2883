// Says when the server does not answer, and that nothing is lost meanwhile.

import { Show } from 'solid-js'
import { useServer } from '../store/owners'
import { CopyButton } from './CopyButton'

export function ConnectionBar() {
  const server = useServer()
  return (
    <div class="connection" role="status" aria-live="polite">
      <Show when={server.status() === 'disconnected'}>
        <div class="connection-lost">
          <Show
            when={server.unauthorized()}
            fallback={
              <span>
                <strong>Disconnected.</strong> Trying again; what the agents do meanwhile will appear here.
              </span>
            }
          >
            <span>
              <strong>This browser was signed out.</strong> Open the address that <code>chartroom link</code>{' '}
              prints; this page then goes on by itself.
            </span>
            <CopyButton text="chartroom link" label="Copy command" />
          </Show>
          <button type="button" class="button small" onClick={() => server.connection.retryNow()}>
            Try now
          </button>
        </div>
      </Show>
    </div>
  )
}
