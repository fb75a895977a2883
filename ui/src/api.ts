// The HTTP side of the server: one function per route, errors as a value that names the server's code.

import { keyHeaders } from './key'
import type {
  AgentListResponse,
  ContextResponse,
  CreateSessionParams,
  DeviceListResponse,
  ErrorResponse,
  FileLinesResponse,
  FileListResponse,
  FolderListResponse,
  HealthResponse,
  InstallListResponse,
  InstallResponse,
  ListCodebasesResponse,
  LspStatusResponse,
  ManageIndexResponse,
  Project,
  ProjectListResponse,
  RevokeDevicesResponse,
  SearchCodebaseResponse,
  SessionListResponse,
  SessionResponse,
  SessionStatusResponse,
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

async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  let response: Response
  try {
    response = await fetch(path, {
      method,
      credentials: 'same-origin',
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

const id = encodeURIComponent

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
