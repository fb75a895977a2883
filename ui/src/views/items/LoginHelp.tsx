// An agent that is not logged in cannot be logged in from here: the command for a terminal, to copy.

import { Show } from 'solid-js'
import { CopyButton } from '../CopyButton'
import { agentName } from '../marks'

const LOGIN: Record<string, string> = { 'claude-code': 'claude /login', codex: 'codex login' }

/** Whether a failure says that nobody is logged in. */
export function wantsLogin(message: string): boolean {
  return /not logged in|please run \/login|invalid api key|\/login isn.t available|run [`"]?codex login/i.test(
    message,
  )
}

export function LoginHelp(props: { cliType: string | undefined }) {
  const command = () => LOGIN[props.cliType ?? '']
  return (
    <Show when={command()}>
      {command => (
        <div class="login-help">
          <p>{agentName(props.cliType)} is not logged in. Log in once in a terminal, then try again:</p>
          <p class="command">
            <code>{command()}</code> <CopyButton text={command()} />
          </p>
        </div>
      )}
    </Show>
  )
}
