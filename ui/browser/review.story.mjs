// The desk with the real agents: what they changed, a comment that goes back to them, and the way back.

import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { check, equal, idle, send, start, story, until } from './harness.mjs'

const view = page => page.getByRole('group', { name: 'Changes', exact: true })
const row = (page, name) => view(page).getByRole('navigation').getByRole('button', { name })
const diff = page => view(page).getByRole('region', { name: 'Difference' })
const back = page => page.getByRole('dialog', { name: 'Back to before this message?' })
const login = real => path.join(real.project, 'src/login.ts')

/** A project as people have it: a repository with a commit. */
const committed = real => {
  const git = (...args) =>
    execFileSync('git', args, { cwd: real.project, env: { ...process.env, HOME: real.home } })
  git('init', '-q', '-b', 'main')
  git('add', '-A')
  git('-c', 'user.name=U', '-c', 'user.email=u@example.org', 'commit', '-q', '-m', 'first')
}

async function comment(page, text) {
  await page.keyboard.press('n')
  await page.keyboard.press('c')
  await page.getByRole('textbox', { name: 'Comment for the agent' }).fill(text)
  await page.keyboard.press('Enter')
}

story(
  'Claude: its edit and its shell are one change, a comment reaches the model, and the files go back',
  'real',
  async stage => {
    const real = await stage.real({ prepare: committed })
    const page = await stage.page(real.url)
    const input = { file_path: login(real), old_string: 'retries = 0', new_string: 'retries = 12' }
    await real.model.keep('read', [{ tool: { name: 'Read', input: { file_path: login(real) } } }])
    await real.model.keep('edit', [{ tool: { name: 'Edit', input } }])
    const shell = { command: 'echo made by the shell > notes.txt', description: 'notes' }
    await real.model.keep('shell', [{ tool: { name: 'Bash', input: shell } }])
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

    await page.keyboard.press('Control+Shift+D')
    await row(page, /notes\.txt/).waitFor()
    await row(page, /login\.ts/).click()
    await diff(page).getByText('export const retries = 12').waitFor()
    equal(await view(page).locator('.changed-file').count(), 2, 'the session changed two files')

    await comment(page, 'why twelve?')
    await diff(page).getByText('not sent yet').waitFor()
    await view(page).getByRole('button', { name: 'Send to the agent' }).click()
    await page
      .getByRole('article', { name: 'You' })
      .filter({ hasText: 'A comment on your changes' })
      .waitFor()
    await idle(page)
    const heard = await real.model.lastRequest()
    for (const part of ['src/login.ts:1', 'export const retries', 'why twelve?']) {
      check(heard.includes(part), `the model was not told ${part}`)
    }
    await page.reload()
    await row(page, /login\.ts/).click()
    await diff(page).getByText('sent', { exact: true }).waitFor()

    // Somebody else writes a file meanwhile: it stays as it is.
    await writeFile(path.join(real.project, 'hello.txt'), 'mine\n')
    const said = page.getByRole('article', { name: 'You' }).filter({ hasText: 'answer:edit' })
    await said.hover()
    await said.getByRole('button', { name: 'Back to before this message' }).click()
    await back(page).getByText('src/login.ts').waitFor()
    await back(page).getByRole('button', { name: 'Go back' }).click()
    await back(page).waitFor({ state: 'detached' })
    await until(
      'the file is as it was',
      async () => (await readFile(login(real), 'utf8')) === 'export const retries = 0\n',
    )
    equal(
      await readFile(path.join(real.project, 'hello.txt'), 'utf8'),
      'mine\n',
      'a file of the person is gone',
    )
    await page
      .locator('.notice', { hasText: 'Back to before the message' })
      .getByRole('button', { name: 'Undo' })
      .click()
    await until(
      'the edit is there again',
      async () => (await readFile(login(real), 'utf8')) === 'export const retries = 12\n',
    )
  },
)

story(
  'Codex: what its shell changed is shown and goes back; a fork is handed the conversation as text, and that is said',
  'real',
  async stage => {
    const real = await stage.real({ prepare: committed })
    const page = await stage.page(real.url)
    const sed = {
      cmd: "sed -i 's/retries = 0/retries = 7/' src/login.ts",
      sandbox_permissions: 'require_escalated',
      justification: 'to change it',
    }
    await real.model.keep('sed', [{ tool: { name: 'exec_command', input: sed } }])
    await start(page, 'Codex')
    await send(page, '[[answer:sed]]')
    await page.getByRole('button', { name: /Allow once/ }).click()
    await page.locator('.turn-end').first().waitFor()
    await idle(page)
    await page.keyboard.press('Control+Shift+D')
    await row(page, /login\.ts/).click()
    await diff(page).getByText('export const retries = 7').waitFor()
    equal(await diff(page).locator('.removed mark').first().innerText(), '0', 'the word is not marked')
    await page.keyboard.press('Escape')

    await page.getByRole('button', { name: 'About this turn' }).first().click()
    await page.getByRole('menuitem', { name: 'Go on from here' }).click()
    await page.locator('.notice', { hasText: 'was handed it as text' }).waitFor()
    await until('the fork has a tab', async () => (await page.locator('.tab').count()) === 2)
    await page.locator('.tab').first().locator('.tab-name').click()

    await page.getByRole('button', { name: 'About this turn' }).first().click()
    await page.getByRole('menuitem', { name: 'Back to before this turn' }).click()
    const conversation = back(page).getByRole('checkbox', { name: /The conversation/ })
    await conversation.waitFor()
    check(await conversation.isDisabled(), 'what Codex cannot do can be chosen')
    await back(page).getByRole('button', { name: 'Go back' }).click()
    await until(
      'the file is as it was',
      async () => (await readFile(login(real), 'utf8')) === 'export const retries = 0\n',
    )
  },
)
