// What the stand-in server begins with.

import * as recorded from './recorded.mjs'
import { MockSession } from './session.mjs'

const CONTEXT = {
  status: 'known',
  context: {
    totalTokens: 38_400,
    maxTokens: 200_000,
    reservedTokens: 33_000,
    categories: [
      { name: 'System prompt', tokens: 3200 },
      { name: 'System tools', tokens: 11_800 },
      { name: 'MCP tools', tokens: 2400 },
      { name: 'Memory files', tokens: 900 },
      { name: 'Messages', tokens: 20_100 },
    ],
  },
}

/** `full` has projects and sessions; `empty` has neither, for the first screen. */
export function world(kind = 'full') {
  const agents = [
    {
      cliType: 'claude-code',
      name: 'Claude Code',
      status: 'found',
      path: '/usr/local/bin/claude',
      install: 'npm install -g @anthropic-ai/claude-code',
    },
    {
      cliType: 'codex',
      name: 'Codex',
      ...(kind === 'empty' ? { status: 'missing' } : { status: 'found', path: '/usr/local/bin/codex-acp' }),
      install: 'npm install -g @zed-industries/codex-acp',
    },
  ]
  if (kind === 'empty') return { projects: [], agents, sessions: new Map() }
  const projects = [
    { projectId: 'p-api', path: '/home/ada/code/api', name: 'api', trusted: true },
    { projectId: 'p-web', path: '/home/ada/code/web', name: 'web', trusted: false },
  ]
  const servers = {
    root: '/home/ada/code/api',
    servers: [
      { id: 'typescript', status: 'active', language: 'typescript', path: 'node_modules/.bin/tsserver' },
      { id: 'eslint', status: 'starting', language: 'typescript' },
      {
        id: 'gopls',
        status: 'unavailable',
        language: 'go',
        hint: 'go install golang.org/x/tools/gopls@latest',
      },
    ],
  }
  const index = { codebases: [{ path: '/home/ada/code/api', bucket: 'ready', indexedFiles: 4812 }], total: 1 }
  return { projects, agents, sessions: sessions(), servers, index, context: CONTEXT }
}

function sessions() {
  const ago = minutes => new Date(Date.now() - minutes * 60_000).toISOString()
  const all = new Map()
  const add = (sessionId, title, minutes, conversation, more = {}) => {
    const session = new MockSession({
      sessionId,
      cliType: 'claude-code',
      projectId: 'p-api',
      title,
      lastActivity: ago(minutes),
      ...more,
    })
    session.remember(conversation.entries, conversation.turns)
    all.set(sessionId, session)
  }
  const short = (id, question, answer) => recorded.short(id, question, answer)
  const ported = short('s-codex', 'port the parser to TypeScript', 'Ported; **all 31 tests** pass.')
  const slow = short('s-found', 'why is the build slow?', 'Two plug-ins run twice.')
  const renamed = short('s-found-2', 'rename the user table', 'Done in one migration.')
  const title = '<img src=x onerror=window.pwned=30> title'
  add('s-tour', 'make the login retry once', 1, recorded.tour('s-tour'))
  add('s-codex', 'port the parser', 14, ported, { cliType: 'codex' })
  add('s-long', 'a very long session', 60 * 5, recorded.long('s-long', 10_000))
  add('s-huge', 'format the data file', 60 * 26, recorded.huge('s-huge'))
  add('s-hostile', title, 60 * 50, recorded.hostile('s-hostile'))
  const nightly = 'the nightly build of the authentication service fails'
  add('s-rough', nightly, 60 * 3, recorded.rough('s-rough'), { state: 'working' })
  add('s-found', 'why is the build slow', 60 * 24 * 9, slow, { discovered: true })
  add('s-found-2', 'rename the user table', 60 * 24 * 20, renamed, { discovered: true, cliType: 'codex' })
  return all
}
