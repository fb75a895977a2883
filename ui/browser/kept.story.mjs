// Keep or undo with the real agents and the real git: parts, files and turns go back and come again, a hook has its word, and
// the agent proposes a commit message.

import { execFileSync } from 'node:child_process'
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { check, equal, idle, send, start, story, until } from './harness.mjs'

const view = page => page.getByRole('group', { name: 'Changes', exact: true })
const row = (page, name) => view(page).getByRole('navigation').getByRole('button', { name })
const diff = page => view(page).getByRole('region', { name: 'Difference' })
const bar = page => view(page).getByRole('toolbar', { name: 'Keep or undo' })
const form = page => view(page).getByRole('form', { name: 'Commit' })
const said = page => view(page).getByRole('region', { name: 'What git said' })
const message = page => form(page).getByRole('textbox', { name: 'Commit message' })
const login = real => path.join(real.project, 'src/login.ts')
/** git takes a file away before it writes it anew. */
const read = real => readFile(login(real), 'utf8').catch(() => '')

const git = (real, ...args) =>
  execFileSync('git', args, {
    cwd: real.project,
    env: { ...process.env, HOME: real.home },
    encoding: 'utf8',
  }).trim()

/** What the model is asked names the changed files, and so this one says what it answers. */
const NOTES = 'notes [[answer:propose]].txt'
const PROPOSED = 'login: retry twelve times\n\nThe key may just have been renewed.'

/** A repository with a commit, whose hook refuses until there is a file `ready` beside it. */
async function committed(real) {
  git(real, 'init', '-q', '-b', 'main')
  git(real, 'config', 'user.name', 'U')
  git(real, 'config', 'user.email', 'u@example.org')
  git(real, 'add', '-A')
  git(real, 'commit', '-q', '-m', 'first')
  const hook = path.join(real.project, '.git/hooks/pre-commit')
  await writeFile(
    hook,
    '#!/bin/sh\necho the hook has looked\ntest -f .git/ready || { echo not ready; exit 1; }\n',
  )
  await chmod(hook, 0o755)
}

async function scope(page, name) {
  await view(page)
    .getByRole('button', { name: /^Compared:/ })
    .click()
  await page.getByRole('menuitemradio', { name }).click()
  await view(page)
    .getByRole('button', { name: `Compared: ${name}` })
    .waitFor()
}

/** Lets the agent propose a message, meets the hook, and commits. */
async function commit(real, page) {
  await scope(page, 'Uncommitted')
  await bar(page)
    .getByRole('button', { name: /^Commit/ })
    .click()
  await form(page).getByRole('checkbox', { name: 'Stage everything' }).check()
  await form(page).getByRole('button', { name: 'Propose a message' }).click()
  await page.getByRole('article', { name: 'You' }).filter({ hasText: 'Propose a commit message' }).waitFor()
  await until('the message is proposed', async () => (await message(page).inputValue()) === PROPOSED)
  await form(page).getByRole('button', { name: 'Commit', exact: true }).click()
  await said(page).getByText('Not committed').waitFor()
  await said(page)
    .getByText(/the hook has looked\s*not ready/)
    .waitFor()
  equal(await message(page).inputValue(), PROPOSED, 'the message is lost')
  equal(git(real, 'log', '--format=%s'), 'first', 'it was committed all the same')
  await writeFile(path.join(real.project, '.git/ready'), '')
  await message(page).press('Control+Enter')
  await said(page)
    .getByText(/^Committed/)
    .waitFor()
  equal(git(real, 'log', '-1', '--format=%B').trim(), PROPOSED)
  equal(git(real, 'status', '--porcelain'), '', 'something is left')
}

