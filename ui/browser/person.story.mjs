// What a person does: answers, queues, stops, switches, completes, pastes, searches.

import { agentTexts, check, equal, idle, openSession, send, story, until } from './harness.mjs'

story(
  'a permission is answered in place, by key, and the tab says that it needs you',
  'mock',
  async stage => {
    const mock = await stage.mock()
    const page = await stage.page(mock.url)
    await openSession(page, 'port the parser')
    await send(page, 'with permission please')
    const question = page.getByRole('region', { name: 'The agent needs you' })
    await question.waitFor()
    check(
      (await question.innerText()).includes('rm -rf dist && npm run build'),
      'the command is shown in full',
    )
    equal(await page.locator('.tab.active .badge').innerText(), 'needs you')
    check((await page.title()).startsWith('● needs you'), 'the title says it')
    equal(await page.locator('link[rel=icon]').getAttribute('href'), '/icon-needs_you.svg')
    check(
      await question.evaluate(element => element === document.activeElement),
      'an empty composer gives up the focus',
    )
    await page.waitForTimeout(500)
    await page.keyboard.press('1')
    await page.locator('.tool[data-outcome=passed]', { hasText: 'rm -rf dist' }).waitFor()
    await idle(page)
    equal(await question.count(), 0)
  },
)

story('a permission is denied with a reason; words being typed answer nothing', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await openSession(page, 'port the parser')
  await send(page, 'slow permission please')
  await page.getByRole('textbox', { name: 'Message' }).pressSequentially('1 2 3')
  await page.getByRole('button', { name: /Deny/ }).waitFor()
  await page.waitForTimeout(500)
  await page.getByRole('textbox', { name: 'Message' }).focus()
  await page.keyboard.type('123')
  equal(mock.state.sessions.get('s-codex').questions.size, 1, 'typing answers nothing')
  await page.getByRole('button', { name: /Deny/ }).click()
  await page.keyboard.type('use make instead')
  await page.keyboard.press('Enter')
  const card = page.locator('.tool[data-outcome=failed]', { hasText: 'rm -rf dist' })
  await card.waitFor()
  check((await card.innerText()).includes('use make instead'), 'the reason reached the agent')
})

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
    canAllowAlways: false,
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

story('a question with choices is answered', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await openSession(page, 'port the parser')
  await send(page, 'let me choose')
  await page.getByLabel('Postgres').check()
  await page.getByRole('button', { name: 'Answer' }).click()
  await idle(page)
  equal(await page.locator('.question').count(), 0)
})

story(
  'messages sent during a turn queue, survive a reload, and are edited, removed and delivered',
  'mock',
  async stage => {
    const mock = await stage.mock()
    const page = await stage.page(mock.url)
    await openSession(page, 'port the parser')
    await send(page, 'slow long work')
    await page.locator('.message.agent[aria-busy=true]').waitFor()
    await send(page, 'second')
    await send(page, 'third')
    await page.locator('.queued').nth(1).waitFor()
    await page.reload()
    await page.locator('.queued').nth(1).waitFor()
    equal(await page.locator('.queued-text').allInnerTexts(), ['second', 'third'], 'the queue is as it was')
    await page.getByRole('button', { name: 'Edit the queued message' }).first().click()
    await page.getByRole('textbox', { name: 'Queued message' }).fill('second, edited')
    await page.keyboard.press('Enter')
    await page.getByText('second, edited').waitFor()
    await page.getByRole('button', { name: 'Remove the queued message' }).nth(1).click()
    await until('one is left', async () => (await page.locator('.queued').count()) === 1)
    await page.getByRole('button', { name: 'Send the queued message now' }).click()
    await page.locator('.message.user', { hasText: 'second, edited' }).waitFor()
    await idle(page)
    equal(await page.locator('.queued').count(), 0)
    equal(
      await page.locator('.message.user', { hasText: 'third' }).count(),
      0,
      'what was removed is not sent',
    )
  },
)

story('Esc Esc stops the turn', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await openSession(page, 'port the parser')
  await send(page, 'slow long work')
  await page.locator('.message.agent[aria-busy=true]').waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await page.getByText('stopped').waitFor()
  await idle(page)
})

