// A stand-in server that speaks the real server's frames: for tests of the page alone, and for its pictures.

import { readFile } from 'node:fs/promises'
import http from 'node:http'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { WebSocketServer } from 'ws'
import { agent } from './agent.mjs'
import { answerChanges, answerReview, answerRewind } from './changes.mjs'
import { answerGit, answerUndo } from './keep.mjs'
import { freshId, MockSession } from './session.mjs'
import { answerWorktrees } from './worktrees.mjs'
import { world } from './world.mjs'

const MIME = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' }
/** The strictest policy that the page works under. */
const POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')
const FILES = [
  'src/login.ts',
  'src/routes.ts',
  'src/keys.ts',
  'tests/login.test.ts',
  'package.json',
  'README.md',
]

export async function startMock({ port = 0, kind = 'full', dist, state = world(kind) } = {}) {
  const root = dist ?? fileURLToPath(new URL('../dist', import.meta.url))
  const requests = []
  const sockets = new Set()
  const server = http.createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    handle(state, root, request, response).catch(error => response.writeHead(500).end(String(error)))
  })
  const wss = new WebSocketServer({ server, path: '/ws' })
  wss.on('connection', socket => {
    sockets.add(socket)
    const reader = frame => socket.readyState === socket.OPEN && socket.send(JSON.stringify(frame))
    socket.on('close', () => {
      sockets.delete(socket)
      for (const session of state.sessions.values()) session.readers.delete(reader)
    })
    socket.on('message', data => command(state, reader, JSON.parse(String(data))))
  })
  await new Promise(resolve => server.listen(port, '127.0.0.1', resolve))
  const listening = server.address().port
  return {
    url: `http://127.0.0.1:${listening}/`,
    port: listening,
    state,
    requests,
    /** Ends like a killed process: every connection breaks at once. */
    kill: () =>
      new Promise(resolve => {
        for (const socket of sockets) socket.terminate()
        wss.close()
        server.close(resolve)
        server.closeAllConnections()
      }),
  }
}

function command(state, reader, frame) {
  const { requestId } = frame
  const answer = result => requestId && reader({ type: 'ack', requestId, result: result ?? {} })
  try {
    const session = state.sessions.get(frame.sessionId)
    if (!session) throw new Error(`there is no session ${frame.sessionId}`)
    if (frame.type === 'subscribe') session.subscribe(reader, frame.afterSeq)
    else if (frame.type === 'unsubscribe') session.readers.delete(reader)
    else if (frame.type === 'send') answer(session.send(frame.params, agent))
    else if (frame.type === 'cancel') answer(session.cancel())
    else if (frame.type === 'answer') answer(session.answer(frame.params))
    else if (frame.type === 'queue') answer(session.changeQueue(frame.change, agent))
    else if (frame.type === 'model' || frame.type === 'mode') {
      Object.assign(session.options, frame.params)
      session.tell({ type: 'session:options', sessionId: session.id, options: session.options })
      answer()
    } else if (frame.type === 'kill') {
      session.setState('dead')
      answer()
    }
  } catch (error) {
    reader({ type: 'error', ...(requestId ? { requestId } : {}), message: error.message })
  }
}

