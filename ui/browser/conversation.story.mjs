// How a conversation is drawn from upserts.

import { agentTexts, check, equal, idle, openSession, send, story } from './harness.mjs'

story('TC-7.2a: text messages render progressively, in place', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await openSession(page, 'port the parser')
  await page.locator('.message.user').first().waitFor()
  const before = await page.locator('.message').count()
  // Every length that the newest message has while it streams, seen by the page itself.
  await page.evaluate(() => {
    globalThis.lengths = []
    new MutationObserver(() => {
      const said = [...document.querySelectorAll('.message.agent .said')].pop()
      const length = said?.textContent?.length ?? 0
      if (globalThis.lengths.at(-1) !== length) globalThis.lengths.push(length)
    }).observe(document.querySelector('.rows'), { subtree: true, childList: true, characterData: true })
  })
  await send(page, 'explain the retry, slow')
  await page.locator('.message.agent[aria-busy=true]').waitFor()
  await idle(page)
  const lengths = (await page.evaluate(() => globalThis.lengths)).slice(1)
  check(lengths.length >= 4, `the text grew in steps: ${lengths}`)
  check(
    lengths.slice(1).every((length, at) => length >= lengths[at]),
    `the text only grew: ${lengths}`,
  )
  equal(await page.locator('.message').count(), before + 2, 'one message of ours and one of the agent')
  check((await agentTexts(page)).at(-1)?.endsWith('the same answer again.'), 'the whole text is there')
})

story('TC-7.2b: a tool call shows its invocation, then its result', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await openSession(page, 'port the parser')
  await send(page, 'with permission please')
  const card = page.locator('.tool[data-outcome=running]')
  await card.waitFor()
  check(
    (await card.innerText()).includes('rm -rf dist && npm run build'),
    'the command is shown while it runs',
  )
  await page.getByRole('button', { name: /Allow once/ }).click()
  const done = page.locator('.tool[data-outcome=passed]', { hasText: 'rm -rf dist' })
  await done.waitFor()
  check((await done.innerText()).includes('exit 0'), 'the result is shown after')
  equal(await page.locator('.tool', { hasText: 'rm -rf dist' }).count(), 1, 'it is one card')
})

story('TC-7.2c: interleaved items render independently', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await openSession(page, 'port the parser')
  await page.locator('.message.user').waitFor()
  const session = mock.state.sessions.get('s-codex')
  const text = (itemId, content, status = 'update') =>
    session.upsert({ type: 'message', origin: 'agent', turnId: 'both', itemId, content, status })
  text('left', 'left one', 'create')
  text('right', 'right one', 'create')
  await page.getByText('right one').waitFor()
  await page.evaluate(() => {
    globalThis.left = [...document.querySelectorAll('.said')].find(said =>
      said.textContent.includes('left one'),
    )
  })
  text('right', 'right one two')
  text('right', 'right one two three', 'complete')
  await page.getByText('right one two three').waitFor()
  equal(
    await page.evaluate(() => globalThis.left.isConnected && globalThis.left.textContent.trim()),
    'left one',
  )
  text('left', 'left one two', 'complete')
  await page.getByText('left one two').waitFor()
  equal((await agentTexts(page)).slice(-2), ['left one two', 'right one two three'])
})

story('every kind of tool card is drawn', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await openSession(page, 'make the login retry')
  await page.locator('.tool.shell').waitFor()
  // The list holds what is near; go through all of it.
  await page.locator('.rows').press('Home')
  const seen = new Set()
  for (let step = 0; step < 12; step++) {
    for (const name of await page.locator('.tool').evaluateAll(all => all.map(one => one.className)))
      seen.add(name)
    await page.locator('.rows').press('PageDown')
    await page.waitForTimeout(50)
  }
  const kinds = ['edit', 'mcp', 'read', 'search', 'shell', 'subagent', 'thinking', 'todo', 'web']
  equal([...seen].map(name => name.replace('tool ', '')).sort(), kinds)
  await page.locator('.tool.shell .tool-line').click()
  equal(await page.locator('.tool.shell .output .fg1').first().innerText(), '❯', 'ANSI colours are classes')
  await page.locator('.tool.subagent .tool-line').click()
  check((await page.locator('.tool.subagent .nested .tool').count()) === 1, 'the subagent’s call is nested')
})

story(
  'the list follows the end until the reader scrolls up, then counts what is new',
  'mock',
  async stage => {
    const mock = await stage.mock()
    const page = await stage.page(mock.url)
    await openSession(page, 'a very long session')
    await page.locator('.message').first().waitFor()
    const fromEnd = () =>
      page.evaluate(() => {
        const rows = document.querySelector('.rows')
        return Math.round(rows.scrollHeight - rows.scrollTop - rows.clientHeight)
      })
    await send(page, 'long answer please')
    await page.locator('.message.agent[aria-busy=true]').waitFor()
    await idle(page)
    check((await fromEnd()) <= 2, 'it stands at the end')
    await page.locator('.rows').hover()
    await page.mouse.wheel(0, -1500)
    await page.getByRole('button', { name: 'To the end' }).waitFor()
    // Let the rows that came into sight be measured, then watch one of them.
    await page.waitForTimeout(300)
    const key = await page.evaluate(() => {
      const top = document.querySelector('.rows').getBoundingClientRect().top
      const row = [...document.querySelectorAll('.row-item')].find(
        row => row.getBoundingClientRect().top > top,
      )
      return row.dataset.key
    })
    const place = () =>
      page.evaluate(
        key => document.querySelector(`[data-key="${key}"]`)?.getBoundingClientRect().top ?? -1,
        key,
      )
    const before = await place()
    await send(page, 'once more')
    await page.getByRole('button', { name: /\d new/ }).waitFor()
    await idle(page)
    const moved = Math.abs((await place()) - before)
    check(moved < 3, `what is read stays where it is (moved ${moved} px)`)
    await page.getByRole('button', { name: /new/ }).click()
    await page.waitForFunction(() => {
      const rows = document.querySelector('.rows')
      return rows.scrollHeight - rows.scrollTop - rows.clientHeight < 3
    })
  },
)

story('XSS: nothing that a model, a tool, a file name or a title says can run', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await openSession(page, 'title')
  await page.locator('.tool').first().waitFor()
  await page.locator('.rows').press('Home')
  const seen = new Set()
  for (let step = 0; step < 60; step++) {
    await page.locator('.tool-line[aria-expanded=false]').evaluateAll(all => all.map(line => line.click()))
    for (const tag of await page.evaluate(() =>
      [...document.querySelectorAll('.rows *')].map(node => node.tagName.toLowerCase()),
    )) {
      seen.add(tag)
    }
    await page.locator('.rows').press('PageDown')
    await page.waitForTimeout(30)
  }
  for (const link of await page
    .locator('.rows a')
    .evaluateAll(all => all.map(one => one.getAttribute('href')))) {
    check(/^(https?:\/\/|mailto:)/.test(link ?? ''), `a link to ${link}`)
  }
  for (const tag of [
    'script',
    'img',
    'iframe',
    'form',
    'style',
    'object',
    'embed',
    'math',
    'details',
    'base',
  ]) {
    check(!seen.has(tag), `<${tag}> was made`)
  }
  equal(await page.evaluate(() => globalThis.pwned ?? null), null, 'nothing ran')
  check((await page.title()).includes('<img src=x'), 'the title is text')
})
