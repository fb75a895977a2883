// Takes a picture of every screen, wide and narrow, light and dark, into docs/pictures:
// `node ui/browser/pictures.mjs [words of a screen…]`.

import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { startMock } from '../mock/server.mjs'
import { buildPage, launch, openSession, send, WORKSPACE } from './harness.mjs'

const OUT = path.join(WORKSPACE, 'docs/pictures')
const SIZES = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } }
const words = process.argv.slice(2)

/** Each screen: how to come to it. `go` brings a session of the sidebar to the front at any width. */
const SCREENS = {
  'first-run': { kind: 'empty', run: page => page.getByText('First, a project').waitFor() },
  'nothing-open': { run: page => page.getByText('Nothing open').waitFor() },
  conversation: {
    run: async (page, { go }) => {
      await go('port the parser')
      await go('make the login')
      await page.locator('.code-block code span').first().waitFor()
    },
  },
  'tool-cards': {
    run: async (page, { go }) => {
      await go('make the login')
      await page.locator('.tool').first().waitFor()
      await page.locator('.rows').press('Home')
      await page.locator('.message.user').waitFor()
      await page.locator('.tool.thinking .tool-line').click()
      await page.locator('.tool.shell .tool-line').click()
    },
  },
  permission: {
    run: async (page, { go }) => {
      await go('port the parser')
      await send(page, 'build it, with permission')
      await page.locator('.question').waitFor()
      await send(page, 'and add a test')
      await page.locator('.queued').waitFor()
    },
  },
  change: {
    run: async (page, { go, mock }) => {
      await go('make the login')
      await page.locator('.tool').first().waitFor()
      const entries = [...mock.state.sessions.get('s-tour').entries.values()]
      const edit = entries.find(entry => entry.toolName === 'Edit')
      const { toolName, toolArguments, detail } = edit
      void mock.state.sessions
        .get('s-tour')
        .ask({ kind: 'permission', toolName, toolArguments, detail, canAllowAlways: true })
      await page.locator('.question').waitFor()
    },
  },
  choice: {
    run: async (page, { go }) => {
      await go('port the parser')
      await send(page, 'let me choose')
      await page.locator('.choice').first().waitFor()
    },
  },
  streaming: {
    run: async (page, { go }) => {
      await go('port the parser')
      await send(page, 'think, then explain the retry, slow and long')
      await page.locator('.message.agent[aria-busy=true]', { hasText: 'gives the same' }).waitFor()
    },
  },
  failed: {
    run: async (page, { go }) => {
      await go('port the parser')
      await send(page, 'fail please')
      await page.locator('.turn-error').waitFor()
    },
  },
  disconnected: {
    run: async (page, { go, mock }) => {
      await go('port the parser')
      await page.locator('.message').first().waitFor()
      await mock.kill()
      await page.locator('.connection-lost').waitFor()
    },
  },
  'session-missing': {
    run: async (page, { go, mock }) => {
      await page.locator('.screen').waitFor()
      mock.state.sessions.delete('s-codex')
      await go('port the parser')
      await page.getByText('did not open').waitFor()
    },
  },
  trust: {
    run: async (page, { sidebar }) => {
      await sidebar()
      await page.getByRole('button', { name: 'New Claude Code session in web' }).first().click()
      await page.getByRole('dialog').waitFor()
    },
  },
  palette: {
    run: async (page, { go }) => {
      await go('port the parser')
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox').fill('login')
      await page.getByText('tests/login.test.ts').waitFor()
      await page.getByText('class LoginFailed').first().waitFor()
    },
  },
  rename: {
    run: async (page, { go }) => {
      await go('port the parser')
      await page.locator('.message').first().waitFor()
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox').fill('rename this session')
      await page.keyboard.press('Enter')
      await page.getByRole('dialog', { name: 'Rename this session' }).waitFor()
    },
  },
  'session-menu': {
    run: async (page, { go, sidebar, size }) => {
      await go('port the parser')
      await page.locator('.message').first().waitFor()
      if (size === 'phone') await sidebar()
      await page.getByRole('button', { name: 'More about port the parser' }).click()
      await page.getByRole('menuitem', { name: 'Archive' }).waitFor()
    },
  },
  'add-project': {
    kind: 'empty',
    run: async page => {
      await page.getByRole('main').getByRole('button', { name: 'Add a project' }).click()
      await page.getByLabel('Folder on this machine').fill('relative/path')
      await page.getByRole('button', { name: 'Add', exact: true }).click()
      await page.getByRole('alert').waitFor()
    },
  },
  completion: {
    run: async (page, { go }) => {
      await go('port the parser')
      await page.getByRole('textbox', { name: 'Message' }).pressSequentially('look at @')
      await page.getByRole('option').first().waitFor()
    },
  },
  sidebar: { run: (_page, { sidebar }) => sidebar(), only: 'phone' },
  inspector: {
    only: 'phone',
    run: async (page, { go }) => {
      await go('make the login')
      await page.locator('.tool').first().waitFor()
      await page.getByRole('button', { name: 'Show or hide the inspector' }).click()
      await page.locator('.facts').first().waitFor()
    },
  },
}

buildPage()
await mkdir(OUT, { recursive: true })
const browser = await launch()
for (const [name, screen] of Object.entries(SCREENS)) {
  if (!words.every(word => name.includes(word))) continue
  for (const [size, viewport] of Object.entries(SIZES)) {
    if (screen.only !== undefined && screen.only !== size) continue
    for (const colorScheme of ['light', 'dark']) await picture(name, screen, size, viewport, colorScheme)
  }
}
await browser.close()

async function picture(name, screen, size, viewport, colorScheme) {
  const mock = await startMock({ kind: screen.kind ?? 'full' })
  // Made for attacks, not for show.
  mock.state.sessions.delete('s-hostile')
  const phone = size === 'phone' ? { hasTouch: true, isMobile: true } : {}
  const context = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce', ...phone })
  const page = await context.newPage()
  await page.goto(mock.url)
  const sidebar = async () => {
    if (size === 'phone') await page.getByRole('button', { name: 'Show or hide the sidebar' }).click()
    await page.locator('.session').first().waitFor()
  }
  const go = async title => {
    await sidebar()
    await openSession(page, title)
  }
  await screen.run(page, { go, sidebar, mock, size })
  // The pointer is out of the way: what it would light up is not what the picture is of.
  await page.mouse.move(viewport.width / 2, viewport.height / 2 + 200)
  // Colours of code and the last row's measure come a moment after their row.
  await page.waitForTimeout(300)
  const file = `${name}-${size}-${colorScheme}.png`
  await page.screenshot({ path: path.join(OUT, file) })
  console.log(file)
  await context.close()
  await mock.kill().catch(() => {})
}
