// How a conversation is drawn from upserts: the real server, the real agents, a scripted model.

import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import * as recorded from '../mock/recorded.mjs'
import { writeClaudeSession } from './claudeFile.mjs'
import { agentTexts, check, equal, idle, openFound, send, start, still, story, until } from './harness.mjs'

const trimmed = async page => (await agentTexts(page)).map(text => text.trim())

story('TC-7.2a: text messages render progressively, in place', 'real', async stage => {
  const real = await stage.real()
  const page = await stage.page(real.url)
  const steps = ['The retry', 'lives in the client', 'and tries **once**', 'then it gives up.']
  const pieces = steps.flatMap((text, at) => [{ text: `${text} ` }, { gate: `step ${at}` }])
  await real.model.keep('steps', [{ pieces }])
  await start(page)
  await send(page, '[[answer:steps]]')
  const message = page.locator('.message.agent')
  let sofar = ''
  for (const [at, step] of steps.entries()) {
    await real.model.reached(`step ${at}`)
    sofar = `${sofar} ${step.replaceAll('*', '')}`.trim()
    await message.filter({ hasText: sofar }).waitFor()
    equal(await trimmed(page), [sofar], 'the newest text stands where the older one stood')
    // The row is marked at the first step; it is the same one at the last.
    if (at === 0) {
      await message.evaluate(node => {
        globalThis.row = node
      })
    }
    check(await message.evaluate(node => node === globalThis.row), 'the message is updated, not replaced')
    equal(await message.getAttribute('aria-busy'), 'true')
    real.model.open(`step ${at}`)
  }
  await idle(page)
  equal(await message.getAttribute('aria-busy'), 'false')
  equal(await trimmed(page), [sofar])
})

story('TC-7.2b: a tool call shows its invocation, then its result', 'real', async stage => {
  const real = await stage.real()
  const page = await stage.page(real.url)
  await start(page)
  const command = 'touch begun; until [ -e go ]; do sleep 0.1; done; cat hello.txt'
  await send(page, `[[tool:Bash:${JSON.stringify({ command, description: 'Wait, then read' })}]]`)
  const card = page.locator('.tool', { hasText: 'cat hello.txt' })
  await card.and(page.locator('[data-outcome=running]')).waitFor()
  await page.getByRole('button', { name: /Allow once/ }).click()
  await page.locator('.question').waitFor({ state: 'detached' })
  equal(await card.getAttribute('data-outcome'), 'running')
  const before = await card.innerText()
  check(before.includes(command), `the invocation is shown while it runs: ${before}`)
  check(!before.includes('hello from the project'), 'there is no result yet')
  await card.evaluate(node => {
    globalThis.card = node
  })
  await writeFile(path.join(real.project, 'go'), '')
  await page.locator('.tool[data-outcome=passed]', { hasText: 'cat hello.txt' }).waitFor()
  await idle(page)
  equal(await card.count(), 1, 'it is one card')
  check(await card.evaluate(node => node === globalThis.card), 'the same card, updated')
  await card.locator('.tool-line').click()
  const after = await card.innerText()
  check(after.includes('hello from the project') && after.includes('exit 0'), `the result is shown: ${after}`)
})

story('TC-7.2c: interleaved items render independently', 'real', async stage => {
  const real = await stage.real()
  const page = await stage.page(real.url)
  const bash = side => ({ name: 'Bash', input: { command: `touch ${side} && echo ${side} is made` } })
  await real.model.keep('both', [{ text: 'Both at once.' }, { tool: bash('left') }, { tool: bash('right') }])
  await start(page)
  await send(page, '[[answer:both]]')
  const card = side => page.locator('.tool', { hasText: `echo ${side} is made` })
  const state = async () => [
    await card('left').getAttribute('data-outcome'),
    await card('right').getAttribute('data-outcome'),
  ]
  // Both are there before the first has a result: create left, create right, complete left, complete right.
  await card('right').waitFor()
  await page.getByRole('button', { name: /Allow once/ }).waitFor()
  equal(await state(), ['running', 'running'])
  const right = await card('right').evaluate(node => {
    globalThis.right = node
    return node.textContent
  })
  await page.getByRole('button', { name: /Allow once/ }).click()
  await page.locator('.tool[data-outcome=passed]', { hasText: 'left is made' }).waitFor()
  // The second is asked about now; until it is answered nothing of it has moved.
  await page.getByRole('button', { name: /Allow once/ }).waitFor()
  equal(await state(), ['passed', 'running'])
  equal(
    await card('right').evaluate(node => node === globalThis.right && node.textContent),
    right,
    'what the left one does leaves the right one alone',
  )
  await page.getByRole('button', { name: /Allow once/ }).click()
  await page.locator('.tool[data-outcome=passed]', { hasText: 'right is made' }).waitFor()
  await idle(page)
  equal(await state(), ['passed', 'passed'])
  equal((await trimmed(page))[0], 'Both at once.', 'the text before them stands as it was')
})