story(
  'Claude: a part, a turn and a commit go back and come again, also after a reload; it proposes the message',
  'real',
  async stage => {
    const real = await stage.real({ prepare: committed })
    const page = await stage.page(real.url)
    const input = { file_path: login(real), old_string: 'retries = 0', new_string: 'retries = 12' }
    await real.model.keep('read', [{ tool: { name: 'Read', input: { file_path: login(real) } } }])
    await real.model.keep('edit', [{ tool: { name: 'Edit', input } }])
    const shell = { command: `echo made by the shell > '${NOTES}'`, description: 'notes' }
    await real.model.keep('shell', [{ tool: { name: 'Bash', input: shell } }])
    await real.model.keep('propose', [{ text: `Here it is:\n\n\`\`\`\n${PROPOSED}\n\`\`\`` }])
    await start(page)
    await send(page, '[[answer:read]]')
    await page.locator('.tool.read[data-outcome=passed]').waitFor()
    await idle(page)
    for (const [name, card] of [
      ['edit', '.tool.edit[data-outcome=passed]'],
      ['shell', '.tool.shell[data-outcome=passed]'],
    ]) {
      await send(page, `[[answer:${name}]]`)
      await page.getByRole('button', { name: /Allow once/ }).click()
      await page.locator(card).waitFor()
      await idle(page)
    }
    const [before, edited] = ['export const retries = 0\n', 'export const retries = 12\n']
    await page.keyboard.press('Control+Shift+D')
    await row(page, /login\.ts/).click()
    await diff(page).getByRole('button', { name: 'Revert this part of src/login.ts' }).click()
    await until('the part is back', async () => (await read(real)) === before)
    await view(page).getByRole('button', { name: 'Undo: reverted a part of src/login.ts' }).waitFor()
    await page.reload()
    await view(page).getByRole('button', { name: 'Undo: reverted a part of src/login.ts' }).waitFor()
    await view(page).focus()
    await page.keyboard.press('u')
    await until('the part is there again', async () => (await read(real)) === edited)
    await said(page)
      .getByText(/^Undone/)
      .waitFor()

    // The last turn is the shell's: the edit of the turn before stays.
    await scope(page, 'This turn')
    await bar(page).getByRole('button', { name: 'Revert this turn' }).click()
    const isThere = async () => (await readdir(real.project)).includes(NOTES)
    await until('what the shell made is gone', async () => !(await isThere()))
    equal(await read(real), edited, 'another turn was reverted')
    await view(page)
      .getByRole('button', { name: /^Undo: reverted notes/ })
      .click()
    await until('it is there again', isThere)
    await said(page)
      .getByText(/^Undone/)
      .waitFor()

    await scope(page, 'Uncommitted')
    await row(page, /login\.ts/).click()
    await diff(page).getByRole('button', { name: 'Stage this part of src/login.ts' }).click()
    await diff(page).getByRole('button', { name: 'Unstage this part of src/login.ts' }).waitFor()
    equal(git(real, 'diff', '--cached', '--name-only'), 'src/login.ts')
    await diff(page).getByRole('button', { name: 'Unstage this part of src/login.ts' }).click()
    await until('nothing is staged', () => git(real, 'diff', '--cached', '--name-only') === '')
    await commit(real, page)
    await view(page)
      .getByRole('button', { name: /^Undo: committed “login: retry/ })
      .click()
    await until('the commit is undone', () => git(real, 'log', '--format=%s') === 'first')
    equal(await read(real), edited, 'the undo of a commit changed a file')
  },
)

story(
  'Codex: a file of its turn goes back and comes again; it proposes the message of a commit on a new branch',
  'real',
  async stage => {
    const real = await stage.real({ prepare: committed })
    const page = await stage.page(real.url)
    const run = {
      cmd: `sed -i 's/retries = 0/retries = 12/' src/login.ts; echo more > '${NOTES}'`,
      sandbox_permissions: 'require_escalated',
      justification: 'to change it',
    }
    await real.model.keep('run', [{ tool: { name: 'exec_command', input: run } }])
    await real.model.keep('propose', [{ text: `\`\`\`\n${PROPOSED}\n\`\`\`` }])
    await start(page, 'Codex')
    await send(page, '[[answer:run]]')
    await page.getByRole('button', { name: /Allow once/ }).click()
    await page.locator('.turn-end').first().waitFor()
    await idle(page)
    await page.keyboard.press('Control+Shift+D')
    await row(page, /login\.ts/).click()
    await diff(page).getByRole('button', { name: 'Revert src/login.ts', exact: true }).click()
    await until('the file is back', async () => (await read(real)) === 'export const retries = 0\n')
    check((await readdir(real.project)).includes(NOTES), 'the other file went along')
    await view(page).getByRole('button', { name: 'Undo: reverted src/login.ts' }).click()
    await until('it is there again', async () => (await read(real)) === 'export const retries = 12\n')
    await said(page)
      .getByText(/^Undone/)
      .waitFor()
    await bar(page).getByRole('button', { name: 'Branch: main' }).click()
    await page.getByRole('menuitem', { name: 'New branch…' }).click()
    await bar(page).getByRole('textbox', { name: 'Name of the new branch' }).fill('retry')
    await page.keyboard.press('Enter')
    await bar(page).getByRole('button', { name: 'Branch: retry' }).waitFor()
    await commit(real, page)
    await bar(page).getByRole('button', { name: 'Push' }).click()
    await said(page).getByText('the repository has no remote').waitFor()
  },
)
