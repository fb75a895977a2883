// The HTTP side of the server: one function per route, errors as a value that names the server's code.

import { keyHeaders } from './key'
import type {
  AddWorktreeParams,
  AddWorktreeResponse,
  AgentListResponse,
  BlameResponse,
  BringParams,
  BringResponse,
  ChangedFile,
  Changes,
  Comment,
  ContextResponse,
  CreateSessionParams,
  DeviceListResponse,
  EndTriesResponse,
  ErrorResponse,
  FileLinesResponse,
  FileListResponse,
  FileOutlineResponse,
  FilePatch,
  FilePlacesResponse,
  FolderListResponse,
  ForkResponse,
  HealthResponse,
  InstallListResponse,
  InstallResponse,
  KeepTryParams,
  ListCodebasesResponse,
  LspStatusResponse,
  ManageIndexResponse,
  OpenTerminalParams,
  Project,
  ProjectListResponse,
  RemoveWorktreeResponse,
  RepositoryStatus,
  Restored,
  RestoreParams,
  Review,
  RevokeDevicesResponse,
  RewindParams,
  RewindResponse,
  ScopesResponse,
  SearchCodebaseResponse,
  SessionListResponse,
  SessionResponse,
  SessionStatusResponse,
  StartTriesParams,
  TerminalInfo,
  TerminalListResponse,
  Tries,
  TriesListResponse,
  WholeFileResponse,
  WorktreeListResponse,
} from './protocol'
import type { HistoryPage } from './store/log'

/** An answer outside 2xx. `code` is the server's, or `UNREACHABLE` when there was no answer. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    // The system's number is for no reader.
    super(message.replace(/ \(os error \d+\)/, ''))
  }
}

export async function call<T>(
  method: string,
  path: string,
  body?: unknown,
  how: RequestInit = {},
): Promise<T> {
  let response: Response
  try {
    response = await fetch(path, {
      method,
      credentials: 'same-origin',
      ...how,
      ...(body === undefined
        ? { headers: keyHeaders() }
        : { body: JSON.stringify(body), headers: { ...keyHeaders(), 'content-type': 'application/json' } }),
    })
  } catch {
    throw new ApiError(0, 'UNREACHABLE', 'the server does not answer')
  }
  const text = await response.text()
  if (!response.ok) throw errorOf(response.status, text)
  return (text === '' ? undefined : JSON.parse(text)) as T
}

function errorOf(status: number, text: string): ApiError {
  try {
    const { error } = JSON.parse(text) as ErrorResponse
    return new ApiError(status, error.code, error.message)
  } catch {
    return new ApiError(status, 'UNKNOWN', `the server answered ${status}`)
  }
}

export const id = encodeURIComponent
const query = (words: Record<string, string>) => new URLSearchParams(words).toString()

/** Whose folder is meant: a session's may be a worktree of the project. */
export interface Place {
  projectId: string
  sessionId: string
}
const fileRoute = (place: Place) => `/api/project/${id(place.projectId)}/file`
const about = ({ sessionId }: Place, query: Record<string, string>) =>
  new URLSearchParams({ sessionId, ...query })

export const health = () => call<HealthResponse>('GET', '/api/health')
export const agents = () => call<AgentListResponse>('GET', '/api/agents')
export const projects = () => call<ProjectListResponse>('GET', '/api/project')
export const addProject = (path: string) => call<Project>('POST', '/api/project', { path })
export const removeProject = (projectId: string) => call<void>('DELETE', `/api/project/${id(projectId)}`)
export const trustProject = (projectId: string, realPath: string, trusted: boolean) =>
  call<Project>('POST', `/api/project/${id(projectId)}/trust`, { realPath, trusted })
/** Folders of the server's machine whose path begins so. */
export const folders = (path: string) => call<FolderListResponse>('GET', `/api/folders?path=${id(path)}`)
/** The browsers that were let in. */
export const devices = () => call<DeviceListResponse>('GET', '/api/devices')
export const revokeDevice = (deviceId: string) =>
  call<RevokeDevicesResponse>('POST', '/api/devices/revoke', { deviceId })
export const projectFiles = (projectId: string, query: string) =>
  call<FileListResponse>('GET', `/api/project/${id(projectId)}/files?query=${id(query)}`)
/** The lines of a file around a place, as they are now. */
export const fileLines = (projectId: string, path: string, line: number) =>
  call<FileLinesResponse>('GET', `/api/project/${id(projectId)}/file?path=${id(path)}&line=${line}`)
