// The real server with the real agents on the scripted model API, in folders of its own that go away with it.

import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import readline from 'node:readline'
import { promisify } from 'node:util'

const PATIENCE_MS = 120_000

/**
 * Starts it. `prepare` may put files into the home or the project before; a project that is not `trusted` is not
 * named to the server at all, as on a first run; without `codex` that agent is not installed. `lsp` is the part of the
 * config about language servers: none run unless it says so. With `scripted` there is also the agent `scripted`, our own
 * that speaks ACP and asks for whatever it is told to. `logs` has what each start has said on stderr.
 */
export async function startReal({
  tools,
  workspace,
  claude = {},
  codex = true,
  lsp = 'lsp = false',
  scripted = false,
  prepare = () => {},
  trusted = true,
  env: more = {},
}) {
  const bin = process.env.CHARTROOM_BIN_DIR ?? path.join(workspace, 'target/debug')
  for (const program of ['chartroom', 'model-api']) {
    if (existsSync(path.join(bin, program))) continue
    throw new Error(`${bin}/${program} is missing: run \`cargo build --workspace --bins --all-features\``)
  }
  const folder = await mkdtemp(path.join(os.tmpdir(), 'chartroom-story-'))
  const [home, project, data] = ['home', 'project', 'data'].map(name => path.join(folder, name))
  for (const made of [path.join(home, '.codex'), path.join(project, 'src'), data]) {
    await mkdir(made, { recursive: true })
  }
  await writeFile(path.join(project, 'src/login.ts'), 'export const retries = 0\n')
  await writeFile(path.join(project, 'hello.txt'), 'hello from the project\n')
  const model = await startModel(path.join(bin, 'model-api'))
  await writeFile(path.join(home, '.codex/config.toml'), codexConfig(model.urls.openai))
  const config = path.join(folder, 'config.toml')
  const agents = path.join(tools, 'agents/node_modules/.bin')
  await writeFile(
    config,
    chartroomConfig({ agents, home, anthropic: model.urls.anthropic, claude, codex, lsp }) +
      (scripted
        ? `\n[agents.scripted]\ncommand = ${toml(path.join(bin, 'fake-acp'))}\nprotocol = "acp"\n`
        : ''),
  )

  const env = {
    PATH: `${path.dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    HOME: home,
    // Agents that are killed leave their scratch files: here they go with the story.
    TMPDIR: home,
    CHARTROOM_HOME: data,
    CHARTROOM_CONFIG: config,
    TERM: 'dumb',
    ...more,
  }
  const real = { project, home, data, model, port: 0, url: '', child: undefined, logs: [] }
  /** Has a turn with `claude` as a person does in a terminal, without Chartroom; returns the session's id. */
  real.claude = async (message, ...args) => {
    const alone = { ...env, ...claudeVariables({ home, anthropic: model.urls.anthropic, claude }) }
    const asked = ['-p', message, '--output-format', 'json', ...args]
    const turn = promisify(execFile)(path.join(agents, 'claude'), asked, { env: alone, cwd: project })
    turn.child.stdin.end()
    return JSON.parse((await turn).stdout).session_id
  }
  await prepare(real)
  real.start = async () => {
    const args = ['serve', '--port', String(real.port), ...(trusted ? ['--trust', project] : [])]
    const started = await startChild(path.join(bin, 'chartroom'), args, env, /ready: (http\S+)/)
    real.child = started.child
    real.logs.push(started.complaints)
    real.url = started.match[1]
    real.port = Number(new URL(real.url).port)
  }
  /** Ends the server the hard way, as a crash would. */
  real.crash = () => ended(real.child, 'SIGKILL')
  real.kill = async () => {
    await ended(real.child, 'SIGTERM')
    await ended(model.child, 'SIGKILL')
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  await real.start()
  return real
}

async function startModel(program) {
  const { child, match, lines } = await startChild(program, [], process.env, /^(\{.*\})$/)
  const ask = (line, answer) =>
    new Promise((resolve, reject) => {
      const patience = setTimeout(() => reject(new Error(`the model never said "${answer}"`)), PATIENCE_MS)
      const hear = said => {
        if (said !== answer) return
        clearTimeout(patience)
        lines.off('line', hear)
        resolve()
      }
      lines.on('line', hear)
      child.stdin.write(`${line}\n`)
    })
  return {
    child,
    urls: JSON.parse(match[1]),
    open: gate => child.stdin.write(`open ${gate}\n`),
    /** Resolves when a stream waits at the gate. */
    reached: gate => ask(`reached ${gate}`, `reached ${gate}`),
    /** The body of the request that the model got last, as text. */
    lastRequest: () =>
      new Promise(resolve => {
        lines.once('line', resolve)
        child.stdin.write('last\n')
      }),
    /** Keeps what the model says to the message `[[answer:NAME]]`: blocks as `scenario.rs` of the testkit has them. */
    keep: (name, blocks) => ask(`keep ${name} ${JSON.stringify({ blocks })}`, `kept ${name}`),
  }
}

function startChild(program, args, env, wanted) {
  const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe'] })
  const lines = readline.createInterface({ input: child.stdout })
  let complaints = ''
  child.stderr.on('data', data => {
    complaints += data
  })
  return new Promise((resolve, reject) => {
    const fail = why => reject(new Error(`${path.basename(program)} ${why}\n${complaints}`))
    const patience = setTimeout(() => fail('did not become ready'), PATIENCE_MS)
    child.once('error', error => fail(`could not be started: ${error.message}`))
    child.once('exit', code => fail(`ended with ${code}`))
    lines.on('line', function hear(line) {
      const match = wanted.exec(line)
      if (!match) return
      clearTimeout(patience)
      lines.off('line', hear)
      child.removeAllListeners('exit')
      resolve({ child, match, lines, complaints: () => complaints })
    })
  })
}

function ended(child, signal) {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise(resolve => {
    child.once('exit', resolve)
    child.kill(signal)
  })
}

const toml = value => JSON.stringify(value)
const table = entries =>
  `{ ${Object.entries(entries)
    .map(([name, value]) => `${name} = ${toml(value)}`)
    .join(', ')} }`

const claudeVariables = ({ home, anthropic, claude }) => ({
  HOME: home,
  ANTHROPIC_BASE_URL: anthropic,
  ANTHROPIC_API_KEY: 'sk-ant-dummy',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  ...claude,
})

function chartroomConfig({ agents, home, anthropic, claude, codex, lsp }) {
  const claudeEnv = claudeVariables({ home, anthropic, claude })
  const codexEnv = { HOME: home, CODEX_HOME: path.join(home, '.codex'), MOCK_API_KEY: 'dummy' }
  return `
${lsp}

[agents.claude-code]
command = ${toml(path.join(agents, 'claude'))}
env = ${table(claudeEnv)}
${codex ? `\n[agents.codex]\ncommand = ${toml(path.join(agents, 'codex-acp'))}\nenv = ${table(codexEnv)}\n` : ''}
`
}

function codexConfig(openai) {
  return `
model = "gpt-5.4"
model_provider = "mock"
check_for_update_on_startup = false

[model_providers.mock]
name = "mock"
base_url = ${toml(openai)}
env_key = "MOCK_API_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1

[analytics]
enabled = false

[feedback]
enabled = false
`
}
