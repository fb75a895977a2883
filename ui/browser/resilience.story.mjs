// What happens when things break: lost connections. The stand-in server breaks on command.

import { agentTexts, equal, idle, openSession, send, story } from './harness.mjs'

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