/** A file of a session's folder, as it is now. */
export const wholeFile = (place: Place, path: string) =>
  call<WholeFileResponse>('GET', `${fileRoute(place)}/whole?${about(place, { path })}`)
/** Where the name at a place is defined or used, as its language server knows it. */
export const filePlaces = (
  place: Place,
  path: string,
  line: number,
  column: number,
  of: 'definition' | 'references',
) =>
  call<FilePlacesResponse>(
    'GET',
    `${fileRoute(place)}/places?${about(place, { path, line: String(line), column: String(column), of })}`,
  )
/** Which commit each line came with. */
export const fileBlame = (place: Place, path: string) =>
  call<BlameResponse>('GET', `${fileRoute(place)}/blame?${about(place, { path })}`)
/** What a file defines, as the index knows it. */
export const fileOutline = (path: string, file: string) =>
  call<FileOutlineResponse>('POST', '/api/index/outline', { path, file })
/** Ends a language server; the next file of its language starts it anew. */
export const stopServer = (projectId: string, server: string) =>
  call<LspStatusResponse>('POST', `/api/lsp/${id(projectId)}/restart`, { id: server })
export const startServer = (projectId: string, server: string) =>
  call<LspStatusResponse>('POST', `/api/lsp/${id(projectId)}/start`, { id: server })
/** Every known language server, and which package manager of this machine would bring it. */
export const installable = () => call<InstallListResponse>('GET', '/api/lsp/install')
/** Installs a language server into Chartroom's own folder, for every project. */
export const installServer = (server: string) =>
  call<InstallResponse>('POST', '/api/lsp/install', { id: server })
/** The sessions of a project; archived and ended ones too, if `all` is wanted. */
export const sessions = (projectId: string, all = false) =>
  call<SessionListResponse>('GET', `/api/session/list?projectId=${id(projectId)}${all ? '&all=true' : ''}`)
export const nameSession = (sessionId: string, title: string) =>
  call<void>('POST', `/api/session/${id(sessionId)}/title`, { title })
export const archiveSession = (sessionId: string, archived: boolean) =>
  call<void>('POST', `/api/session/${id(sessionId)}/archive`, { archived })
export const createSession = (params: CreateSessionParams) =>
  call<SessionResponse>('POST', '/api/session/create', params)
export const loadSession = (sessionId: string) =>
  call<SessionResponse>('POST', `/api/session/${id(sessionId)}/load`, {})
/** A page of a conversation before a place that a `session:history` named. */
export const history = (sessionId: string, before: number) =>
  call<HistoryPage>('GET', `/api/session/${id(sessionId)}/history?before=${before}`)
/** What fills the context window; the agent may take a moment to say. */
export const contextUse = (sessionId: string) =>
  call<ContextResponse>('GET', `/api/session/${id(sessionId)}/context`)
export const sessionStatus = (sessionId: string) =>
  call<SessionStatusResponse>('GET', `/api/session/${id(sessionId)}/status`)
/** What a session did to the files, and what else is not committed; `scope` as the route has it. */
export const changes = (sessionId: string, scope: Record<string, string>) =>
  call<Changes>('GET', `/api/session/${id(sessionId)}/changes?${query({ ...scope, versions: 'true' })}`)
/** How two contents of a file differ, with so many lines around each change. */
export const filePatch = (sessionId: string, file: ChangedFile, context: number) =>
  call<FilePatch>(
    'GET',
    `/api/session/${id(sessionId)}/changes/file?${query({
      ...(file.before && { before: file.before.id }),
      ...(file.after && { after: file.after.id }),
      context: String(context),
    })}`,
  )
/** The bytes of a content that a file had. */
export async function changedContent(sessionId: string, content: string): Promise<Blob> {
  const path = `/api/session/${id(sessionId)}/changes/content?${query({ content })}`
  const response = await fetch(path, { credentials: 'same-origin', headers: keyHeaders() })
  if (!response.ok) throw errorOf(response.status, await response.text())
  return response.blob()
}
/** Goes back to before a turn, or only says what that would do. */
export const rewind = (sessionId: string, params: Partial<RewindParams> & Pick<RewindParams, 'before'>) =>
  call<RewindResponse>('POST', `/api/session/${id(sessionId)}/rewind`, params)
/** Makes the files what a checkpoint says. */
export const restore = (
  sessionId: string,
  params: Partial<RestoreParams> & Pick<RestoreParams, 'checkpoint'>,
) => call<Restored>('POST', `/api/session/${id(sessionId)}/restore`, params)
/** Goes on from a turn in a session of its own. */
export const fork = (sessionId: string, at: string) =>
  call<ForkResponse>('POST', `/api/session/${id(sessionId)}/fork`, { at })
