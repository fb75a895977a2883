// What is large: sessions of 10,000 items, conversations longer than one page of history, changes of 4 MB, replies of
// 200 KB.

import * as recorded from '../mock/recorded.mjs'
import { writeClaudeSession } from './claudeFile.mjs'
import { check, equal, openFound, still, story, until } from './harness.mjs'
import { hugeChange, longReply, longSession } from './large.mjs'

const rows = page => page.locator('.row-item').count()

story('a session of 10,000 items opens at once and stays quick', 'real', async stage => {
  const { mount, ms, rows, slowest } = await longSession(stage)
  return `mounted in ${mount} ms (${ms} ms of work), ${rows} rows, slowest key ${slowest} ms`
})

story('earlier messages come as the reader nears them, and nothing jumps', 'real', async stage => {
  // More than one page of history has: 400 files of 16 KB were read.
  const conversation = recorded.long('pages', 1600, 'line of a file that was read\n'.repeat(550))
  const real = await stage.real({ prepare: at => writeClaudeSession(at, conversation) })
  const page = await stage.page(real.url)
  let asked = 0
  let letThrough = () => {}
  const held = new Promise(resolve => {
    letThrough = resolve
  })
  await page.route(/\/history\?before=/, async route => {
    asked++
    await held
    await route.continue()
  })
  await openFound(page, 'question 1:')
  // It is read into the store once, while it is looked at; where it ends is where one goes.
  const last = page.locator('.message.user', { hasText: 'question 400:' })
  await page.locator('.message').first().waitFor()
  await until('all of it was read', async () => {
    if (await last.isVisible()) return true
    await page.locator('.rows').press('End')
    return false
  })
  await page.reload()
  await page.locator('.message.user', { hasText: 'question 400:' }).waitFor()
  equal(asked, 0, 'who reads the end asks for nothing else')
  await page.locator('.rows').hover()
  await page.mouse.wheel(0, -300)
  await page.getByRole('button', { name: 'To the end' }).waitFor()
  await page.locator('.rows').evaluate(rows => {
    rows.scrollTop = 300
  })
  await page.getByRole('button', { name: 'Earlier messages…' }).waitFor()
  // Let the rows that came into sight be measured, then watch the one that is read.
  await still(page)
  const { first, read } = await page.evaluate(() => {
    const top = document.querySelector('.rows').getBoundingClientRect().top
    const all = [...document.querySelectorAll('.row-item')]
    const read = all.find(row => row.getBoundingClientRect().top > top)
    return { first: all[0].dataset.key, read: read.dataset.key }
  })
  const place = () =>
    page.evaluate(
      key => document.querySelector(`[data-key="${key}"]`)?.getBoundingClientRect().top ?? Number.NaN,
      read,
    )
  const before = await place()
  letThrough()
  await page.waitForFunction(first => document.querySelector('.row-item')?.dataset.key !== first, first)
  await still(page)
  const moved = Math.abs((await place()) - before)
  check(moved < 60, `what was read moved by ${moved} px`)
  equal(await page.locator('.pill').innerText(), 'To the end', 'what is older is not new')
  // Home goes to the first message there is, through all that lies between.
  await page.locator('.rows').press('Home')
  await page.locator('.message.user', { hasText: 'question 1:' }).waitFor()
  equal(await page.getByRole('button', { name: /Earlier messages/ }).count(), 0, 'nothing is before it')
  equal(await page.locator('.rows').evaluate(rows => rows.scrollTop), 0, 'that is the top')
  check(asked > 2, `${asked} pages were asked for`)
  check((await rows(page)) < 300, `${await rows(page)} rows in the page`)
})

story('a change of 4 MB does not hang the page', 'real', async stage => {
  const { edit, write, longest, slowest } = await hugeChange(stage)
  return `edit ${edit} ms of work, write ${write} ms, longest task ${longest} ms, slowest key ${slowest} ms`
})

story('a reply of 200 KB of markdown streams without a long frame', 'real', async stage => {
  const { each, painted, count, longest } = await longReply(stage)
  return `${each.toFixed(1)} ms of work a frame (${painted} frames); ${count} tasks over 50 ms, longest ${longest} ms`
})
