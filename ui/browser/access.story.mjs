// Every screen by axe-core, and everything by keyboard.

import * as recorded from '../mock/recorded.mjs'
import { writeClaudeSession } from './claudeFile.mjs'
import { check, equal, openFound, openSession, send, story } from './harness.mjs'

for (const colorScheme of ['light', 'dark']) {
  for (const width of [1440, 390]) {
    story(`axe-core finds nothing serious on any screen (${colorScheme}, ${width} px)`, 'real', stage =>
      everyScreen(stage, { width, height: 900, colorScheme, reducedMotion: 'reduce' }),
    )
  }
}

/** The way of a new person through all screens of the real server, each looked at by axe. */
async function everyScreen(stage, view) {
  const phone = view.width < 600
  const real = await stage.real({
    trusted: false,
    prepare: at => writeClaudeSession(at, recorded.tour('tour')),
  })
  const page = await stage.page(real.url, view)
  const sidebar = async () => {
    if (phone) await page.getByRole('button', { name: 'Show or hide the sidebar' }).click()
    await page.locator('.sidebar').waitFor()
  }
  await page.getByText('First, a project').waitFor()
  await stage.axe(page, 'the first run')
  await page.getByRole('main').getByRole('button', { name: 'Add a project' }).click()
  await page.getByLabel('Folder on this machine').fill('relative/path')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('alert').waitFor()
  await stage.axe(page, 'a folder that cannot be added')
  await page.getByLabel('Folder on this machine').fill(real.project)
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('dialog', { name: 'Trust this folder?' }).waitFor()
  await stage.axe(page, 'the question of trust')
  await page.getByRole('button', { name: 'Trust this folder' }).click()
  await page.getByText('Nothing open').waitFor()
  await stage.axe(page, 'nothing open')

  await sidebar()
  await page.locator('.found').click()
  await stage.axe(page, 'the sidebar')
  await openFound(page, 'make the login')
  await page.locator('.tool').first().waitFor()
  await page.locator('.rows').press('Home')
  await page.locator('.message.user').waitFor()
  await page.locator('.tool-line[aria-expanded=false]').evaluateAll(all => all.map(line => line.click()))
  await stage.axe(page, 'a conversation and its cards')
  await page.locator('.rows').press('End')
  await stage.axe(page, 'the end of a conversation')
  if (phone) await page.getByRole('button', { name: 'Show or hide the inspector' }).click()
  await page.locator('.inspector .facts').first().waitFor()
  await stage.axe(page, 'the inspector')
  if (phone) await page.keyboard.press('Escape')

  await send(page, '[[tool:Bash:{"command":"touch made","description":"Make a file"}]]')
  await page.locator('.question').waitFor()
  await send(page, '[[gate:hold]]')
  await page.locator('.queued').waitFor()
  await stage.axe(page, 'a permission and a queue')
  await page.getByRole('button', { name: /Deny/ }).click()
  await stage.axe(page, 'a reason to deny')
  await page.keyboard.type('not now')
  await page.keyboard.press('Enter')
  await real.model.reached('hold')
  await page.locator('.message.agent[aria-busy=true]').waitFor()
  await stage.axe(page, 'a reply that streams')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('login')
  await page.getByRole('option', { name: 'src/login.ts' }).waitFor()
  await stage.axe(page, 'the palette')
  await page.keyboard.press('Escape')
  await page.getByRole('textbox', { name: 'Message' }).pressSequentially('see @log')
  await page.getByRole('option', { name: 'src/login.ts' }).waitFor()
  await stage.axe(page, 'the completion')
  await page.keyboard.press('Escape')
  await real.crash()
  await page.locator('.connection-lost').waitFor()
  await stage.axe(page, 'disconnected')
}

story('everything is reached and worked by keyboard', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await page.locator('.session').first().waitFor()
  const focused = () =>
    page.evaluate(
      () => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '',
    )
  const reach = async wanted => {
    for (let n = 0; n < 60; n++) {
      if ((await focused()).includes(wanted)) return
      await page.keyboard.press('Tab')
    }
    throw new Error(`Tab never came to ${wanted}`)
  }
  await reach('Add a project')
  await reach('port the parser')
  await page.keyboard.press('Enter')
  await page.locator('.tab.active', { hasText: 'port the parser' }).waitFor()
  await reach('More in api')
  await page.keyboard.press('Enter')
  await page.getByRole('menu').waitFor()
  await page.keyboard.press('Escape')
  equal(await focused(), 'More in api', 'a closed menu gives the focus back')
  await reach('Show or hide the sidebar')
  await reach('Close port the parser')
  await reach('Conversation')
  await reach('Run')
  await page.keyboard.press('Enter')
  check((await page.locator('.tool.shell .tool-body').count()) === 1, 'a tool call opens')
  await reach('Attach an image')
  await reach('Model')
  await reach('Permission mode')
})

story('on the phone panels are sheets, and the composer stays in sight', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url, { width: 390, height: 844, hasTouch: true, isMobile: true })
  await page.getByText('Nothing open').waitFor()
  await page.getByRole('button', { name: 'Show or hide the sidebar' }).tap()
  await openSession(page, 'make the login')
  await page.locator('.sidebar').waitFor({ state: 'detached' })
  await page.locator('.tool').first().waitFor()
  const width = await page.evaluate(() => document.documentElement.scrollWidth)
  check(width <= 390, `nothing is wider than the screen: ${width}`)
  const box = await page.locator('.composer').boundingBox()
  check(box && box.y + box.height <= 844, 'the composer is in sight')
  await page.getByRole('button', { name: 'Show or hide the inspector' }).tap()
  await page.locator('.inspector').waitFor()
  await page.getByRole('button', { name: 'Close the panel' }).tap({ position: { x: 10, y: 400 } })
  await page.locator('.inspector').waitFor({ state: 'detached' })
})