story(
  'tabs keep their state, are dragged into another order, and come back after a reload',
  'mock',
  async stage => {
    const mock = await stage.mock()
    const page = await stage.page(mock.url)
    await openSession(page, 'make the login')
    await openSession(page, 'port the parser')
    await page.getByRole('textbox', { name: 'Message' }).fill('a draft of mine')
    const tab = text => page.locator('.tab', { hasText: text })
    await tab('make the login').getByRole('button').first().click()
    await page.locator('.tool.edit').first().waitFor()
    equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), '', 'each tab has its own draft')
    await tab('port the parser').getByRole('button').first().click()
    equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), 'a draft of mine')
    await tab('port the parser').dragTo(tab('make the login'))
    const titles = () => page.locator('.tab .ellipsis').allInnerTexts()
    equal(await titles(), ['port the parser', 'make the login retry once'])
    await page.locator('.tab-name').first().focus()
    await page.keyboard.press('Alt+Shift+ArrowRight')
    equal(await titles(), ['make the login retry once', 'port the parser'], 'keys move a tab, too')
    await page.reload()
    await page.locator('.tab').nth(1).waitFor()
    equal(await titles(), ['make the login retry once', 'port the parser'])
    equal(await page.locator('.tab.active .ellipsis').innerText(), 'port the parser')
    equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), 'a draft of mine')
  },
)

story('commands and files complete; model and mode are chosen; an image is pasted', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await openSession(page, 'port the parser')
  const box = page.getByRole('textbox', { name: 'Message' })
  await box.pressSequentially('/re')
  await page.getByRole('option', { name: '/review' }).waitFor()
  await page.keyboard.press('Enter')
  equal(await box.inputValue(), '/review ')
  await box.pressSequentially('see @log')
  await page.getByRole('option', { name: 'src/login.ts' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Tab')
  equal(await box.inputValue(), '/review see @tests/login.test.ts ')
  await page.getByRole('button', { name: /^Model/ }).click()
  await page.getByRole('menuitemradio', { name: /Sonnet/ }).click()
  await page.getByRole('button', { name: /^Permission mode/ }).click()
  await page.getByRole('menuitemradio', { name: /Plan/ }).click()
  const options = mock.state.sessions.get('s-codex').options
  await until('both arrived', () => options.model === 'sonnet' && options.mode === 'plan')
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
  await page.getByRole('button', { name: 'Send the message' }).click()
  await page.locator('.message.user', { hasText: '1 image' }).waitFor()
  await idle(page)
})

story('the palette finds sessions and runs commands, by keys alone', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await page.locator('.session').first().waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('parser')
  await page.keyboard.press('Enter')
  await page.locator('.tab.active', { hasText: 'port the parser' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('dark')
  await page.keyboard.press('Enter')
  equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark')
  await page.keyboard.press('Control+k')
  await page.keyboard.press('Escape')
  equal(await page.locator('dialog').count(), 0)
})

story(
  'an untrusted folder is asked about with its real path before anything runs in it',
  'mock',
  async stage => {
    const mock = await stage.mock()
    const page = await stage.page(mock.url)
    await page.getByRole('button', { name: 'New Claude Code session in web' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Trust this folder?' })
    await dialog.waitFor()
    check((await dialog.innerText()).includes('/home/ada/code/web'), 'the real path is shown')
    equal(mock.state.projects[1].trusted, false)
    equal(
      await dialog.evaluate(
        element => element.contains(document.activeElement) && document.activeElement.textContent.trim(),
      ),
      'Not now',
      'the default is no',
    )
    await dialog.getByRole('button', { name: 'Trust this folder' }).click()
    await page.locator('.tab.active').waitFor()
    equal(mock.state.projects[1].trusted, true)
  },
)

story('the first run tells which agents are here and how to get the others', 'mock', async stage => {
  const mock = await stage.mock({ kind: 'empty' })
  const page = await stage.page(mock.url, { permissions: ['clipboard-read', 'clipboard-write'] })
  await page.getByText('npm install -g @zed-industries/codex-acp').waitFor()
  await page.getByRole('button', { name: 'Copy' }).click()
  equal(await page.evaluate(() => navigator.clipboard.readText()), 'npm install -g @zed-industries/codex-acp')
  await page.getByRole('button', { name: 'Add a project' }).last().click()
  await page.getByLabel('Folder on this machine').fill('relative/path')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('alert').waitFor()
  check((await page.getByRole('alert').innerText()).includes('relative/path'), 'the message names the path')
  await page.getByLabel('Folder on this machine').fill('/home/ada/code/new')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('dialog', { name: 'Trust this folder?' }).waitFor()
})

story('a failed turn says why, and the session goes on', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await openSession(page, 'port the parser')
  await send(page, 'fail please')
  await page.getByText('API overloaded').waitFor()
  await send(page, 'now work')
  await page.locator('.message.agent', { hasText: 'the same answer again' }).waitFor()
  check((await agentTexts(page)).length >= 1, 'it answered')
})
