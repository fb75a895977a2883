// The routes by which changes are kept or undone; read with the view that needs them.

import { call, id, type Place } from './api'
import type {
  ActResponse,
  CommitParams,
  CommitResponse,
  FilePatch,
  KeepParams,
  KeepResponse,
  PullRequestParams,
  PullRequestResponse,
  RepositoryStatus,
  ScopesResponse,
  SwitchParams,
  UndoListResponse,
  UndoResponse,
} from './protocol'

const route = ({ projectId, sessionId }: Place, what = '', query: Record<string, string> = {}) =>
  `/api/project/${id(projectId)}/git${what}?${new URLSearchParams({ sessionId, ...query })}`

export const repository = (place: Place) => call<RepositoryStatus>('GET', route(place))
/** What is staged of a file, as hunks against the last commit. */
export const staged = (place: Place, path: string) =>
  call<FilePatch>('GET', route(place, '/staged', { path }))
/** Stages, unstages or reverts what is meant. */
export const keep = (place: Place, act: 'stage' | 'unstage' | 'revert', params: KeepParams) =>
  call<KeepResponse>('POST', route(place, `/${act}`), params)
export const commit = (place: Place, params: CommitParams) =>
  call<CommitResponse>('POST', route(place, '/commit'), params)
export const switchBranch = (place: Place, params: SwitchParams) =>
  call<ActResponse>('POST', route(place, '/switch'), params)
export const push = (place: Place) => call<ActResponse>('POST', route(place, '/push'), {})
export const pullRequest = (place: Place, params: PullRequestParams) =>
  call<PullRequestResponse>('POST', route(place, '/pull-request'), params)

/** What was done to a session's folder and can be undone, the newest first. */
export const undoable = (sessionId: string) =>
  call<UndoListResponse>('GET', `/api/session/${id(sessionId)}/undo`)
export const undo = (sessionId: string, act: string) =>
  call<UndoResponse>('POST', `/api/session/${id(sessionId)}/undo`, { act })
/** The files are remembered as they are now: `since I last looked` begins here. The page may be leaving. */
export const looked = (sessionId: string) =>
  call<ScopesResponse>('POST', `/api/session/${id(sessionId)}/changes/looked`, {}, { keepalive: true })
