// The large things, done and measured: for the stories, which check what must hold, and for the figures.
//
// Times are told, not asserted: the machine may be loaded.

import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { bigMarkdown } from '../mock/agent.mjs'
import * as recorded from '../mock/recorded.mjs'
import { writeClaudeSession } from './claudeFile.mjs'
import { check, equal, idle, longFrames, mainThread, openFound, send, slowKeys, start } from './harness.mjs'

const rows = page => page.locator('.row-item').count()

/** Opens a session of 10,000 items, types in it, goes to its top. */
export async function longSession(stage) {
  const real = await stage.real({ prepare: at => writeClaudeSession(at, recorded.long('long', 10_000)) })
  const page = await stage.page(real.url)
  await openFound(page, 'question 1:')
  // A session that was made elsewhere is read into the store once; the end is there when all of it is.
  await page.locator('.message.user', { hasText: 'question 2500:' }).waitFor()
  check((await rows(page)) < 300, `${await rows(page)} rows in the page`)

  await page.reload()
  await page.locator('.tab.active').waitFor()
  await page.locator('.message.user', { hasText: 'question 2500:' }).waitFor()
  await page.locator('.tab-close').click()
  const thread = await mainThread(page)
  const mount = await page.evaluate(async () => {
    const entry = [...document.querySelectorAll('.session')].find(one =>
      one.textContent.includes('question 1:'),
    )
    const started = performance.now()
    entry.click()
    while (!document.querySelector('.message')) await new Promise(requestAnimationFrame)
    await new Promise(requestAnimationFrame)
    return Math.round(performance.now() - started)
  })
  const { ms } = await thread()
  await page.locator('.message.user', { hasText: 'question 2500:' }).waitFor()
  check((await rows(page)) < 300, `${await rows(page)} rows in the page`)

  const slowest = await slowKeys(page, () => page.keyboard.type('typing stays quick in a long session'))
  equal(
    await page.getByRole('textbox', { name: 'Message' }).inputValue(),
    'typing stays quick in a long session',
  )

  await page.locator('.rows').press('Home')
  await page.locator('.message.user', { hasText: 'question 1:' }).waitFor()
  check((await rows(page)) < 300, `${await rows(page)} rows in the page at the top`)
  equal(await page.locator('.rows').evaluate(rows => rows.scrollTop), 0, 'that is the top')
  return { mount, ms, rows: await rows(page), slowest }
}

/** Changes a file of 4 MB and writes another one. */
export async function hugeChange(stage) {
  const text = Array.from({ length: 40_000 }, (_, n) => `  "key${n}": "${'x'.repeat(85)}",`).join('\n')
  check(text.length > 4_000_000, 'the file has 4 MB')
  const real = await stage.real({
    prepare: async at => {
      await writeFile(path.join(at.project, 'data.json'), text)
    },
  })
  const page = await stage.page(real.url)
  const [old, made] = ['data.json', 'made.json'].map(name => path.join(real.project, name))
  const tool = (name, input) => [{ tool: { name, input } }]
  await real.model.keep('read', tool('Read', { file_path: old, limit: 5 }))
  const edit = { file_path: old, old_string: 'xxxxx', new_string: 'yyyyy', replace_all: true }
  await real.model.keep('edit', tool('Edit', edit))
  await real.model.keep('write', tool('Write', { file_path: made, content: text }))
  await start(page)
  await send(page, '[[answer:read]]')
  await page.locator('.tool.read[data-outcome=passed]').waitFor()
  await idle(page)
  const frames = await longFrames(page)
  const took = {}
  for (const [name, verb] of [
    ['edit', 'data.json'],
    ['write', 'made.json'],
  ]) {
    await send(page, `[[answer:${name}]]`)
    await page.getByRole('button', { name: /Allow once/ }).waitFor()
    const thread = await mainThread(page)
    await page.getByRole('button', { name: /Allow once/ }).click()
    await page.locator('.tool.edit[data-outcome=passed]', { hasText: verb }).waitFor()
    await idle(page)
    took[name] = (await thread()).ms
    check((await page.locator('.diff-line').count()) < 500, 'only a part of it is in the page')
  }
  const counts = await page
    .locator('.tool.edit', { hasText: 'made.json' })
    .locator('.added-count')
    .innerText()
  equal(counts, '+40000', 'the counts are of the whole change')
  const slowest = await slowKeys(page, () => page.keyboard.type('still here'))
  equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), 'still here')
  const { longest } = await frames()
  return { ...took, longest, slowest }
}

