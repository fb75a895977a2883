// Recorded conversations: one with every kind of item, a very long one, a hostile one, one with a huge change.

import { ATTACKS } from './attacks.mjs'

const at = minutes => new Date(Date.now() - minutes * 60_000).toISOString()

class Recorder {
  constructor(sessionId) {
    Object.assign(this, { sessionId, entries: [], turns: [], turnN: 0, n: 0, turnId: '' })
  }

  turn(message) {
    this.turnId = `past-${++this.turnN}`
    const { turnId, sessionId } = this
    this.turns.push({ type: 'turn_started', turnId, sessionId, modelId: 'opus', providerId: 'mock' })
    this.add({ type: 'message', origin: 'user', content: message })
  }

  add(body) {
    const { turnId, sessionId } = this
    const itemId = `${sessionId}:${turnId}:${this.n++}`
    const times = { sourceTimestamp: at(30), emittedAt: at(29.9) }
    this.entries.push({ turnId, sessionId, itemId, ...times, status: 'complete', ...body })
  }

  say(content) {
    this.add({ type: 'message', origin: 'agent', content })
  }

  think(content) {
    this.add({ type: 'thinking', content, providerId: 'mock' })
  }

  call(toolName, toolArguments, toolOutput, detail, more = {}) {
    const callId = `call-${this.sessionId}-${this.n}`
    this.add({ type: 'tool_call', toolName, toolArguments, callId, toolOutput, detail, ...more })
    return callId
  }

  end() {
    const usage = {
      inputTokens: 2100,
      outputTokens: 890,
      cacheReadInputTokens: 31_000,
      costUsd: 0.061,
      contextTokens: 38_400,
      contextWindow: 200_000,
    }
    const { turnId, sessionId } = this
    this.turns.push({
      type: 'turn_complete',
      turnId,
      sessionId,
      status: 'completed',
      usage,
      durationMs: 42_000,
    })
    return this
  }
}

const ROOT = '/home/ada/code/api'
const same = text => ({ kind: 'context', spans: [{ text }] })
const plus = (...spans) => ({ kind: 'added', spans })
const minus = (...spans) => ({ kind: 'removed', spans })
const changed = text => ({ text, changed: true })

/** What an agent reads after an edit that brought errors. */
function told(file, lines) {
  const text = `LSP errors detected in this file, please fix:\n<diagnostics file="${file}">\n${lines.join('\n')}\n</diagnostics>`
  return { text, errors: lines.length, warnings: 0 }
}

const LOGIN_DIFF = {
  path: `${ROOT}/src/login.ts`,
  added: 6,
  removed: 2,
  hunks: [
    {
      oldStart: 18,
      newStart: 18,
      lines: [
        same('export async function login(name: string, secret: string) {'),
        minus({ text: '  const answer = await ' }, changed('post'), { text: "('/login', { name, secret })" }),
        minus({ text: '  return ' }, changed('answer'), { text: '.token' }),
        plus({ text: '  const answer = await ' }, changed('withRetry(() => post'), {
          text: "('/login', { name, secret }))",
        }),
        plus({ text: '  if (!answer.ok) {' }),
        plus({ text: '    // The server renews its key every hour; one more try is enough.' }),
        plus({ text: '    throw new LoginFailed(answer.status)' }),
        plus({ text: '  }' }),
        plus({ text: '  return ' }, changed('answer.body'), { text: '.token' }),
        same('}'),
      ],
    },
  ],
}

/** The old or the new text of a diff. */
const side = (diff, kind) =>
  diff.hunks
    .flatMap(hunk => hunk.lines)
    .filter(line => line.kind === 'context' || line.kind === kind)
    .map(line => line.spans.map(span => span.text).join(''))
    .join('\n')

const TEST_OUTPUT = `\u001b[1m RUN \u001b[22m v4.1.12 \u001b[2m${ROOT}\u001b[22m

 \u001b[32m✓\u001b[39m tests/session.test.ts \u001b[2m(12 tests)\u001b[22m 84ms
 \u001b[31m❯\u001b[39m tests/login.test.ts \u001b[2m(5 tests | \u001b[31m1 failed\u001b[39m\u001b[2m)\u001b[22m 131ms
   \u001b[31m× retries once when the key was renewed\u001b[39m
     \u001b[31m→ expected 401 to be 200\u001b[39m

 \u001b[2mTests\u001b[22m  \u001b[31m1 failed\u001b[39m | \u001b[32m16 passed\u001b[39m`

const SUMMARY = `The login now retries **once**. What changed:

1. \`withRetry\` waits for the renewed key and posts again
2. a second 401 is a \`LoginFailed\`, as before

\`\`\`ts
export async function withRetry<T>(call: () => Promise<T>): Promise<T> {
  const answer = await call()
  // One more try is enough: the key is new by then.
  return isExpired(answer) ? call() : answer
}
\`\`\`

| test | before | now |
|---|---|---|
| renewed key | 401 | 200 |
| wrong secret | 401 | 401 |

> One test still fails: it asks for two retries. Shall I change the test?`

