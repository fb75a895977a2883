// The card of a tool call says what the sandbox has to do with it, folded and open.

import { render } from 'solid-js/web'
import { afterEach, expect, it } from 'vitest'
import { type Owners, OwnersProvider } from '../src/store/owners'
import { Session } from '../src/store/session'
import type { ToolCall } from '../src/tools/describe'
import { ToolCard } from '../src/views/items/ToolCard'

const owners = { sessions: { known: {} }, projects: { ofSession: () => undefined } } as unknown as Owners
const NOTE = 'The sandbox does not let this agent read /home/u/.ssh/id_x.'

let dispose = () => {}
afterEach(() => dispose())

function card(sandbox?: string): HTMLElement {
  const call = {
    itemId: 'i',
    type: 'tool_call',
    status: 'complete',
    toolName: 'Bash',
    toolArguments: { command: 'cat ~/.ssh/id_x' },
    toolOutput: 'cat: Permission denied',
    toolOutputIsError: true,
    callId: 'c',
    detail: { kind: 'shell', sandbox },
  } as unknown as ToolCall
  const root = document.createElement('div')
  document.body.append(root)
  const unmount = render(
    () => (
      <OwnersProvider value={owners}>
        <ToolCard session={new Session('s')} call={call} />
      </OwnersProvider>
    ),
    root,
  )
  dispose = () => {
    unmount()
    root.remove()
  }
  return root
}

it('names what the sandbox refused', () => {
  const refused = card(NOTE)
  expect(refused.querySelector('.tool-line')?.textContent).toContain('sandbox')
  refused.querySelector<HTMLButtonElement>('.tool-line')?.click()
  expect(refused.querySelector('.sandbox-note')?.textContent).toBe(NOTE)
  dispose()
  expect(card().textContent).not.toContain('sandbox')
})
