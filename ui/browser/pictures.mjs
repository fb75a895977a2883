// Takes a picture of every screen, wide and narrow, light and dark, into docs/pictures:
// `node ui/browser/pictures.mjs [words of a screen…]`.

import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { startMock } from '../mock/server.mjs'
import { addTries, addWorktree } from '../mock/worktrees.mjs'
import { DESK_SCREENS } from './deskScreens.mjs'
import { buildPage, launch, openSession, send, WORKSPACE } from './harness.mjs'

const OUT = path.join(WORKSPACE, 'docs/pictures')
const SIZES = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } }
/** Widths between the two, of the screens that have most to lose there: half a window, a phone on its side, 200 % zoom. */
const BETWEEN = {
  medium: { width: 820, height: 900 },
  landscape: { width: 844, height: 390 },
  zoom: { width: 720, height: 450 },
}
const AT_EVERY_WIDTH = ['conversation', 'permission', 'change']
const words = process.argv.slice(2)

const GRANTS = [
  { grantId: 'same', what: 'every change to `src/login.ts`', scope: 'session', isWider: true },
  {
    grantId: 'suggested-0',
    what: 'every change to files of this project, and commands such as `rm`, `mv`, `cp`, `mkdir` on them (mode Accept edits)',
    scope: 'session',
    isWider: true,
  },
]
const SET_UP = {
  command: ['npm', 'ci'],
  state: 'passed',
  output: 'added 412 packages in 9s',
  durationMs: 9300,
}
const QUEUED =
  'in the tests use the fake clock, as the other tests of this folder do, and name each case after what it shows'

/** Puts an image into the message that is written. */
const paste = page =>
  page.evaluate(async () => {
    const canvas = document.createElement('canvas')
    canvas.width = 320
    canvas.height = 200
    const draw = canvas.getContext('2d')
    const fade = draw.createLinearGradient(0, 0, 320, 200)
    fade.addColorStop(0, '#2a62c9')
    fade.addColorStop(1, '#e59a12')
    draw.fillStyle = fade
    draw.fillRect(0, 0, 320, 200)
    const blob = await new Promise(resolve => canvas.toBlob(resolve, 'image/png'))
    const data = new DataTransfer()
    data.items.add(new File([blob], 'sketch of the page.png', { type: 'image/png' }))
    const paste = new ClipboardEvent('paste', { clipboardData: data, bubbles: true })
    document.querySelector('.composer-text').dispatchEvent(paste)
  })

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
      await page.getByRole('button', { name: 'What the agent was told' }).click()
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
        .ask({ kind: 'permission', toolName, toolArguments, detail, grants: GRANTS })
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
  rough: {
    run: async (page, { go }) => {
      await go('the nightly build')
      await page.locator('.tool.subagent').waitFor()
      // The rows are measured in the first moment; until then the list moves.
      await page.waitForTimeout(300)
      await page.locator('.rows').press('Home')
      await page.locator('.message.user').waitFor()
      await page.locator('.tool.shell .tool-line').first().click()
    },
  },
  subagent: {
    run: async (page, { go }) => {
      await go('the nightly build')
      await page.locator('.tool.subagent .nested').waitFor()
    },
  },
  queue: {
    run: async (page, { go }) => {
      await go('port the parser')
      await page.locator('.message').first().waitFor()
      await send(page, 'slow long work')
      await page.locator('.message.agent[aria-busy=true]').waitFor()
      for (const text of ['and add a test', QUEUED, 'then open a pull request']) await send(page, text)
      await page.locator('.queued').nth(2).waitFor()
      await paste(page)
      await page.getByRole('textbox', { name: 'Message' }).fill('it should look like this')
    },
  },
  'many-tabs': {
    run: async (page, { go, mock }) => {
      const titles = [
        'fix the flaky login test on Windows',
        'why is CI red',
        'write the release notes for 2.4',
      ]
      for (const [n, session] of [...mock.state.sessions.values()].entries()) {
        if (n > 3) session.summary.title = titles[n % titles.length]
      }
      const all = [...mock.state.sessions.keys(), ...Array.from({ length: 6 }, (_, n) => `gone-${n}`)]
      const tabs = JSON.stringify({ open: all, active: all[1] })
      await page.evaluate(tabs => localStorage.setItem('chartroom.tabs', tabs), tabs)
      await page.reload()
      await go('make the login')
      await page.locator('.tool').first().waitFor()
    },
  },
  'no-agent': {
    kind: 'empty',
    before: mock => {
      for (const agent of mock.state.agents) {
        agent.status = 'missing'
        agent.path = undefined
      }
    },
    run: page => page.getByText('First, a project').waitFor(),
  },
  'new-session': {
    run: async (page, { sidebar }) => {
      await sidebar()
      await page.getByRole('button', { name: 'More in api' }).click()
      await page.getByRole('menuitem', { name: /^New session…/ }).click()
      await page.getByRole('switch').check()
      await page.getByRole('textbox', { name: 'Branch' }).fill('feature/login-retry')
    },
  },
  worktree: {
    before: mock =>
      addWorktree(mock.state, 'feature/login-retry', { title: 'retry the login', preparing: SET_UP }),
    run: async (page, { go, mock }) => {
      await go('make the login')
      await page.locator('.tool').first().waitFor()
      await go('retry the login')
      await page.locator('.message').first().waitFor()
      mock.state.conflicts = ['src/login.ts', 'tests/login.test.ts']
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox').fill('bring this worktree')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Bring back' }).click()
      await page.getByText('Conflicts').waitFor()
    },
  },
  tries: {
    before: mock => addTries(mock.state),
    run: async (page, { sidebar }) => {
      await sidebar()
      await page.locator('.sidebar .session', { hasText: '2 tries' }).click()
      await page.locator('.try').first().waitFor()
      await page.locator('.message').first().waitFor()
      await page.getByRole('button', { name: /^tests failed/ }).click()
    },
  },
  sidebar: { run: (_page, { sidebar }) => sidebar(), only: 'phone' },
  inspector: {
    run: async (page, { go, size }) => {
      await go('make the login')
      await page.locator('.tool').first().waitFor()
      if (size === 'phone') await page.getByRole('button', { name: 'Show or hide the inspector' }).click()
      await page.locator('.facts').first().waitFor()
      await page.getByText('What fills it').click()
      await page.locator('.parts').waitFor()
    },
  },
  ...DESK_SCREENS,
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
  if (!AT_EVERY_WIDTH.includes(name)) continue
  for (const [size, viewport] of Object.entries(BETWEEN)) await picture(name, screen, size, viewport, 'light')
}
await browser.close()

async function picture(name, screen, size, viewport, colorScheme) {
  const mock = await startMock({ kind: screen.kind ?? 'full' })
  screen.before?.(mock)
  // Made for attacks, not for show.
  mock.state.sessions.delete('s-hostile')
  const phone = ['phone', 'landscape'].includes(size) ? { hasTouch: true, isMobile: true } : {}
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
  if (size !== 'phone') await page.mouse.move(120, viewport.height - 120)
  // Colours of code and the last row's measure come a moment after their row.
  await page.waitForTimeout(300)
  const file = `${name}-${size}-${colorScheme}.png`
  await page.screenshot({ path: path.join(OUT, file) })
  console.log(file)
  await context.close()
  await mock.kill().catch(() => {})
}