/** How much the model says between two waits at a pace: a hundred times a quick model's speed. */
const PACE = { chars: 400, ms: 10 }

/**
 * Takes a reply of 200 KB of markdown in small pieces: at a `pace`, or as fast as the agent can on a machine that it
 * shares with the browser.
 */
export async function longReply(stage, { pace = false } = {}) {
  const real = await stage.real()
  const page = await stage.page(real.url)
  const text = bigMarkdown(200_000)
  const gates = Array.from({ length: Math.ceil(text.length / PACE.chars) }, (_, n) => `g${n}`)
  const pieces = gates.flatMap((gate, n) => [
    ...inPieces(text.slice(n * PACE.chars, (n + 1) * PACE.chars)),
    { gate },
  ])
  await real.model.keep('big', [pace ? { pieces } : { text }])
  await start(page)
  await send(page, '[[answer:big]]')
  const opening = pace ? openSlowly(real.model, gates) : undefined
  await page.locator('.message.agent[aria-busy=true]').waitFor()
  const frames = await longFrames(page)
  const thread = await mainThread(page)
  // Asked seldom and simply: a search through the whole page would be what is measured.
  const done = () => document.querySelector('.send')?.getAttribute('aria-label') === 'Send the message'
  await page.waitForFunction(done, undefined, { polling: 500, timeout: 240_000 })
  await opening
  const { longest, count } = await frames()
  const { ms, frames: painted } = await thread()
  const last = /## (Part \d+)\n(?!.*## Part)/s.exec(text)[1]
  await page.locator('.message.agent h2', { hasText: last }).waitFor()
  const said = await page
    .locator('.message.agent .said')
    .last()
    .evaluate(said => said.textContent.length)
  check(said > 100_000, `the whole text is there: ${said}`)
  return { each: ms / painted, painted, count, longest }
}

async function openSlowly(model, gates) {
  for (const gate of gates) {
    await new Promise(resolve => setTimeout(resolve, PACE.ms))
    model.open(gate)
  }
}

const inPieces = text => (text.match(/.{1,20}/gs) ?? []).map(piece => ({ text: piece }))

/** Opens the changes of 5,000 files in a real repository, and comments on a line. */
export async function manyChanges(stage) {
  const name = n => `part${Math.floor(n / 50)}/file${n}.ts`
  const write = (at, text) =>
    Promise.all(Array.from({ length: 5_000 }, (_, n) => writeFile(path.join(at.project, name(n)), text(n))))
  const prepare = async at => {
    const git = (...args) =>
      execFileSync('git', args, { cwd: at.project, env: { ...process.env, HOME: at.home } })
    for (let part = 0; part < 100; part++) await mkdir(path.join(at.project, `part${part}`))
    await write(at, n => `export const value = ${n}\n`)
    git('init', '-q', '-b', 'main')
    git('add', '-A')
    git('-c', 'user.name=U', '-c', 'user.email=u@example.org', 'commit', '-q', '-m', 'first')
    await write(at, n => `export const value = ${n + 1}\n`)
  }
  const real = await stage.real({ prepare })
  const page = await stage.page(real.url)
  await start(page)
  await page.keyboard.press('Control+Shift+D')
  const view = page.getByRole('group', { name: 'Changes', exact: true })
  await view.getByRole('button', { name: 'Compared: This session' }).click()
  const thread = await mainThread(page)
  const painted = await page.evaluate(async () => {
    const item = [...document.querySelectorAll('[role=menuitemradio]')].find(one =>
      one.textContent.includes('Uncommitted'),
    )
    const started = performance.now()
    item.click()
    while (!document.querySelector('.changed-file') || !document.querySelector('.code-line')) {
      await new Promise(requestAnimationFrame)
    }
    await new Promise(requestAnimationFrame)
    return Math.round(performance.now() - started)
  })
  const { ms } = await thread()
  await view.getByText('5,000 files').or(view.getByText('5000 files')).first().waitFor()
  await page.keyboard.press('n')
  await page.keyboard.press('c')
  await page.getByRole('textbox', { name: 'Comment for the agent' }).fill('why one more?')
  const commented = await page.evaluate(async () => {
    const button = [...document.querySelectorAll('button')].find(one =>
      one.textContent.includes('Add comment'),
    )
    const started = performance.now()
    button.click()
    while (!document.querySelector('.comment-card')?.textContent.includes('why one more?')) {
      await new Promise(requestAnimationFrame)
    }
    return Math.round(performance.now() - started)
  })
  return { painted, ms, commented }
}
