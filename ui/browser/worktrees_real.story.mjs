// Worktrees and several tries with the real agents, the real server and real git.

import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { check, equal, idle, send, story, until } from './harness.mjs'

const login = folder => path.join(folder, 'src/login.ts')
const text = folder => readFile(login(folder), 'utf8')
const strip = page => page.getByRole('region', { name: 'Several tries' })
const column = (page, at) => strip(page).getByRole('listitem').nth(at)

const git = (real, ...args) =>
  execFileSync('git', args, { cwd: real.project, env: { ...process.env, HOME: real.home } })
    .toString()
    .trim()

/** A project as people have it: a repository with a commit. */
const committed = real => {
  git(real, 'init', '-q', '-b', 'main')
  git(real, 'add', '-A')
  git(real, '-c', 'user.name=U', '-c', 'user.email=u@example.org', 'commit', '-q', '-m', 'first')
}

/** The folder of a worktree of Chartroom's making. */
async function folderOf(real, name) {
  const [repository] = await readdir(path.join(real.data, 'worktrees'))
  return path.join(real.data, 'worktrees', repository, name)
}

story(
  'Claude works in a worktree that was set up; a conflict is shown, and work is not removed without a second word',
  'real',
  async stage => {
    const setup = '[worktrees]\nsetup = ["git", "rev-parse", "--abbrev-ref", "HEAD"]'
    const real = await stage.real({ prepare: committed, lsp: `lsp = false\n\n${setup}` })
    const page = await stage.page(real.url)
    const shell = { command: "sed -i 's/retries = 0/retries = 12/' src/login.ts", description: 'retry' }
    await real.model.keep('shell', [{ tool: { name: 'Bash', input: shell } }])
    await page.getByRole('button', { name: /^More in project/ }).click()
    await page.getByRole('menuitem', { name: /^New session…/ }).click()
    const form = page.getByRole('dialog', { name: 'New session in project' })
    await form.getByRole('switch').check()
    await form.getByRole('textbox', { name: 'Branch' }).fill('feature/retry')
    await page.keyboard.press('Enter')
    await page.locator('.tab.active .branch-name', { hasText: 'feature/retry' }).waitFor()
    await send(page, '[[answer:shell]]')
    await page.getByRole('button', { name: /Allow once/ }).click()
    await page.locator('.tool.shell[data-outcome=passed]').waitFor()
    await idle(page)
    const worktree = await folderOf(real, 'feature-retry')
    equal(await text(worktree), 'export const retries = 12\n')
    equal(await text(real.project), 'export const retries = 0\n', 'the main folder was changed')

    const dialog = page.getByRole('dialog', { name: 'Worktree feature/retry' })
    const open = async () => {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox').fill('bring this worktree')
      await page.keyboard.press('Enter')
      await dialog.getByRole('option', { name: 'main' }).waitFor({ state: 'attached' })
    }
    await open()
    await dialog.getByText('Set-up', { exact: true }).click()
    await dialog.locator('pre', { hasText: 'feature/retry' }).waitFor()
    // The person has changed the same line meanwhile.
    await writeFile(login(real.project), 'export const retries = 3\n')
    await dialog.getByRole('button', { name: 'Bring back' }).click()
    await dialog.getByText('Conflicts').waitFor()
    await dialog.getByText('src/login.ts').waitFor()
    equal(await text(real.project), 'export const retries = 3\n', 'it was overwritten')
    await writeFile(login(real.project), 'export const retries = 0\n')
    await dialog.getByRole('button', { name: 'Bring back' }).click()
    await dialog.waitFor({ state: 'detached' })
    equal(await text(real.project), 'export const retries = 12\n', 'it did not come back')
    equal(git(real, 'status', '--porcelain'), 'M src/login.ts')

    await writeFile(path.join(worktree, 'more.txt'), 'more\n')
    await open()
    await dialog.getByRole('button', { name: 'Remove…' }).click()
    await dialog.getByText(/This would be lost: .*more\.txt/).waitFor()
    check(existsSync(path.join(worktree, 'more.txt')), 'it was removed without a second word')
    await dialog.getByRole('button', { name: 'Remove it all the same' }).click()
    await dialog.waitFor({ state: 'detached' })
    check(!existsSync(worktree), 'its folder is there')
    equal(git(real, 'branch', '--format=%(refname:short)'), 'main')
    await until('its tab is closed', async () => (await page.locator('.tab').count()) === 0)
  },
)