story('every kind of tool card is drawn', 'real', async stage => {
  const real = await stage.real({ prepare: at => writeClaudeSession(at, recorded.tour('tour')) })
  const page = await stage.page(real.url)
  await openFound(page, 'make the login retry')
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
  'real',
  async stage => {
    const real = await stage.real({ prepare: at => writeClaudeSession(at, recorded.long('long', 400)) })
    const page = await stage.page(real.url)
    await real.model.keep('long', [{ text: 'The same answer once more, in many words. '.repeat(80) }])
    await openFound(page, 'question 1:')
    await page.locator('.message').first().waitFor()
    const fromEnd = () =>
      page.evaluate(() => {
        const rows = document.querySelector('.rows')
        return Math.round(rows.scrollHeight - rows.scrollTop - rows.clientHeight)
      })
    const answered = page.locator('.message.agent', { hasText: 'The same answer once more' }).last()
    await send(page, '[[answer:long]]')
    await answered.waitFor()
    await idle(page)
    // The last rows are painted a frame after the state that says so.
    await until('it stands at the end', async () => (await fromEnd()) <= 2)
    await page.locator('.rows').hover()
    await page.mouse.wheel(0, -1500)
    await page.getByRole('button', { name: 'To the end' }).waitFor()
    // Let the rows that came into sight be measured, then watch one of them.
    await still(page)
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
    // Said elsewhere: who says something here wants to see it.
    const other = await page.context().newPage()
    await other.goto(new URL(real.url).origin)
    await send(other, 'once more')
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

story('what is opened stays where it is, also at the end of the list', 'real', async stage => {
  const real = await stage.real({ prepare: at => writeClaudeSession(at, recorded.tour('tour')) })
  const page = await stage.page(real.url)
  await openFound(page, 'make the login retry')
  const line = page.locator('.tool.shell .tool-line')
  await line.waitFor()
  const place = () => line.evaluate(line => Math.round(line.getBoundingClientRect().top))
  // The rows are measured, and their code is coloured, in the first moment.
  await page.locator('.code-block code span').first().waitFor()
  await still(page)
  const before = await place()
  await line.click()
  await page.locator('.tool.shell .output').waitFor()
  await still(page)
  equal(await place(), before, 'the line that was clicked')
  await page.getByRole('button', { name: 'To the end' }).waitFor()
  await line.click()
  await page.getByRole('button', { name: 'To the end' }).waitFor({ state: 'detached' })
})

story('a long paste of yours is folded, and the answer is copied as it was written', 'real', async stage => {
  const real = await stage.real()
  const page = await stage.page(real.url, { permissions: ['clipboard-read', 'clipboard-write'] })
  const answer = 'It is in **one** place:\n\n- `src/login.ts`'
  await real.model.keep('answer', [{ text: answer }])
  await start(page)
  const trace = Array.from({ length: 60 }, (_, n) => `at step ${n}`).join('\n')
  await send(page, `[[answer:answer]]\n${trace}`)
  await page.locator('.turn-end').waitFor()
  await idle(page)
  const mine = page.locator('.message.user')
  const height = () => mine.evaluate(mine => mine.clientHeight)
  check((await height()) < 250, `it is folded: ${await height()} px`)
  await mine.getByRole('button', { name: 'All 61 lines' }).click()
  check((await height()) > 1000, `all of it: ${await height()} px`)
  await mine.getByRole('button', { name: 'Show less' }).click()
  await page.getByRole('button', { name: 'Copy the answer' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  equal(await page.evaluate(() => navigator.clipboard.readText()), answer)
})

story(
  'more tabs than fit: the chosen one comes into sight, and the plus begins another',
  'real',
  async stage => {
    const real = await stage.real()
    const page = await stage.page(real.url, { width: 700, height: 800 })
    await start(page)
    for (let n = 2; n <= 5; n++) {
      await page.getByRole('button', { name: 'New session', exact: true }).click()
      await until(`there are ${n} tabs`, async () => (await page.locator('.tab').count()) === n)
    }
    const inSight = at =>
      page
        .locator('.tab')
        .nth(at)
        .evaluate(tab => {
          const [own, strip] = [tab, tab.closest('.tabs')].map(one => one.getBoundingClientRect())
          return own.left >= strip.left - 1 && own.right <= strip.right + 1
        })
    await until('the newest is in sight', () => inSight(4))
    check(!(await inSight(0)), 'they do not all fit')
    await page.getByRole('textbox', { name: 'Message' }).focus()
    await page.keyboard.press('Alt+]')
    await until('the first is in sight', () => inSight(0))
  },
)