/** What was noted beside the changes of a session. */
export const review = (sessionId: string) => call<Review>('GET', `/api/session/${id(sessionId)}/review`)
export const putComment = (sessionId: string, comment: Comment) =>
  call<Review>('POST', `/api/session/${id(sessionId)}/review/comment`, comment)
export const removeComment = (sessionId: string, commentId: string) =>
  call<Review>('DELETE', `/api/session/${id(sessionId)}/review/comment/${id(commentId)}`)
export const setViewed = (sessionId: string, path: string, content: string | undefined) =>
  call<Review>('POST', `/api/session/${id(sessionId)}/review/viewed`, { path, content })
/** What a session's files can be compared with. */
export const changeScopes = (sessionId: string) =>
  call<ScopesResponse>('GET', `/api/session/${id(sessionId)}/changes/scopes`)

const worktreeRoute = (projectId: string, name?: string) =>
  `/api/project/${id(projectId)}/worktree${name === undefined ? '' : `/${id(name)}`}`
/** The worktrees of our making of a project's repository. */
export const worktrees = (projectId: string) => call<WorktreeListResponse>('GET', worktreeRoute(projectId))
/** How a project's repository stands. */
export const repositoryStatus = (projectId: string) =>
  call<RepositoryStatus>('GET', `/api/project/${id(projectId)}/git`)
/** Makes a worktree; answers when its set-up command has ended. */
export const addWorktree = (projectId: string, params: AddWorktreeParams) =>
  call<AddWorktreeResponse>('POST', worktreeRoute(projectId), params)
export const bringWorktree = (projectId: string, name: string, params: BringParams) =>
  call<BringResponse>('POST', `${worktreeRoute(projectId, name)}/bring`, params)
export const removeWorktree = (projectId: string, name: string, force: boolean) =>
  call<RemoveWorktreeResponse>('DELETE', `${worktreeRoute(projectId, name)}${force ? '?force=true' : ''}`)

const triesRoute = (projectId: string, triesId?: string) =>
  `/api/project/${id(projectId)}/tries${triesId === undefined ? '' : `/${id(triesId)}`}`
/** Several tries of one message, the newest first. */
export const tries = (projectId: string) => call<TriesListResponse>('GET', triesRoute(projectId))
export const oneTries = (projectId: string, triesId: string) =>
  call<Tries>('GET', triesRoute(projectId, triesId))
export const startTries = (projectId: string, params: StartTriesParams) =>
  call<Tries>('POST', triesRoute(projectId), params)
export const testTries = (projectId: string, triesId: string) =>
  call<Tries>('POST', `${triesRoute(projectId, triesId)}/test`, {})
export const keepTry = (projectId: string, triesId: string, params: KeepTryParams) =>
  call<EndTriesResponse>('POST', `${triesRoute(projectId, triesId)}/keep`, params)
export const dropTries = (projectId: string, triesId: string, force: boolean) =>
  call<EndTriesResponse>('DELETE', `${triesRoute(projectId, triesId)}${force ? '?force=true' : ''}`)

/** The terminals of a session's folder. */
export const terminals = (place: Place) =>
  call<TerminalListResponse>('GET', `/api/terminal?${new URLSearchParams({ ...place })}`)
export const openTerminal = (params: OpenTerminalParams) =>
  call<TerminalInfo>('POST', '/api/terminal', params)
export const closeTerminal = (terminalId: string) => call<void>('DELETE', `/api/terminal/${id(terminalId)}`)

export const codebases = () => call<ListCodebasesResponse>('GET', '/api/index')
/** Searches code and symbols of an indexed folder; an index that is not ready is a status, not an error. */
export const searchCode = (path: string, query: string, limit: number) =>
  call<SearchCodebaseResponse>('POST', '/api/index/search', { path, query, limit, scope: 'mixed' })
/** What state an index is in, and how far its build is. */
export const indexStatus = (path: string) =>
  call<ManageIndexResponse>('POST', '/api/index/manage', { action: 'status', path })
export const indexProject = (path: string) =>
  call<ManageIndexResponse>('POST', '/api/index/manage', { action: 'create', path })

/** Reads a route that this server may not have (yet): a 404 is `undefined`, not an error. */
export async function optional<T>(path: string): Promise<T | undefined> {
  try {
    return await call<T>('GET', path)
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}
