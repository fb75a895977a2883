// A person sees what the agent was told about errors: the real claude, the real TypeScript.

import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { writeClaudeSession } from './claudeFile.mjs'
import {
  ask,
  check,
  equal,
  idle,
  openFound,
  openSession,
  send,
  start,
  story,
  TOOLS,
  until,
  WORKSPACE,
} from './harness.mjs'

const BIN = process.env.CHARTROOM_BIN_DIR ?? path.join(WORKSPACE, 'target/debug')
const LSP = '[lsp]\nfirstTouchTimeout = 120000\ndiagnosticTimeout = 60000'
const BROKEN = "export const price: number = 'ten'\nexport const name: string = 10\n"
const ELSEWHERE =
  'LSP errors detected in this file, please fix:\n<diagnostics file="src/a.ts">\nERROR [1:14] no\n</diagnostics>'

/** Makes the project one that a TypeScript server serves. */
async function typescript(at) {
  const files = {
    'package.json': '{"name":"shop"}\n',
    'tsconfig.json': '{"compilerOptions":{"strict":true,"types":[]},"include":["src"]}\n',
  }
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(at.project, name), text)
  await symlink(path.join(TOOLS, 'ts7/node_modules'), path.join(at.project, 'node_modules'))
}

/** A conversation whose model was told of an error by a hook of its own. */
function elsewhere() {
  const diff = { path: '/shop/src/a.ts', added: 1, removed: 0, hunks: [] }
  const detail = { kind: 'edit', diffs: [diff], diagnostics: { text: ELSEWHERE } }
  const call = { callId: 'c1', toolName: 'Write', toolArguments: { file_path: diff.path }, toolOutput: 'ok' }
  return {
    entries: [
      { type: 'message', origin: 'user', content: 'write it' },
      { type: 'tool_call', ...call, detail },
      { type: 'message', origin: 'agent', content: 'Done.' },
    ],
  }
}

