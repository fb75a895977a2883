// What is large: sessions of 10,000 items, conversations longer than one page of history, changes of 4 MB, replies of
// 200 KB.

import * as recorded from '../mock/recorded.mjs'
import { writeClaudeSession } from './claudeFile.mjs'
import { check, equal, openFound, story } from './harness.mjs'
import { hugeChange, longReply, longSession } from './large.mjs'

const rows = page => page.locator('.row-item').count()

story('a session of 10,000 items opens at once and stays quick', 'real', async stage => {
  const { mount, ms, rows, slowest } = await longSession(stage)
  return `mounted in ${mount} ms (${ms} ms of work), ${rows} rows, slowest key ${slowest} ms`
})

story('earlier messages come when the reader is at the top, and nothing jumps', 'real', async stage => {
  // More than one page of history has: 1,500 files of 16 KB were read.
  const conversation = recorded.long('pages', 6000, 'line of a file that was read\n'.repeat(550))
  const real = await stage.real({ prepare: at => writeClaudeSession(at, conversation) })
  const page = await stage.page(real.url)
  await openFound(page, 'question 1:')
  await page.locator('.message.user', { hasText: 'question 1500:' }).waitFor()
  await page.locator('.rows').press('Home')
  const earlier = page.getByRole('button', { name: 'Earlier messages' })
  await earlier.waitFor()
  equal(await page.locator('.message.user', { hasText: 'question 1:' }).count(), 0, 'it is not there yet')
  // What is read stays where it is while older rows come in above it.
  const first = await page.locator('.row-item').first().getAttribute('data-key')
  const place = () =>
    page.evaluate(
      key => document.querySelector(`[data-key="${key}"]`)?.getBoundingClientRect().top ?? Number.NaN,
      first,
    )
  const before = await place()
  await earlier.click()
  await page.waitForFunction(first => document.querySelector('.row-item')?.dataset.key !== first, first)
  await page.waitForTimeout(300)
  const moved = Math.abs((await place()) - before)
  check(moved < 60, `what was read moved by ${moved} px`)
  for (let page_ = 0; page_ < 10; page_++) {
    await page.locator('.rows').press('Home')
    await page.locator('.row-item').first().waitFor()
    if (await page.locator('.message.user', { hasText: 'question 1:' }).count()) break
    if (await earlier.count()) await earlier.click()
    await page.waitForTimeout(200)
  }
  await page.locator('.message.user', { hasText: 'question 1:' }).waitFor()
  equal(await earlier.count(), 0, 'there is nothing before the first question')
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
