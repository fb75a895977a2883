// The browsers that were let in, until when each may come, and putting one out.

import { createResource, For, Show } from 'solid-js'
import * as api from '../../api'
import { useIntents, useNotices } from '../../store/owners'
import { visible } from '../../text/escape'
import { Dialog, Failure } from '../Dialog'

const DAY_S = 24 * 60 * 60

/** What a browser calls itself, as a person would. */
export function browserName(agent: string): string {
  const [, browser] = /(Firefox|Edg|OPR|Chrome|Safari)\//.exec(agent) ?? []
  const [, system] = /(Android|iPhone|iPad|Windows|Mac OS X|Linux)/.exec(agent) ?? []
  const known = { Edg: 'Edge', OPR: 'Opera' }[browser ?? ''] ?? browser
  return known ? `${known}${system ? ` on ${system}` : ''}` : agent || 'a browser without a name'
}

export function DevicesDialog() {
  const intents = useIntents()
  const notices = useNotices()
  const [answer, { refetch }] = createResource(api.devices)
  const close = () => intents.showDevices(false)
  const left = (expiresAt: number) => Math.max(0, Math.ceil((expiresAt - Date.now() / 1000) / DAY_S))
  const putOut = (deviceId: string) =>
    void notices.attempt('It was not put out', async () => {
      await api.revokeDevice(deviceId)
      await refetch()
    })
  return (
    <Dialog label="Browsers that were let in" onClose={close}>
      <h2>Browsers that were let in</h2>
      <p class="quiet">
        Each stays in for 30 days, over restarts too. <code>chartroom link</code> lets in another.
      </p>
      <Failure text={answer.state === 'errored' ? (answer.error as Error).message : ''} />
      <Show when={answer.state === 'errored' ? undefined : answer.latest}>
        {list => (
          <ul class="devices">
            <For each={list().devices}>
              {device => (
                <li>
                  <span title={visible(device.browser)}>{visible(browserName(device.browser))}</span>
                  <span class="quiet">{left(device.expiresAt)} days left</span>
                  <button
                    type="button"
                    class="button small danger"
                    aria-label={`Put out ${browserName(device.browser)}`}
                    onClick={() => putOut(device.deviceId)}
                  >
                    Put out
                  </button>
                </li>
              )}
            </For>
          </ul>
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