/** What the model was told after its last call, by the request that it got. */
async function toldToModel(real) {
  const found = /LSP errors detected in this file.*?<\/diagnostics>/.exec(await real.model.lastRequest())
  // Codex puts what a tool said into its request as JSON within JSON.
  let text = found?.[0]
  while (text && /\\[n"]/.test(text)) text = JSON.parse(`"${text}"`)
  return text
}

/** A link for another browser. */
async function link(page) {
  const { code } = await ask(page, 'POST', '/api/launch')
  return `${new URL(page.url()).origin}/?token=${code}`
}

/** Opens what a card tells, and compares it word for word. */
async function sees(page, file, count, told) {
  const card = page.locator('.tool.edit', { hasText: file })
  await card.waitFor()
  equal(await card.locator('.tool-told').innerText(), count)
  equal(await card.locator('.told-text').count(), 0, 'it is folded')
  await card.getByRole('button', { name: 'What the agent was told' }).click()
  equal(await card.locator('.told-text').innerText(), told, 'word for word')
}

async function write(page, real, name, content) {
  const input = { file_path: path.join(real.project, 'src/price.ts'), content }
  await real.model.keep(name, [{ tool: { name: 'Write', input } }])
  await send(page, `[[answer:${name}]]`)
  await page.getByRole('button', { name: /Allow once/ }).click()
  await idle(page)
}

story('a person sees exactly what the agent was told about errors, also later', 'real', async stage => {
  const real = await stage.real({ lsp: LSP, prepare: typescript, codex: false })
  const page = await stage.page(real.url)
  await start(page)
  await write(page, real, 'broken', BROKEN)
  const told = await toldToModel(real)
  check(told?.includes("Type 'string' is not assignable to type 'number'."), `the model read ${told}`)
  await sees(page, 'price.ts', '2 errors', told)
  await stage.axe(page, 'an edit with errors')
  // A line leads to its place, as the file is now.
  await page.getByRole('button', { name: /^ERROR \[2:14\]/ }).click()
  const place = page.getByRole('dialog', { name: 'src/price.ts, line 2' })
  equal(await place.locator('.place-line.here').innerText(), '2\nexport const name: string = 10')
  await stage.axe(page, 'a place')
  await page.keyboard.press('Escape')
  await place.waitFor({ state: 'detached' })
  await page.reload()
  await sees(page, 'price.ts', '2 errors', told)
  const second = await stage.page(await link(page))
  await openSession(second, 'answer:broken')
  await sees(second, 'price.ts', '2 errors', told)
})

story('an edit without errors says nothing of errors', 'real', async stage => {
  const real = await stage.real({ lsp: LSP, prepare: typescript, codex: false })
  const page = await stage.page(real.url)
  await start(page)
  await write(page, real, 'right', 'export const price = 10\n')
  check((await toldToModel(real)) === undefined, 'the model was told something')
  const card = page.locator('.tool.edit[data-outcome=passed]', { hasText: 'price.ts' })
  await card.waitFor()
  equal(await card.locator('.tool-told, .told').count(), 0)
})

story('a session that was made elsewhere shows what its agent was told', 'real', async stage => {
  const real = await stage.real({ prepare: at => writeClaudeSession(at, elsewhere()) })
  const page = await stage.page(real.url)
  await openFound(page, 'write it')
  await sees(page, 'a.ts', '1 error', ELSEWHERE)
})

story('Codex: what the edit tool told the agent is told on its card', 'real', async stage => {
  const real = await stage.real({ lsp: LSP, prepare: typescript })
  const page = await stage.page(real.url)
  await start(page, 'Codex')
  const input = { filePath: 'src/price.ts', content: BROKEN }
  await send(page, `[[tool:mcp__chartroom/write_file:${JSON.stringify(input)}]]`)
  await page.getByRole('button', { name: /Allow once/ }).click()
  const card = page.locator('.tool[data-outcome=passed]', { hasText: 'write_file' })
  await card.waitFor()
  await idle(page)
  equal(await card.locator('.tool-told').innerText(), '2 errors')
  await card.locator('.tool-line').click()
  const told = await toldToModel(real)
  check(told !== undefined && (await card.innerText()).includes(told), `the model read ${told}`)
})

story('a person starts, restarts and stops a language server', 'real', async stage => {
  const real = await stage.real({ lsp: LSP, prepare: typescript, codex: false })
  const page = await stage.page(real.url)
  await start(page)
  const servers = page.getByRole('region', { name: 'Language servers' })
  await servers.getByText(/not running/).click()
  await servers.getByRole('button', { name: 'Start typescript' }).click()
  await servers.getByRole('button', { name: 'Stop typescript' }).waitFor()
  const [{ projectId }] = (await ask(page, 'GET', '/api/project')).projects
  const pid = async () => {
    const { servers } = await ask(page, 'GET', `/api/lsp/${projectId}/status`)
    return servers.find(server => server.id === 'typescript').serverPid
  }
  const first = await pid()
  check(first > 0, 'it runs')
  await stage.axe(page, 'a running server')
  await servers.getByRole('button', { name: 'Restart typescript' }).click()
  await until('another process serves', async () => ((await pid()) ?? first) !== first)
  await servers.getByRole('button', { name: 'Stop typescript' }).click()
  await until('it has ended', async () => (await pid()) === undefined)
})

story(
  'a person installs a language server with a click, and one that fails says why',
  'real',
  async stage => {
    // A package manager that brings one server, and no other.
    const tools = await mkdtemp(path.join(os.tmpdir(), 'chartroom-npm-'))
    const npm = `#!/bin/sh
while [ "$1" != --prefix ]; do shift; done
bin=$2/node_modules/.bin
case "$*" in *intelephense*) ;; *) echo 'npm: no such package' >&2; exit 1;; esac
mkdir -p $bin
printf '#!/bin/sh\\nexec ${path.join(BIN, 'fake-lsp')} good\\n' > $bin/intelephense
chmod +x $bin/intelephense
`
    await writeFile(path.join(tools, 'npm'), npm, { mode: 0o755 })
    const real = await stage.real({
      lsp: LSP,
      codex: false,
      env: { PATH: `${tools}:/usr/bin:/bin` },
      prepare: async ({ project }) => {
        await writeFile(path.join(project, 'page.svelte'), '<p>hello</p>\n')
        await writeFile(path.join(project, 'index.php'), '<?php\n')
      },
    })
    const page = await stage.page(real.url)
    await start(page)
    const servers = page.getByRole('region', { name: 'Language servers' })
    await servers.getByText(/not running/).click()
    await servers.getByText('typescript', { exact: true }).waitFor()
    equal(await servers.getByText('gopls', { exact: true }).count(), 0, 'no file of the project is Go')
    await servers.getByRole('button', { name: 'Install svelte with npm' }).click()
    await page.getByText(/no such package/).waitFor()
    await servers.getByRole('button', { name: 'Install intelephense with npm' }).click()
    await servers.getByRole('button', { name: 'Start intelephense' }).waitFor()
    await stage.axe(page, 'a server that was installed')
    await rm(tools, { recursive: true })
  },
)