async function handle(state, root, request, response) {
  const url = new URL(request.url, 'http://localhost')
  const parts = url.pathname.split('/').filter(Boolean).map(decodeURIComponent)
  if (parts[0] !== 'api') return serveFile(root, url.pathname, response)
  const json = (status, body) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const fail = (status, code, message) => json(status, { error: { code, message } })
  const body = request.method === 'POST' ? JSON.parse((await readAll(request)) || '{}') : {}
  const route = `${request.method} ${parts.slice(1).join('/')}`
  if (route === 'GET health') return json(200, { status: 'ok', version: '0.1.0', uptimeMs: 1000 })
  if (route === 'GET devices') return json(200, { devices: state.devices ?? [] })
  if (route === 'POST devices/revoke') {
    state.devices = (state.devices ?? []).filter(device => device.deviceId !== body.deviceId)
    return json(200, { revoked: 1 })
  }
  if (route === 'GET folders') {
    const typed = (url.searchParams.get('path') ?? '').replace(/^~/, '/home/you')
    const all = ['/home/you/code', '/home/you/code/api', '/home/you/code/web', '/home/you/docs']
    const folders = all.filter(path => path.startsWith(typed || '/home/you/'))
    return json(200, { home: '/home/you', folders, truncated: false })
  }
  if (route === 'GET agents') return json(200, { agents: state.agents })
  if (/^GET lsp\/[^/]+\/status$/.test(route) && state.servers) return json(200, state.servers)
  if (/^GET lsp\/[^/]+\/languages$/.test(route) && state.languages)
    return json(200, { servers: state.languages })
  if (route === 'GET index' && state.index) return json(200, state.index)
  if (route === 'GET index/team') return json(200, { server: state.team })
  if (route === 'POST index/manage' && state.progress) {
    return json(200, { status: 'not_ready', hints: { indexing: state.progress } })
  }
  if (route === 'POST index/search' && state.index) return json(200, searched(body))
  if (parts[1] === 'project') return projectRoute(state, { parts, route, url, body, request }, json, fail)
  if (route === 'GET session/list') {
    const projectId = url.searchParams.get('projectId')
    const summaries = [...state.sessions.values()].map(session => session.summary)
    return json(200, { sessions: summaries.filter(summary => summary.projectId === projectId) })
  }
  if (route === 'POST session/create') {
    const project = state.projects.find(project => project.path === body.projectDir)
    if (!project?.trusted) return fail(403, 'WORKSPACE_UNTRUSTED', `${body.projectDir} is not trusted`)
    const sessionId = freshId('s-new')
    const { cliType } = body
    const session = new MockSession({ sessionId, cliType, projectId: project.projectId, title: '' })
    state.sessions.set(sessionId, session)
    return json(201, { sessionId, cliType })
  }
  if (parts[1] === 'session' && parts[3] === 'changes') {
    const answer = answerChanges(state, parts[4], url)
    return Buffer.isBuffer(answer) ? response.writeHead(200).end(answer) : json(200, answer)
  }
  if (parts[1] === 'session' && parts[3] === 'undo') return json(200, answerUndo(state, request.method, body))
  if (parts[1] === 'session' && parts[3] === 'review') {
    return json(200, answerReview(state, parts[2], request.method, parts.slice(4), body))
  }
  if (parts[1] === 'session' && ['rewind', 'restore', 'fork'].includes(parts[3])) {
    return json(200, answerRewind(state, parts[2], parts[3], body))
  }
  if (parts[1] === 'session' && parts[3] === 'context') return json(200, state.context)
  if (parts[1] === 'session' && (parts[3] === 'title' || parts[3] === 'archive')) {
    const session = state.sessions.get(parts[2])
    if (!session) return fail(404, 'SESSION_NOT_FOUND', `there is no session ${parts[2]}`)
    Object.assign(session.summary, body)
    return json(200, {})
  }
  if (parts[1] === 'session' && parts[3] === 'load') {
    const session = state.sessions.get(parts[2])
    if (!session) return fail(404, 'SESSION_NOT_FOUND', `there is no session ${parts[2]}`)
    session.summary.discovered = false
    return json(200, { sessionId: session.id, cliType: session.summary.cliType })
  }
  return fail(404, 'NOT_FOUND', `no route ${route}`)
}

/** What an index with one function and one class would find. */
function searched({ path: folder, query }) {
  const hit = (file, startLine, symbolLabel, preview) => ({
    kind: 'group',
    groupId: `${file}:${startLine}`,
    file,
    span: { startLine, endLine: startLine + 6 },
    symbolLabel,
    preview,
  })
  const all = [
    hit('src/login.ts', 18, 'function login', 'export async function login(name: string, secret: string) {'),
    hit('src/login.ts', 4, 'class LoginFailed', 'export class LoginFailed extends Error {'),
    hit('src/keys.ts', 40, 'function renewKey', 'export function renewKey(age: number): boolean {'),
  ]
  const results = all.filter(hit => hit.symbolLabel.toLowerCase().includes(query.toLowerCase()))
  return { status: 'ok', path: folder, query, results }
}

async function projectRoute(state, { parts, route, url, body, request }, json, fail) {
  if (route === 'GET project') return json(200, { projects: state.projects })
  if (route === 'POST project') {
    const { path: folder } = body
    if (!folder?.startsWith('/'))
      return fail(400, 'INVALID_PATH', `${folder} is not the absolute path of a folder`)
    const project = { projectId: freshId('p'), path: folder, name: path.basename(folder), trusted: false }
    state.projects.push(project)
    return json(201, project)
  }
  const project = state.projects.find(project => project.projectId === parts[2])
  if (!project) return fail(404, 'NOT_FOUND', 'no such project')
  if (['worktree', 'tries'].includes(parts[3])) {
    return json(200, await answerWorktrees(state, { parts, route, url, body }))
  }
  if (request.method === 'DELETE') {
    state.projects = state.projects.filter(other => other !== project)
    return json(200, {})
  }
  if (parts[3] === 'trust') {
    project.trusted = body.trusted
    return json(200, project)
  }
  if (parts[3] === 'git') {
    if (!project.trusted) return fail(403, 'WORKSPACE_UNTRUSTED', `${project.path} is not trusted`)
    return json(200, answerGit(state, parts[4], body, url))
  }
  if (parts[3] === 'file') {
    const lines = Array.from({ length: 60 }, (_, n) => `line ${n + 1} of ${url.searchParams.get('path')}`)
    return json(200, { path: url.searchParams.get('path'), firstLine: 1, lines, totalLines: lines.length })
  }
  const query = url.searchParams.get('query') ?? ''
  return json(200, { files: FILES.filter(file => file.includes(query)), truncated: false })
}

async function serveFile(root, pathname, response) {
  const file = path.join(root, pathname === '/' ? 'index.html' : path.normalize(pathname))
  try {
    const bytes = await readFile(file)
    response.writeHead(200, {
      'content-type': MIME[path.extname(file)] ?? 'application/octet-stream',
      'content-security-policy': POLICY,
      'referrer-policy': 'no-referrer',
    })
    response.end(bytes)
  } catch {
    response.writeHead(404).end('not found')
  }
}

async function readAll(request) {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}
