// What a person does: answers, queues, stops, switches, completes, pastes, searches.

import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { agentTexts, check, equal, idle, openSession, send, start, story, until } from './harness.mjs'

const BUILD = 'touch dist && echo built'
const ASKS = `[[tool:Bash:${JSON.stringify({ command: BUILD, description: 'Build from nothing' })}]]`

/** A session of the real Claude, and the page it is in. */
async function begin(stage, options) {
  const real = await stage.real(options)
  const page = await stage.page(real.url)
  await start(page)
  return { real, page }
}

story(
  'a permission is answered in place, by key, and the tab says that it needs you',
  'real',
  async stage => {
    const { real, page } = await begin(stage)
    await send(page, ASKS)
    const question = page.getByRole('region', { name: 'The agent needs you' })
    await question.waitFor()
    check((await question.innerText()).includes(BUILD), 'the command is shown in full')
    equal(await page.locator('.tab.active .badge').innerText(), 'needs you')
    check((await page.title()).startsWith('● needs you'), 'the title says it')
    equal(await page.locator('link[rel=icon]').getAttribute('href'), '/icon-needs_you.svg')
    check(
      await question.evaluate(element => element === document.activeElement),
      'an empty composer gives up the focus',
    )
    check(!existsSync(path.join(real.project, 'dist')), 'nothing was run before the answer')
    await page.waitForTimeout(500)
    await page.keyboard.press('1')
    await page.locator('.tool[data-outcome=passed]', { hasText: BUILD }).waitFor()
    await idle(page)
    equal(await question.count(), 0)
    check(existsSync(path.join(real.project, 'dist')), 'it was run after it')
  },
)

story('a permission is denied with a reason; words being typed answer nothing', 'real', async stage => {
  const { real, page } = await begin(stage)
  await send(page, ASKS)
  await page.getByRole('textbox', { name: 'Message' }).pressSequentially('1 2 3')
  await page.getByRole('button', { name: /Deny/ }).waitFor()
  await page.waitForTimeout(500)
  await page.getByRole('textbox', { name: 'Message' }).focus()
  await page.keyboard.type('123')
  equal(await page.locator('.question').count(), 1, 'typing answers nothing')
  await page.getByRole('button', { name: /Deny/ }).click()
  await page.keyboard.type('use make instead')
  await page.keyboard.press('Enter')
  const card = page.locator('.tool[data-outcome=failed]', { hasText: BUILD })
  await card.waitFor()
  await idle(page)
  if ((await card.locator('.tool-body').count()) === 0) await card.locator('.tool-line').click()
  check((await card.innerText()).includes('use make instead'), 'the reason reached the agent')
  check(!existsSync(path.join(real.project, 'dist')), 'nothing was run')
})

story('what is always allowed is not asked about again', 'real', async stage => {
  const { page } = await begin(stage)
  const make = `[[tool:Bash:${JSON.stringify({ command: 'mkdir -p one', description: 'Make it' })}]]`
  await send(page, make)
  await page.getByRole('button', { name: 'Always exactly this command, in this session' }).click()
  const made = page.locator('.tool[data-outcome=passed]', { hasText: 'mkdir -p one' })
  await made.waitFor()
  await idle(page)
  await send(page, make)
  await made.nth(1).waitFor()
  await idle(page)
  equal(await page.locator('.question').count(), 0)
})

// The stand-in server: no real agent says that it cannot remember an answer.
story('a permission shows control and direction characters by name', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await openSession(page, 'port the parser')
  await page.locator('.message').first().waitFor()
  const command = `echo safe \u202e\u0007 ${'x'.repeat(3000)} && rm -rf /`
  void mock.state.sessions.get('s-codex').ask({
    kind: 'permission',
    toolName: 'Bash',
    toolArguments: { command },
    grants: [],
    detail: { kind: 'shell' },
  })
  const block = page.locator('.question .command-line')
  await block.waitFor()
  equal(
    await block.innerText(),
    `$ echo safe \\u{202e}\\x07 ${'x'.repeat(3000)} && rm -rf /`,
    'nothing is cut or hidden',
  )
  equal(await page.getByRole('button', { name: /Always/ }).count(), 0, 'always is not offered')
})

