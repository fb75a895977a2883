// The conversations that are open here: loaded on the server, then followed; and what a person says into them.

import * as api from '../api'
import type {
  AnswerParams,
  ImageData,
  QueueParams,
  SendResponse,
  ServerFrame,
  SessionState,
} from '../protocol'
import { ConnectionLost } from './connection'
import type { Owners } from './owners'
import { Session } from './session'

export type Conversations = ReturnType<typeof createConversations>

/** A frame that belongs to one session. */
export type SessionFrame = Extract<ServerFrame, { type: `session:${string}`; sessionId: string }>

export function createConversations(
  others: Pick<Owners, 'intents' | 'notices' | 'projects' | 'server' | 'sessions'>,
) {
  const open = new Map<string, Session>()
  const request: Owners['server']['connection']['request'] = command =>
    others.server.connection.request(command)

  /** The session behind a tab, opened on first use. */
  function session(sessionId: string): Session {
    const known = open.get(sessionId)
    if (known) return known
    const session = new Session(sessionId)
    open.set(sessionId, session)
    void load(session)
    return session
  }

  /** Follows a session; false when the server does not know it, or not yet. */
  async function follow(session: Session): Promise<boolean> {
    // Without a connection there is nothing to do: a new one subscribes to every open session.
    if (others.server.status() !== 'connected') return true
    try {
      await others.server.connection.subscribe(session.sessionId, session.log.seq)
      return true
    } catch (error) {
      return error instanceof ConnectionLost
    }
  }

  async function load(session: Session): Promise<void> {
    session.setFailure(undefined)
    // What is stored is shown at once; a session found outside is known only when it is loaded.
    const followed = follow(session)
    try {
      await api.loadSession(session.sessionId)
      if (!(await followed)) await follow(session)
      const summary = others.sessions.known[session.sessionId]
      if (summary?.discovered) others.sessions.patch(session.sessionId, { discovered: false })
    } catch (error) {
      if (error instanceof api.ApiError && error.code === 'WORKSPACE_UNTRUSTED') {
        const project = others.projects.ofSession(session.sessionId)
        if (project) others.intents.askTrust({ project, next: () => void load(session) })
      }
      // A lost connection mends itself; the rest is told where the conversation would be.
      if (error instanceof api.ApiError && error.status !== 0) session.setFailure(error.message)
    }
  }

  /** Reads the page of history before what is shown. */
  async function loadEarlier(session: Session): Promise<void> {
    const before = session.earlier()
    if (before === undefined) return
    const page = await others.notices.attempt('Earlier messages did not load', () =>
      api.history(session.sessionId, before),
    )
    if (page && session.earlier() === before) session.prepend(page)
  }

  async function send(sessionId: string, message: string, images: ImageData[]): Promise<SendResponse> {
    const params = images.length > 0 ? { message, images } : { message }
    return (await request({ type: 'send', sessionId, params })) as SendResponse
  }

  return {
    session,
    load,
    loadEarlier,
    receive: (frame: SessionFrame) => open.get(frame.sessionId)?.receive(frame),
    /** What a new connection follows. */
    subscriptions: () =>
      [...open.values()].map(session => {
        session.resubscribing()
        return { sessionId: session.sessionId, afterSeq: session.log.seq }
      }),
    forget: (sessionId: string) => {
      if (open.delete(sessionId)) others.server.connection.unsubscribe(sessionId)
    },
    stateOf: (sessionId: string): SessionState =>
      open.get(sessionId)?.state().state ?? others.sessions.known[sessionId]?.state ?? 'open',
    send,
    cancel: (sessionId: string) => request({ type: 'cancel', sessionId }),
    kill: (sessionId: string) => request({ type: 'kill', sessionId }),
    answer: (sessionId: string, params: AnswerParams) => request({ type: 'answer', sessionId, params }),
    changeQueue: (sessionId: string, change: QueueParams) => request({ type: 'queue', sessionId, change }),
    setModel: (sessionId: string, model: string) => request({ type: 'model', sessionId, params: { model } }),
    setMode: (sessionId: string, mode: string) => request({ type: 'mode', sessionId, params: { mode } }),
  }
}
