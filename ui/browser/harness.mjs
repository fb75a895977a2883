// What a story needs: a browser, servers, pages that fail the story on any error, and plain assertions.

import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { startMock } from '../mock/server.mjs'
import { startReal } from './server.mjs'

export const WORKSPACE = fileURLToPath(new URL('../../', import.meta.url))
export const TOOLS = process.env.CHARTROOM_TEST_TOOLS ?? path.join(WORKSPACE, 'target/test-tools')
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
/** How long anything that a story waits for may take on a loaded machine. */
const PATIENCE_MS = 60_000

/** Every story, in the order of the files. */
export const stories = []

/** Tells a story: `needs` is `mock` for the page alone, `real` for the real server with real agents. */
export function story(name, needs, run) {
  stories.push({ name, needs, run })
}

function tool(name) {
  try {
    return createRequire(path.join(TOOLS, 'browser/'))(name)
  } catch {
    throw new Error(`${name} is not in ${TOOLS}/browser: run \`cargo xtask tools\` to install it`)
  }
}

export async function launch() {
  const { chromium } = tool('playwright-core')
  const executablePath = process.env.CHARTROOM_CHROMIUM ?? '/usr/bin/chromium'
  if (!existsSync(executablePath)) {
    throw new Error(`${executablePath} is missing: run \`cargo xtask tools\` to install chromium`)
  }
  return chromium.launch({ executablePath, args: FLAGS })
}

/** Builds the page for the stand-in server; the real server has its own inside. */
export function buildPage() {
  execFileSync('npm', ['run', '--silent', 'build', '--', '--logLevel', 'warn'], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

/** One story's surroundings; `end` closes all of it and tells what went wrong in the pages. */
export class Stage {
  constructor(browser) {
    Object.assign(this, { browser, contexts: [], servers: [], troubles: [] })
  }

  async mock(options) {
    const mock = await startMock(options)
    this.servers.push(mock)
    return mock
  }

  async real(options) {
    const real = await startReal({ tools: TOOLS, workspace: WORKSPACE, ...options })
    this.servers.push(real)
    return real
  }

  /**
   * Opens the page of a server in a browser of its own; errors in it are troubles of the story. `watch` gets that
   * browser and `opened` its page before the first request.
   */
  async page(url, { width = 1440, height = 900, watch = () => {}, opened = () => {}, ...options } = {}) {
    const context = await this.browser.newContext({ viewport: { width, height }, ...options })
    context.setDefaultTimeout(PATIENCE_MS)
    this.contexts.push(context)
    await watch(context)
    const page = await context.newPage()
    await opened(page)
    const origin = new URL(url).origin
    page.on('pageerror', error => this.troubles.push(`error in the page: ${error.stack ?? error}`))
    page.on('console', message => {
      // A request that fails while the server is away is not the page's fault.
      if (
        message.type() === 'error' &&
        !/Failed to load resource|WebSocket connection/.test(message.text())
      ) {
        this.troubles.push(`console: ${message.text()}`)
      }
    })
    page.on('request', request => {
      const to = new URL(request.url())
      if (to.protocol.startsWith('http') && to.origin !== origin) this.troubles.push(`left the origin: ${to}`)
    })
    await page.goto(url)
    return page
  }

  async axe(page, what) {
    // Not through a script tag: the page's policy forbids it, as it should.
    await page.evaluate(tool('axe-core').source)
    const { violations } = await page.evaluate(() => globalThis.axe.run(document))
    const serious = violations.filter(violation => ['serious', 'critical'].includes(violation.impact))
    const told = serious.flatMap(violation =>
      violation.nodes.map(
        node => `${violation.id} (${violation.impact}): ${node.html.slice(0, 160)} ${node.failureSummary}`,
      ),
    )
    check(told.length === 0, `axe on ${what}:\n${told.join('\n')}`)
    return violations.length
  }

  async end() {
    for (const context of this.contexts) await context.close()
    for (const server of this.servers) await server.kill()
    return this.troubles
  }
}

/**
 * The page's main thread in its own time, from now on: what a loaded machine does beside it is not counted.
 * `read` answers milliseconds of work and the number of frames that were styled.
 */
export async function mainThread(page) {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' })
  const now = async () => {
    const { metrics } = await cdp.send('Performance.getMetrics')
    const of = name => metrics.find(metric => metric.name === name)?.value ?? 0
    return { ms: of('TaskDuration') * 1000, frames: of('RecalcStyleCount') }
  }
  const start = await now()
  return async () => {
    const end = await now()
    return { ms: Math.round(end.ms - start.ms), frames: end.frames - start.frames }
  }
}

/** The browser's own record of tasks over 50 ms, from now on; `read` answers how many and the longest in ms. */
export async function longFrames(page) {
  await page.evaluate(() => {
    globalThis.longTasks = []
    new PerformanceObserver(list => {
      for (const entry of list.getEntries()) globalThis.longTasks.push(Math.round(entry.duration))
    }).observe({ type: 'longtask', buffered: false })
  })
  return async () => {
    const all = await page.evaluate(() => globalThis.longTasks)
    return { count: all.length, longest: Math.max(0, ...all) }
  }
}

/** Types into the composer; the browser's own record of the slowest key, from the press to the painted letter. */
export async function slowKeys(page, type) {
  await page.getByRole('textbox', { name: 'Message' }).focus()
  await page.evaluate(() => {
    globalThis.keyTimes = []
    new PerformanceObserver(list => {
      for (const entry of list.getEntries()) {
        if (entry.name.startsWith('key')) globalThis.keyTimes.push(Math.round(entry.duration))
      }
    }).observe({ type: 'event', durationThreshold: 16, buffered: false })
  })
  await type()
  await page.evaluate(() => new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve, 50))))
  // The browser records nothing under 16 ms.
  const times = await page.evaluate(() => globalThis.keyTimes)
  return times.length > 0 ? Math.max(...times) : 16
}