story('a question with choices is answered', 'real', async stage => {
  const { page } = await begin(stage)
  const questions = [
    {
      question: 'Which store should the sessions use?',
      header: 'Store',
      multiSelect: false,
      options: [
        { label: 'SQLite', description: 'one file, no server' },
        { label: 'Postgres', description: 'shared between machines' },
      ],
    },
  ]
  await send(page, `[[tool:AskUserQuestion:${JSON.stringify({ questions })}]]`)
  await page.getByLabel('Postgres').check()
  await page.getByRole('button', { name: 'Answer' }).click()
  await idle(page)
  equal(await page.locator('.question').count(), 0)
  check((await agentTexts(page)).at(-1).includes('Postgres'), 'the answer reached the model')
})

story(
  'messages sent during a turn queue, survive a reload, and are edited, removed and delivered',
  'real',
  async stage => {
    const { real, page } = await begin(stage)
    await send(page, '[[gate:work]]')
    await real.model.reached('work')
    await page.locator('.message.agent[aria-busy=true]').waitFor()
    await send(page, '[[say:second]]')
    await send(page, '[[say:third]]')
    await page.locator('.queued').nth(1).waitFor()
    await page.reload()
    await page.locator('.queued').nth(1).waitFor()
    const queued = () => page.locator('.queued-text').allInnerTexts()
    equal(await queued(), ['[[say:second]]', '[[say:third]]'], 'the queue is as it was')
    await page.getByRole('button', { name: 'Edit the queued message' }).first().click()
    await page.getByRole('textbox', { name: 'Queued message' }).fill('[[say:second, edited]]')
    await page.keyboard.press('Enter')
    await page.locator('.queued', { hasText: 'second, edited' }).waitFor()
    await page.getByRole('button', { name: 'Remove the queued message' }).nth(1).click()
    await until('one is left', async () => (await page.locator('.queued').count()) === 1)
    await page.getByRole('button', { name: 'Send the queued message now' }).click()
    await page.locator('.message.agent', { hasText: 'second, edited' }).waitFor()
    await idle(page)
    equal(await page.locator('.queued').count(), 0)
    const third = page.locator('.message.user', { hasText: 'third' })
    equal(await third.count(), 0, 'what was removed is not sent')
  },
)

story('Esc Esc stops the turn', 'real', async stage => {
  const { real, page } = await begin(stage)
  await send(page, '[[gate:never]]')
  await real.model.reached('never')
  await page.locator('.message.agent[aria-busy=true]').waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await page.getByText('stopped').waitFor()
  await idle(page)
})

story(
  'Esc Esc keeps what waits back and says so; it goes on when it may, after what is said first',
  'real',
  async stage => {
    const { real, page } = await begin(stage)
    const stop = async () => {
      await page.locator('.message.agent[aria-busy=true]').waitFor()
      await send(page, '[[say:waiting]]')
      await page.locator('.queued').waitFor()
      await page.keyboard.press('Escape')
      await page.keyboard.press('Escape')
      await page.locator('.queue-held', { hasText: 'you stopped the agent' }).waitFor()
      await idle(page)
    }
    const answers = async () => (await agentTexts(page)).filter(said => said.includes('waiting')).length
    await send(page, '[[gate:first]]')
    await real.model.reached('first')
    await stop()
    await page.reload()
    await page.locator('.queue-held').waitFor()
    equal(await answers(), 0, 'nothing went on by itself')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.locator('.message.agent', { hasText: 'waiting' }).waitFor()
    await idle(page)
    equal(await page.locator('.queue-held').count(), 0)

    await send(page, '[[gate:second]]')
    await real.model.reached('second')
    await stop()
    await send(page, '[[say:first this]]')
    await until('what waited is answered', async () => (await answers()) === 2)
    await idle(page)
    const said = (await agentTexts(page)).join(' ')
    check(said.indexOf('first this') < said.lastIndexOf('waiting'), `what was said then goes first: ${said}`)
  },
)

story('a question about an edit has the line numbers of its file', 'real', async stage => {
  const { real, page } = await begin(stage)
  const file = path.join(real.project, 'src/long.ts')
  await writeFile(
    file,
    `${Array.from({ length: 40 }, (_, at) => `export const line${at + 1} = 0`).join('\n')}\n`,
  )
  await real.model.keep('read', [{ tool: { name: 'Read', input: { file_path: file } } }])
  const input = { file_path: file, old_string: 'line30 = 0', new_string: 'line30 = 30' }
  await real.model.keep('edit', [{ tool: { name: 'Edit', input } }])
  await send(page, '[[answer:read]]')
  await idle(page)
  await send(page, '[[answer:edit]]')
  const question = page.getByRole('region', { name: 'The agent needs you' })
  await question.locator('.diff-line.added').waitFor()
  equal(await question.locator('.diff-line .number').allInnerTexts(), ['30', '30'])
  await page.getByRole('button', { name: /Allow once/ }).click()
  await idle(page)
})