/** Every kind of item once. */
export function tour(sessionId) {
  const r = new Recorder(sessionId)
  r.turn('make the login retry once when the key was renewed')
  r.think('The client posts to /login and gives up at the first 401. How is the token renewed?')
  r.say("I'll look at the client first.")
  const hits = 'src/login.ts:18\nsrc/login.ts:24\nsrc/api.ts:7\nsrc/routes.ts:31'
  r.call('Grep', { pattern: 'login', path: `${ROOT}/src` }, hits, { kind: 'search' })
  const file = Array.from({ length: 80 }, (_, i) => `${i + 1}\tline ${i + 1}`).join('\n')
  r.call('Read', { file_path: `${ROOT}/src/login.ts`, offset: 1, limit: 80 }, file, { kind: 'read' })
  const todos = [
    { content: 'Read the client and its tests', status: 'completed' },
    { content: 'Retry once after a 401', status: 'in_progress' },
    { content: 'Add a test for the renewed key', status: 'pending' },
  ]
  r.call('TodoWrite', { todos }, 'ok', { kind: 'todo' })
  const [old_string, new_string] = ['removed', 'added'].map(kind => side(LOGIN_DIFF, kind))
  const edit = { file_path: `${ROOT}/src/login.ts`, old_string, new_string }
  const diagnostics = told('src/login.ts', [
    "ERROR [22:15] Cannot find name 'LoginFailed'. (2304)",
    "ERROR [24:17] Property 'body' does not exist on type 'Answer'. (2339)",
  ])
  r.call('Edit', edit, 'The file was changed.', { kind: 'edit', diffs: [LOGIN_DIFF], diagnostics })
  const shell = { kind: 'shell', exitCode: 1, durationMs: 3200 }
  r.call('Bash', { command: 'npm test', description: 'Run the tests' }, TEST_OUTPUT, shell)
  const search = { query: 'where is the key renewed' }
  r.call('mcp__chartroom__search_code', search, 'src/keys.ts:40  renewKey()', { kind: 'mcp', durationMs: 12 })
  const web = { url: 'https://example.com/docs/login', prompt: 'how long does a key live' }
  r.call('WebFetch', web, 'A key lives for one hour.', { kind: 'web', durationMs: 840 })
  const task = {
    description: 'Find every caller of login()',
    subagent_type: 'Explore',
    prompt: 'List the callers of login().',
  }
  const parentCallId = r.call('Task', task, 'There are three callers: `routes.ts`, `cli.ts` and the tests.', {
    kind: 'subagent',
    durationMs: 9100,
  })
  r.call('Grep', { pattern: 'login\\(' }, 'src/routes.ts\nsrc/cli.ts', { kind: 'search' }, { parentCallId })
  r.add({ type: 'message', origin: 'agent', content: 'Three callers.', parentCallId })
  r.say(SUMMARY)
  return r.end()
}

/** A conversation of about `length` items; every fourth is a file that was read. */
export function long(sessionId, length, file = 'line\n'.repeat(20)) {
  const r = new Recorder(sessionId)
  for (let n = 1; r.entries.length < length; n++) {
    r.turn(`question ${n}: what does step ${n} do?`)
    r.say(`Step ${n} reads the file, then **checks** it. See \`src/step${n}.ts\`.\n\n- one\n- two`)
    const shell = { kind: 'shell', exitCode: 0, durationMs: 900 }
    r.call('Bash', { command: `npm run step -- ${n}` }, `step ${n} is done`, shell)
    r.call('Read', { file_path: `${ROOT}/src/step${n}.ts` }, file, { kind: 'read' })
    r.end()
  }
  return r
}

const HOSTILE = ATTACKS.join('\n\n')

/** Model text, tool output, file names and titles that try to run. */
export function hostile(sessionId) {
  const r = new Recorder(sessionId)
  const image = n => `<img src=x onerror=window.pwned=${n}>`
  r.turn(HOSTILE)
  r.think(HOSTILE)
  r.say(HOSTILE)
  const output = `${HOSTILE}\n\u001b]8;;javascript:window.pwned=20\u0007link\u001b]8;;\u0007`
  const shell = { kind: 'shell', exitCode: 0, title: HOSTILE }
  r.call('Bash', { command: HOSTILE, description: HOSTILE }, output, shell)
  const lines = [plus(changed(HOSTILE))]
  const diff = { path: image(22), added: 1, removed: 0, hunks: [{ oldStart: 1, newStart: 1, lines }] }
  r.call('Edit', { file_path: `${ROOT}/${image(21)}.ts` }, HOSTILE, { kind: 'edit', diffs: [diff] })
  r.call(`mcp__<b>evil</b>__${image(23)}`, { [image(24)]: HOSTILE }, HOSTILE)
  r.call('TodoWrite', { todos: [{ content: HOSTILE, status: 'in_progress' }] }, '', { kind: 'todo' })
  return r.end()
}

