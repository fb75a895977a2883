// What happens when things break or grow: lost connections, second readers, very long sessions.

import { agentTexts, check, equal, idle, mainThread, openSession, send, story, until } from './harness.mjs'

story(
  'a killed server shows within 0.5 s; after a restart nothing is lost or doubled',
  'mock',
  async stage => {
    const mock = await stage.mock()
    const page = await stage.page(mock.url)
    await openSession(page, 'port the parser')
    await send(page, 'slow long work')
    await page.locator('.message.agent[aria-busy=true]').waitFor()
    await page.evaluate(() => {
      new MutationObserver(() => {
        if (document.querySelector('.connection-lost')) globalThis.lostAt ??= Date.now()
      }).observe(document.body, { subtree: true, childList: true })
    })
    const killedAt = Date.now()
    await mock.kill()
    await page.locator('.connection-lost').waitFor()
    const took = (await page.evaluate(() => globalThis.lostAt)) - killedAt
    // The agent goes on meanwhile; the stand-in's state outlives its sockets.
    const again = await stage.mock({ port: mock.port, state: mock.state })
    await page.locator('.connection-lost').waitFor({ state: 'detached' })
    await idle(page)
    const entry = [...again.state.sessions.get('s-codex').entries.values()].at(-1)
    const words = text => text.replaceAll('*', '').trim().split(/\s+/)
    equal(words((await agentTexts(page)).at(-1)), words(entry.content), 'no word is lost or doubled')
    return `shown after ${took} ms`
  },
)

story('text that could not be sent stays in the composer', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await openSession(page, 'port the parser')
  await page.locator('.message').first().waitFor()
  await mock.kill()
  await page.locator('.connection-lost').waitFor()
  await send(page, 'keep me')
  equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), 'keep me')
  await stage.mock({ port: mock.port, state: mock.state })
  await page.locator('.connection-lost').waitFor({ state: 'detached' })
  await page.reload()
  await page.locator('.message').first().waitFor()
  equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), 'keep me', 'also over a reload')
})

story('a second browser follows the same session', 'mock', async stage => {
  const mock = await stage.mock()
  const [one, two] = [await stage.page(mock.url), await stage.page(mock.url)]
  await openSession(one, 'port the parser')
  await openSession(two, 'port the parser')
  await send(one, 'permission and slow')
  await two.getByRole('button', { name: /Allow once/ }).click()
  await until(
    'the question is closed in the first, too',
    async () => (await one.locator('.question').count()) === 0,
  )
  await idle(one)
  await idle(two)
  equal(await agentTexts(two), await agentTexts(one))
})

story('a session of 10,000 items opens at once and stays quick', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await page.locator('.session', { hasText: 'a very long session' }).waitFor()
  const thread = await mainThread(page)
  const mount = await page.evaluate(async () => {
    const button = [...document.querySelectorAll('.session')].find(one =>
      one.textContent.includes('a very long'),
    )
    const started = performance.now()
    button.click()
    while (!document.querySelector('.message')) await new Promise(requestAnimationFrame)
    await new Promise(requestAnimationFrame)
    return Math.round(performance.now() - started)
  })
  const { ms } = await thread()
  const rows = () => page.locator('.row-item').count()
  check((await rows()) < 300, `${await rows()} rows in the page`)
  const slowest = await page.evaluate(async () => {
    const box = document.querySelector('.composer-text')
    box.focus()
    let slowest = 0
    for (let n = 0; n < 40; n++) {
      const started = performance.now()
      box.value += 'x'
      box.dispatchEvent(new InputEvent('input', { bubbles: true }))
      await new Promise(requestAnimationFrame)
      slowest = Math.max(slowest, performance.now() - started)
    }
    return Math.round(slowest)
  })
  await page.locator('.rows').press('Home')
  await page.locator('.message.user', { hasText: 'question 1:' }).waitFor()
  check((await rows()) < 300, `${await rows()} rows in the page at the top`)
  return `mounted in ${mount} ms (${ms} ms of work), ${await rows()} rows, slowest key ${slowest} ms`
})

story('a change of 4 MB does not hang the page', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await openSession(page, 'format the data file')
  await page.getByText('Both files are written.').waitFor()
  await page.locator('.rows').press('Home')
  await page.locator('.diff').first().waitFor()
  check((await page.locator('.diff-line').count()) < 500, 'only a part of it is in the page')
  const longest = await page.evaluate(async () => {
    let longest = 0
    let last = performance.now()
    for (let n = 0; n < 30; n++) {
      await new Promise(requestAnimationFrame)
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }
    return Math.round(longest)
  })
  await page.getByRole('textbox', { name: 'Message' }).fill('still here')
  return `longest frame ${longest} ms`
})

story('a reply of 200 KB of markdown streams without a long frame', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await openSession(page, 'port the parser')
  await page.locator('.message').first().waitFor()
  await page.evaluate(() => {
    globalThis.long = []
    new PerformanceObserver(list => {
      for (const entry of list.getEntries()) globalThis.long.push(Math.round(entry.duration))
    }).observe({ type: 'longtask', buffered: false })
  })
  const thread = await mainThread(page)
  await send(page, 'big please')
  await page.locator('.message.agent[aria-busy=true]').waitFor()
  // Asked seldom and simply: a search through the whole page would be what is measured.
  const done = () => document.querySelector('.send')?.getAttribute('aria-label') === 'Send the message'
  await page.waitForFunction(done, undefined, { polling: 500, timeout: 240_000 })
  const long = await page.evaluate(() => globalThis.long)
  const length = await page
    .locator('.message.agent .said')
    .last()
    .evaluate(said => said.textContent.length)
  check(length > 100_000, `the whole text is there: ${length}`)
  const { ms, frames } = await thread()
  const each = (ms / frames).toFixed(1)
  return `${each} ms of work a frame (${frames} frames); by the clock ${long.length} tasks over 50 ms, longest ${Math.max(0, ...long)} ms`
})