story(
  'tabs keep their state, are dragged into another order, and come back after a reload',
  'real',
  async stage => {
    const { page } = await begin(stage)
    const titles = () => page.locator('.tab .ellipsis').allInnerTexts()
    await send(page, 'the first of two')
    await page.locator('.message.agent').waitFor()
    await idle(page)
    await start(page)
    await send(page, 'the second of two')
    await page.locator('.message.agent').waitFor()
    await idle(page)
    const tab = words => page.locator('.tab', { hasText: words })
    await page.getByRole('textbox', { name: 'Message' }).fill('a draft of mine')
    await tab('first').getByRole('button').first().click()
    equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), '')
    await tab('second').getByRole('button').first().click()
    equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), 'a draft of mine')
    await tab('second').dragTo(tab('first'))
    equal(await titles(), ['the second of two', 'the first of two'])
    await page.locator('.tab-name').first().focus()
    await page.keyboard.press('Alt+Shift+ArrowRight')
    equal(await titles(), ['the first of two', 'the second of two'], 'keys move a tab, too')
    await page.reload()
    await page.locator('.tab').nth(1).waitFor()
    await until('the titles are read', async () => (await titles()).join() !== 'New session,New session')
    equal(await titles(), ['the first of two', 'the second of two'])
    equal(await page.locator('.tab.active .ellipsis').innerText(), 'the second of two')
    equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), 'a draft of mine')
  },
)

story('commands and files complete; model and mode are chosen; an image is pasted', 'real', async stage => {
  const { real, page } = await begin(stage)
  const box = page.getByRole('textbox', { name: 'Message' })
  await page.getByRole('button', { name: /^Model/ }).waitFor()
  await box.pressSequentially('/code')
  await page.getByRole('option', { name: '/code-review' }).first().waitFor()
  await page.keyboard.press('Enter')
  equal(await box.inputValue(), '/code-review ')
  await box.fill('')
  await box.pressSequentially('see @log')
  await page.getByRole('option', { name: 'src/login.ts' }).waitFor()
  await page.keyboard.press('Tab')
  equal(await box.inputValue(), 'see @src/login.ts ')
  await page.evaluate(async () => {
    const canvas = document.createElement('canvas')
    canvas.width = canvas.height = 8
    const blob = await new Promise(resolve => canvas.toBlob(resolve, 'image/png'))
    const data = new DataTransfer()
    data.items.add(new File([blob], 'shot.png', { type: 'image/png' }))
    document
      .querySelector('.composer-text')
      .dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }))
  })
  await page.locator('.chip', { hasText: 'shot.png' }).waitFor()
  equal(await page.locator('.chip canvas').evaluate(canvas => canvas.height), 64, 'the image is shown, small')
  await page.getByRole('button', { name: 'Send the message' }).click()
  await page.locator('.message.user').getByRole('img', { name: '1 image' }).waitFor()
  await idle(page)

  await page.getByRole('button', { name: /^Model/ }).click()
  await page.getByRole('menuitemradio', { name: /Haiku/ }).first().click()
  await page.getByRole('button', { name: /^Model: .*Haiku/ }).waitFor()
  await page.getByRole('button', { name: /^Permission mode/ }).click()
  await page.getByRole('menuitemradio', { name: /Accept edits/i }).click()
  await page.getByRole('button', { name: /^Permission mode: Accept edits/i }).waitFor()
  // In this mode a file is written without a question.
  const input = { file_path: path.join(real.project, 'made.md'), content: 'made\n' }
  await send(page, `[[tool:Write:${JSON.stringify(input)}]]`)
  await page.locator('.tool.edit[data-outcome=passed]', { hasText: 'made.md' }).waitFor()
  await idle(page)
  equal(await page.locator('.question').count(), 0)
  await page.reload()
  await page.getByRole('button', { name: /^Model: .*Haiku/ }).waitFor()
  await page.getByRole('button', { name: /^Permission mode: Accept edits/i }).waitFor()
})

