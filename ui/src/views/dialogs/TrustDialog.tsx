// Asks whether a folder may run programs. Shows its real path, control characters made visible.

import { createSignal } from 'solid-js'
import type { Project } from '../../protocol'
import { useIntents, useProjects } from '../../store/owners'
import { visible } from '../../text/escape'
import { Dialog, Failure } from '../Dialog'
import { Icon } from '../Icon'

export function TrustDialog(props: { project: Project; next?: (() => void) | undefined }) {
  const intents = useIntents()
  const projects = useProjects()
  const [failure, setFailure] = createSignal('')
  const trust = async () => {
    try {
      await projects.trust(props.project, true)
      intents.askTrust(undefined)
      props.next?.()
    } catch (error) {
      setFailure((error as Error).message)
    }
  }
  return (
    <Dialog label="Trust this folder?" onClose={() => intents.askTrust(undefined)}>
      <h2>
        <Icon name="shield" size={20} /> Trust this folder?
      </h2>
      <p class="real-path">
        <code>{visible(props.project.path)}</code>
      </p>
      <p>
        Agents and language servers run programs with your rights, and some of what they run comes from the
        folder itself: hooks, build scripts, plug-ins. Trust it only if you know who wrote it.
      </p>
      <p class="quiet">
        Without trust you can read and search it here; nothing in it is run. You can take trust back at any
        time.
      </p>
      <Failure text={failure()} />
      <div class="dialog-foot">
        <button type="button" class="button" autofocus onClick={() => intents.askTrust(undefined)}>
          Not now
        </button>
        <button type="button" class="button primary" onClick={() => void trust()}>
          Trust this folder
        </button>
      </div>
    </Dialog>
  )
}