/** A change of about four megabytes as the server caps it, and one that it did not cap. */
export function huge(sessionId) {
  const r = new Recorder(sessionId)
  r.turn('format the whole data file')
  const lines = Array.from({ length: 2000 }, (_, n) => {
    const line = { text: `  "key${n}": "${'x'.repeat(120)}",` }
    return n % 3 === 0 ? minus(line) : plus(line)
  })
  const hunks = [{ oldStart: 1, newStart: 1, lines }]
  const diff = { path: `${ROOT}/data.json`, added: 40_000, removed: 20_000, truncated: true, hunks }
  const write = { file_path: `${ROOT}/data.json`, content: 'x'.repeat(4_000_000) }
  r.call('Write', write, 'ok', { kind: 'edit', diffs: [diff] })
  const text = Array.from({ length: 60_000 }, (_, n) => `"key${n}": "${'y'.repeat(55)}",`).join('\n')
  r.call('Write', { file_path: `${ROOT}/other.json`, content: text }, text)
  r.say('Both files are written.')
  return r.end()
}

/** A short conversation. */
export function short(sessionId, question, answer) {
  const r = new Recorder(sessionId)
  r.turn(question)
  r.call('Bash', { command: 'ls src' }, 'login.ts\nroutes.ts', { kind: 'shell', exitCode: 0, durationMs: 20 })
  r.say(answer)
  return r.end()
}

const FOLDER = `${ROOT}/packages/authentication-service/src/internal/adapters/postgres/repositories`

/** What is long, wide or went wrong: pastes, deep paths, failures, a subagent at work. */
export function rough(sessionId) {
  const r = new Recorder(sessionId)
  const trace = Array.from(
    { length: 40 },
    (_, n) => `  at renew${n} (${FOLDER}/session-token.ts:${n + 12}:7)`,
  )
  r.turn(`the nightly build fails, this is all I have:\n\nTypeError: key is undefined\n${trace.join('\n')}`)
  r.think('The trace ends in the session token repository. First the file, then whoever calls it.')
  r.call(
    'Read',
    { file_path: `${FOLDER}/a-file-with-a-rather-long-name.repository.ts` },
    '',
    {
      kind: 'read',
    },
    { toolOutput: 'File does not exist.', toolOutputIsError: true },
  )
  const log = Array.from(
    { length: 420 },
    (_, n) => `\u001b[2m${String(n).padStart(4)}\u001b[22m compiling module ${n}`,
  )
  const build = {
    command: `cd ${FOLDER} && npm run build -- --filter=authentication-service --verbose --no-cache`,
  }
  r.call('Bash', build, log.join('\n'), { kind: 'shell', exitCode: 0, durationMs: 94_000 })
  r.call('Bash', { command: 'cat /etc/shadow' }, 'cat: /etc/shadow: Permission denied', {
    kind: 'shell',
    exitCode: 1,
    durationMs: 12,
  })
  const lock = { path: `${ROOT}/package-lock.json`, added: 812, removed: 640, truncated: true, hunks: [] }
  r.call('Edit', { file_path: lock.path }, 'ok', { kind: 'edit', diffs: [lock] })
  const edit = { file_path: `${FOLDER}/session-token.ts`, old_string: 'a', new_string: 'b' }
  const long = { ...LOGIN_DIFF, path: edit.file_path }
  const diagnostics = told('src/session-token.ts', [
    "ERROR [24:10] Property 'body' does not exist on type 'Answer'. (2339)",
  ])
  r.call('Edit', edit, 'The file was changed.', { kind: 'edit', diffs: [long], diagnostics })
  const task = {
    description: 'Read every migration since March and say which of them touch the token table',
    subagent_type: 'general-purpose',
    prompt: 'Read the migrations one by one. For each, say whether it touches `session_token`.',
  }
  const parentCallId = r.call('Task', task, undefined, { kind: 'subagent' }, { status: 'update' })
  r.call('Glob', { pattern: 'migrations/**/*.sql' }, 'a.sql\nb.sql', { kind: 'search' }, { parentCallId })
  r.call(
    'Read',
    { file_path: `${ROOT}/migrations/0042_token.sql` },
    'ALTER TABLE',
    { kind: 'read' },
    { parentCallId },
  )
  r.add({ type: 'message', origin: 'agent', content: 'Two of nine touch it so far.', parentCallId })
  return r
}
