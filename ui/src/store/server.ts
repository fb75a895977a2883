// The server as this page sees it: whether it answers, its version, and the agents on its machine.

import { createSignal } from 'solid-js'
import { createStore, reconcile } from 'solid-js/store'
import * as api from '../api'
import type { Agent } from '../protocol'
import { Connection, type Listener, type Status, type Surroundings } from './connection'
import { lastAgent } from './settings'

export type Server = ReturnType<typeof createServer>

export function createServer(
  around: Surroundings,
  listener: Omit<Listener, 'status'> & { reconnected(): void },
) {
  const [status, setStatus] = createSignal<Status>('connecting')
  const [everConnected, setEverConnected] = createSignal(false)
  const [unauthorized, setUnauthorized] = createSignal(false)
  const [version, setVersion] = createSignal('')
  const [agents, setAgents] = createStore<Agent[]>([])

  const connection = new Connection(around, {
    ...listener,
    status: next => {
      setStatus(next)
      if (next === 'disconnected') void whyDisconnected()
      if (next !== 'connected') return
      setUnauthorized(false)
      if (everConnected()) listener.reconnected()
      setEverConnected(true)
    },
  })

  /** A server that has signed this browser out answers, but does not know the page's key any more. */
  async function whyDisconnected(): Promise<void> {
    try {
      await api.health()
    } catch (error) {
      setUnauthorized(error instanceof api.ApiError && error.status === 401)
    }
  }

  return {
    connection,
    status,
    everConnected,
    unauthorized,
    setUnauthorized,
    version,
    setVersion,
    agents,
    setAgents: (next: Agent[]) => setAgents(reconcile(next, { key: 'cliType' })),
    setAgentStatus: (cliType: string, status: Agent['status']) =>
      setAgents(agent => agent.cliType === cliType, 'status', status),
    /** The agent that one click starts: the one used last, else the first that is installed. */
    usualAgent: (): Agent | undefined => {
      const found = agents.filter(agent => agent.status === 'found')
      return found.find(agent => agent.cliType === lastAgent()) ?? found[0]
    },
  }
}