story('Claude and Codex try the same; both are tested, one is kept', 'real', async stage => {
  const test = '[tries]\ntest = ["grep", "retries = 12", "src/login.ts"]'
  const real = await stage.real({ prepare: committed, lsp: `lsp = false\n\n${test}` })
  const page = await stage.page(real.url)
  // Each of them knows one of the two tools.
  const sed = n => `sed -i 's/retries = 0/retries = ${n}/' src/login.ts`
  const codex = { cmd: sed(7), sandbox_permissions: 'require_escalated', justification: 'to change it' }
  await real.model.keep('try', [
    { tool: { name: 'Bash', input: { command: sed(12), description: 'retry' } } },
    { tool: { name: 'exec_command', input: codex } },
  ])
  await page.getByRole('button', { name: /^More in project/ }).click()
  await page.getByRole('menuitem', { name: /^Several tries/ }).click()
  const form = page.getByRole('dialog', { name: 'Several tries in project' })
  await form.getByLabel('Message').fill('[[answer:try]]')
  await form.getByLabel('Try 1').selectOption('claude-code')
  await form.getByLabel('Try 2').selectOption('codex')
  await form.getByRole('button', { name: 'Start 2 tries' }).click()
  await form.waitFor({ state: 'detached' })
  for (const at of [0, 1]) {
    await column(page, at).getByText('needs you').waitFor()
    await column(page, at)
      .getByRole('button', { name: /Claude|Codex/ })
      .first()
      .click()
    await page.getByRole('button', { name: /Allow once/ }).click()
    await column(page, at).getByText('done').waitFor()
    await column(page, at).getByText('1 file').waitFor()
  }
  equal(await text(real.project), 'export const retries = 0\n', 'the main folder was changed')
  await strip(page).getByRole('button', { name: 'Run tests' }).click()
  await column(page, 0).getByText('tests passed').waitFor()
  await column(page, 1).getByText('tests failed').waitFor()
  await column(page, 0).getByRole('button', { name: 'Keep this one' }).click()
  await strip(page).getByText('1 file not committed (src/login.ts)').waitFor()
  await strip(page)
    .getByRole('button', { name: /and remove the others$/ })
    .click()
  await strip(page).waitFor({ state: 'detached' })
  equal(await text(real.project), 'export const retries = 12\n', 'it did not come back')
  equal(git(real, 'branch', '--format=%(refname:short)').split('\n').length, 2, 'the other branch is there')
  // The sessions of the one that is gone are put away; the page knows after a reload, too.
  await page.reload()
  await until('one tab is left', async () => (await page.locator('.tab').count()) === 1)
  equal(await strip(page).count(), 0)
})

story(
  'a server that dies while tries are made shows what is left of them, and it can be removed',
  'real',
  async stage => {
    const setup = '[worktrees]\nsetup = ["sleep", "600"]'
    const real = await stage.real({ prepare: committed, lsp: `lsp = false\n\n${setup}` })
    const page = await stage.page(real.url)
    await page.getByRole('button', { name: /^More in project/ }).click()
    await page.getByRole('menuitem', { name: /^Several tries/ }).click()
    const form = page.getByRole('dialog', { name: 'Several tries in project' })
    await form.getByLabel('Message').fill('make it quick')
    await form.getByRole('button', { name: 'Start 2 tries' }).click()
    await column(page, 0).getByText('set-up runs').waitFor()
    await column(page, 1).getByText('set-up runs').waitFor()
    await real.crash()
    await real.start()
    const again = await stage.page(real.url)
    await again.locator('.sidebar .session', { hasText: '2 tries' }).click()
    for (const at of [0, 1]) {
      await column(again, at).getByText('did not begin').waitFor()
      await column(again, at).getByText('set-up was interrupted').waitFor()
    }
    // Their worktrees are listed, too.
    const left = again.locator('.sidebar .session', { hasText: 'worktree' })
    await until('both are listed', async () => (await left.count()) === 2)
    equal(git(real, 'branch', '--format=%(refname:short)').split('\n').length, 3, 'the branches of the two')
    await strip(again).getByRole('button', { name: 'Keep none…' }).click()
    await strip(again).waitFor({ state: 'detached' })
    equal(git(real, 'branch', '--format=%(refname:short)'), 'main')
    equal(git(real, 'worktree', 'list').split('\n').length, 1)
  },
)
