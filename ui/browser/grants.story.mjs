// What "always" grants: what its button says, no more, and the mode that is shown is the one in force.

import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { check, equal, idle, send, start, story } from './harness.mjs'

const question = page => page.getByRole('region', { name: 'The agent needs you' })
const run = command => ({ tool: { name: 'Bash', input: { command, description: 'Removes a folder' } } })
const mode = page => page.getByRole('button', { name: /^Permission mode/ }).innerText()

/** Sends a message, waits for its question and returns what its buttons say. */
async function asked(page, message, words) {
  await send(page, message)
  await question(page).filter({ hasText: words }).waitFor()
  return question(page).locator('.question-buttons button').allInnerTexts()
}

const answered = page => question(page).waitFor({ state: 'detached' })

story(
  'always for one command is for that command, and everything else is asked again',
  'real',
  async stage => {
    const real = await stage.real()
    const folders = ['aaa', 'bbb'].map(name => path.join(real.project, name))
    for (const folder of folders) await mkdir(folder)
    const page = await stage.page(real.url)
    const file = path.join(real.project, 'new.txt')
    await real.model.keep('aaa', [run('rm -rf aaa')])
    await real.model.keep('bbb', [run('rm -rf bbb')])
    await real.model.keep('write', [{ tool: { name: 'Write', input: { file_path: file, content: 'x\n' } } }])
    await start(page)
    const buttons = await asked(page, '[[answer:aaa]]', 'rm -rf aaa')
    const before = await mode(page)
    await question(page)
      .getByRole('button', { name: /Always/ })
      .first()
      .click()
    await answered(page)
    await idle(page)
    check(!existsSync(folders[0]), 'the command ran')
    equal(await mode(page), before, 'the mode is as it was')

    await asked(page, '[[answer:bbb]]', 'rm -rf bbb')
    check(existsSync(folders[1]), 'another command waits for its own answer')
    await question(page)
      .getByRole('button', { name: /Allow once/ })
      .click()
    await answered(page)
    await idle(page)
    await asked(page, '[[answer:write]]', 'new.txt')
    check(!existsSync(file), 'a change waits for its own answer')
    await question(page)
      .getByRole('button', { name: /Allow once/ })
      .click()
    await answered(page)
    await idle(page)

    // The same command again is what was granted.
    await mkdir(folders[0])
    await send(page, '[[answer:aaa]]')
    await page.locator('.turn-end').nth(3).waitFor()
    check(!existsSync(folders[0]), 'what was granted runs unasked')
    check(
      buttons.some(words => /Always exactly this command, in this session/.test(words)),
      `the button says what it grants: ${buttons.join(' | ')}`,
    )
  },
)

story('a wider grant says its width, and its mode is shown at once', 'real', async stage => {
  const real = await stage.real()
  const page = await stage.page(real.url)
  await real.model.keep('rm', [run('rm -rf aaa'), run('rm -rf bbb')])
  await start(page)
  const buttons = await asked(page, '[[answer:rm]]', 'rm -rf aaa')
  check(/Allow once/.test(buttons[0]), `once comes first: ${buttons.join(' | ')}`)
  const wide = question(page).getByRole('button', { name: /every change to files of this project/ })
  check(/in this session/.test(await wide.innerText()), 'it says how long it holds')
  equal(await mode(page), 'Ask')
  await wide.click()
  await answered(page)
  await page.getByRole('button', { name: 'Permission mode: Accept edits' }).waitFor()
  await idle(page)
})

story('always for a command of Codex is for that command', 'real', async stage => {
  const real = await stage.real()
  const page = await stage.page(real.url)
  const touch = name => [
    {
      tool: {
        name: 'exec_command',
        input: { cmd: `touch ${name}`, sandbox_permissions: 'require_escalated', justification: 'need it' },
      },
    },
  ]
  await real.model.keep('one', touch('one.txt'))
  await real.model.keep('two', touch('two.txt'))
  await start(page, 'Codex')
  const buttons = await asked(page, '[[answer:one]]', 'touch one.txt')
  check(
    buttons.some(words => /every command that begins with `touch one.txt`, in all projects/.test(words)),
    `the wide one says so: ${buttons.join(' | ')}`,
  )
  await question(page).getByRole('button', { name: 'Always exactly this command, in this session' }).click()
  await answered(page)
  await idle(page)
  await send(page, '[[answer:one]]')
  await page.locator('.turn-end').nth(1).waitFor()
  await asked(page, '[[answer:two]]', 'touch two.txt')
  check(!existsSync(path.join(real.project, 'two.txt')), 'another command is asked about')
})
