// Figures of the page for `cargo xtask bench`: one JSON line each. Times are the main thread's own work.

import { readdir, readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { buildPage, launch, mainThread, openSession, Stage, send } from './harness.mjs'

const DIST = new URL('../dist/', import.meta.url)

const say = line => console.log(JSON.stringify(line))

/** What a browser loads before it shows anything: the page, its script and its style. */
async function firstLoad() {
  const page = await readFile(new URL('index.html', DIST), 'utf8')
  const assets = (await readdir(new URL('assets/', DIST))).filter(name => page.includes(name))
  const files = [
    Buffer.from(page),
    ...(await Promise.all(assets.map(name => readFile(new URL(`assets/${name}`, DIST))))),
  ]
  return files.reduce((sum, bytes) => sum + gzipSync(bytes, { level: 9 }).length, 0) / 1024
}

async function openLong(stage) {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await page.locator('.session').first().waitFor()
  const thread = await mainThread(page)
  await openSession(page, 'a very long session')
  await page.locator('.message').first().waitFor()
  const { ms } = await thread()
  return { ms, rows: await page.locator('.row-item').count() }
}

async function typeInLong(stage) {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await openSession(page, 'a very long session')
  await page.locator('.message').first().waitFor()
  await page.waitForTimeout(500)
  const thread = await mainThread(page)
  await page.getByRole('textbox', { name: 'Message' }).pressSequentially('x'.repeat(50))
  return (await thread()).ms / 50
}

async function streamBig(stage) {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await openSession(page, 'port the parser')
  await page.locator('.message').first().waitFor()
  const thread = await mainThread(page)
  await send(page, 'big please')
  await page.locator('.stop').waitFor()
  const done = () => !document.querySelector('.stop')
  await page.waitForFunction(done, undefined, { polling: 500, timeout: 300_000 })
  const { ms, frames } = await thread()
  return ms / frames
}

buildPage()
const browser = await launch()
const staged = async measure => {
  const stage = new Stage(browser)
  try {
    return await measure(stage)
  } finally {
    await stage.end()
  }
}
say({
  name: 'page: first load, gzip',
  value: await firstLoad(),
  unit: 'KiB',
  baseline: 'CloudCLI',
  baseline_value: 4505.6,
  aim: 'under 150 KiB',
})
const long = await staged(openLong)
say({
  name: 'page: open 10,000 items',
  value: long.ms,
  unit: 'ms',
  baseline: 'CloudCLI, 3,600 messages, not done after',
  baseline_value: 40_000,
  aim: 'under 1,000 ms',
})
say({ name: 'page: rows in the page of 10,000', value: long.rows, unit: 'rows', aim: 'under 300' })
say({
  name: 'page: one key in that session',
  value: await staged(typeInLong),
  unit: 'ms',
  aim: 'under 50 ms',
})
say({
  name: 'page: one frame while 200 KB of markdown stream',
  value: await staged(streamBig),
  unit: 'ms',
  aim: 'under 100 ms',
})
await browser.close()