story('the palette finds sessions and runs commands, by keys alone', 'real', async stage => {
  const { page } = await begin(stage)
  await send(page, 'port the parser to TypeScript')
  await page.locator('.message.agent').waitFor()
  await idle(page)
  await page.keyboard.press('Alt+w')
  equal(await page.locator('.tab').count(), 0)
  await page.keyboard.press('Control+k')
  await page.keyboard.type('parser')
  await page.keyboard.press('Enter')
  await page.locator('.tab.active', { hasText: 'port the parser' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('dark')
  await page.keyboard.press('Enter')
  equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark')
  await page.keyboard.press('Control+k')
  await page.locator('dialog').waitFor()
  await page.keyboard.press('Escape')
  await page.locator('dialog').waitFor({ state: 'detached' })
})

story(
  'an untrusted folder is asked about with its real path before anything runs in it',
  'real',
  async stage => {
    const real = await stage.real({ trusted: false })
    const page = await stage.page(real.url)
    await page.getByRole('main').getByRole('button', { name: 'Add a project' }).click()
    await page.getByLabel('Folder on this machine').fill(`${real.project}/../project`)
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Trust this folder?' })
    await dialog.waitFor()
    check((await dialog.innerText()).includes(real.project), 'the real path is shown')
    equal(
      await dialog.evaluate(
        element => element.contains(document.activeElement) && document.activeElement.textContent.trim(),
      ),
      'Not now',
      'the default is no',
    )
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    await page.locator('.project', { hasText: 'untrusted' }).waitFor()
    await page.getByRole('button', { name: 'New Claude Code session in project' }).first().click()
    await dialog.waitFor()
    equal(await page.locator('.tab').count(), 0, 'nothing was started')
    await dialog.getByRole('button', { name: 'Trust this folder' }).click()
    await page.locator('.tab.active').waitFor()
    equal(await page.locator('.project', { hasText: 'untrusted' }).count(), 0)
  },
)

story('the first run tells which agents are here and how to get the others', 'real', async stage => {
  const real = await stage.real({ trusted: false, codex: false })
  const page = await stage.page(real.url, { permissions: ['clipboard-read', 'clipboard-write'] })
  const agents = page.getByRole('main')
  await agents.getByText('Claude Code').first().waitFor()
  await page.getByText('npm install -g @zed-industries/codex-acp').waitFor()
  await page.getByRole('button', { name: 'Copy' }).click()
  equal(await page.evaluate(() => navigator.clipboard.readText()), 'npm install -g @zed-industries/codex-acp')
  await page.getByRole('button', { name: 'Add a project' }).last().click()
  await page.getByLabel('Folder on this machine').fill('relative/path')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('alert').waitFor()
  check((await page.getByRole('alert').innerText()).includes('relative/path'), 'the message names the path')
  await page.getByLabel('Folder on this machine').fill(real.project)
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('dialog', { name: 'Trust this folder?' }).waitFor()
})

story('a failed turn says why, and the session goes on', 'real', async stage => {
  const { page } = await begin(stage)
  await send(page, '[[err:400]]')
  await page.locator('.turn-error', { hasText: 'scripted 400' }).waitFor()
  await idle(page)
  await send(page, '[[say:now it works]]')
  await page.locator('.message.agent', { hasText: 'now it works' }).waitFor()
})

story(
  'the palette finds files, symbols and code, shows them and puts their place into the message',
  'real',
  async stage => {
    const real = await stage.real({
      prepare: async at => {
        const code = 'export function renewKey(age: number): boolean {\n  return age > 3600\n}\n'
        await writeFile(path.join(at.project, 'src/keys.ts'), code)
      },
    })
    const page = await stage.page(real.url)
    await start(page)
    const box = page.getByRole('textbox', { name: 'Message' })
    await page.keyboard.press('Control+k')
    await page.keyboard.type('renewKey')
    // There is no index yet: it is one key away, and the palette says when it is there.
    await page.getByRole('option', { name: 'Index project to search its code' }).waitFor()
    await page.keyboard.press('Enter')
    await page.locator('.inspector', { hasText: 'ready' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('renewKey')
    const hit = page.getByRole('option', { name: /renewKey/ }).filter({ hasText: 'src/keys.ts:1' })
    await hit.waitFor()
    check((await hit.innerText()).includes('export function renewKey'), 'a line of it is shown')
    await page.keyboard.press('Enter')
    await page.locator('.place-line', { hasText: 'return age > 3600' }).waitFor()
    await page.keyboard.press('Escape')
    await page.locator('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    await page.keyboard.type('renewKey')
    await hit.waitFor()
    await page.keyboard.press('Shift+Enter')
    equal(await box.inputValue(), '@src/keys.ts:1 ')
    await page.keyboard.press('Control+k')
    await page.keyboard.type('login.ts')
    await page.getByRole('option', { name: 'src/login.ts' }).first().waitFor()
    await page.keyboard.press('Shift+Enter')
    equal(await box.inputValue(), '@src/keys.ts:1 @src/login.ts ')
  },
)