export function check(holds, message) {
  if (!holds) throw new Error(message)
}

export function equal(actual, expected, message = 'values differ') {
  const [a, b] = [actual, expected].map(value => JSON.stringify(value))
  check(a === b, `${message}\n  expected ${b}\n  got      ${a}`)
}

/** Waits until a condition in node holds. */
export async function until(what, holds) {
  const deadline = Date.now() + PATIENCE_MS
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`waited in vain until ${what}`)
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}

/** Asks the server as the page does. */
export const ask = (page, method, path, body) =>
  page.evaluate(
    async ([method, path, body]) => {
      const headers = { 'x-chartroom-key': localStorage.getItem('chartroom.key') }
      if (body !== undefined) headers['content-type'] = 'application/json'
      const answer = await fetch(path, { method, headers, body })
      return answer.json()
    },
    [method, path, body === undefined ? undefined : JSON.stringify(body)],
  )

// What stories do in the page, in its own words.

export const openSession = (page, title) =>
  page.locator('.sidebar .session', { hasText: title }).first().click()

/** Opens a session that the server has found on the machine. */
export async function openFound(page, title) {
  const fold = page.locator('.found').first()
  await fold.waitFor()
  if ((await fold.getAttribute('aria-expanded')) === 'false') await fold.click()
  await openSession(page, title)
}

/** Starts a session of an agent through the page's own menu. */
export async function start(page, name = 'Claude Code') {
  const before = await page.locator('.tab').count()
  await page.getByRole('button', { name: /^More in project/ }).click()
  await page.getByRole('menuitem', { name: `New ${name} session` }).click()
  await until('the tab is open', async () => (await page.locator('.tab').count()) === before + 1)
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
}

export async function send(page, text) {
  await page.getByRole('textbox', { name: 'Message' }).fill(text)
  await page.keyboard.press('Enter')
}

/** Waits until the list has stood still for half a second's frames: rows are measured, and what they moved is settled. */
export const still = page =>
  page.locator('.rows').evaluate(async rows => {
    for (let same = 0, last = ''; same < 30; ) {
      await new Promise(requestAnimationFrame)
      const now = `${rows.scrollTop} ${rows.scrollHeight}`
      same = now === last ? same + 1 : 0
      last = now
    }
  })

/** Runs a command of the palette: the first that these words find. */
export async function command(page, words) {
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill(words)
  await page.getByRole('option', { name: new RegExp(words, 'i') }).waitFor()
  await page.keyboard.press('Enter')
  await page.locator('dialog').waitFor({ state: 'detached' })
}

/** The texts of the agent's messages that are in the page. */
export const agentTexts = page => page.locator('.message.agent .said').allInnerTexts()

export const idle = page =>
  page.locator('.composer').getByRole('button', { name: 'Send the message' }).waitFor()
