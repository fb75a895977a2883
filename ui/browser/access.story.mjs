// Every screen by axe-core, and everything by keyboard.

import * as recorded from '../mock/recorded.mjs'
import { writeClaudeSession } from './claudeFile.mjs'
import { check, equal, openFound, send, story } from './harness.mjs'

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
  await sidebar()
  await page.locator('.session', { hasText: 'make the login' }).first().click({ button: 'right' })
  await page.getByRole('menuitem', { name: /Rename/ }).waitFor()
  await stage.axe(page, 'the menu of a session')
  await page.getByRole('menuitem', { name: /Rename/ }).click()
  await page.getByRole('dialog', { name: 'Rename this session' }).waitFor()
  await stage.axe(page, 'the rename dialog')
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  if (phone) await page.keyboard.press('Escape')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('login')
  await page.getByRole('option', { name: 'src/login.ts' }).waitFor()
  await stage.axe(page, 'the palette')
  await page.keyboard.press('Escape')
  await page.getByRole('textbox', { name: 'Message' }).pressSequentially('see @log')
  await page.getByRole('option', { name: 'src/login.ts' }).waitFor()
  await stage.axe(page, 'the completion')
  await page.keyboard.press('Escape')
  // A tab that was left open, of a session that is gone.
  const tabs = JSON.stringify({ open: ['gone'], active: 'gone' })
  await page.evaluate(tabs => localStorage.setItem('chartroom.tabs', tabs), tabs)
  await page.reload()
  await page.getByText('did not open').waitFor()
  await stage.axe(page, 'a session that is gone')
  await real.crash()
  await page.locator('.connection-lost').waitFor()
  await stage.axe(page, 'disconnected')
}

story('everything is reached and worked by keyboard', 'real', async stage => {
  const real = await stage.real({
    trusted: false,
    prepare: at => writeClaudeSession(at, recorded.tour('tour')),
  })
  const page = await stage.page(real.url)
  const focused = () =>
    page.evaluate(() => {
      const at = document.activeElement
      return at === document.body ? '' : (at?.getAttribute('aria-label') ?? at?.textContent ?? '')
    })
  const reach = async (wanted, key = 'Tab') => {
    for (let n = 0; n < 90; n++) {
      if ((await focused()).includes(wanted)) return
      await page.keyboard.press(key)
    }
    throw new Error(`${key} never came to ${wanted}`)
  }
  const press = key => page.keyboard.press(key)
  // From nothing to a trusted project, without a hand on the mouse.
  await page.getByText('First, a project').waitFor()
  await reach('Add a project')
  await press('Enter')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.type(real.project)
  await press('Enter')
  await page.getByRole('dialog', { name: 'Trust this folder?' }).waitFor()
  await reach('Trust this folder')
  await press('Enter')
  await page.getByText('Nothing open').waitFor()
  // A session that was found.
  await reach('Found')
  await press('Enter')
  await reach('make the login')
  await press('Enter')
  await page.locator('.tab.active', { hasText: 'make the login' }).waitFor()
  await page.locator('.tool').first().waitFor()
  // Menus, panels, tabs.
  await reach('More in project')
  await press('Enter')
  await page.getByRole('menu').waitFor()
  await press('Escape')
  equal(await focused(), 'More in project', 'a closed menu gives the focus back')
  await reach('Width of the sidebar')
  const width = () => page.locator('.sidebar').evaluate(sidebar => sidebar.clientWidth)
  const before = await width()
  await press('ArrowRight')
  check((await width()) > before, 'the sidebar is made wider')
  await reach('Show or hide the sidebar')
  await press('Enter')
  await page.locator('.sidebar').waitFor({ state: 'detached' })
  await press('Control+b')
  await page.locator('.sidebar').waitFor()
  await reach('Close make the login')
  await reach('Show or hide the inspector')
  await press('Control+i')
  await page.locator('.inspector').waitFor({ state: 'detached' })
  await press('Control+i')
  await page.locator('.inspector').waitFor()
  // The conversation is read by keys; its cards are opened.
  await reach('Conversation')
  await press('Home')
  await page.locator('.message.user', { hasText: 'make the login' }).waitFor()
  await press('End')
  await page.getByText('Shall I change the test?').waitFor()
  await press('Home')
  await page.locator('.tool.search').waitFor()
  await reach('Search')
  await press('Enter')
  check((await page.locator('.tool.search .tool-body').count()) >= 1, 'a tool call opens')
  await press('Enter')
  check((await page.locator('.tool.search .tool-body').count()) === 0, 'and closes')
  // The composer, its pickers, a question, the queue, the stop.
  await reach('Attach an image')
  await reach('Model')
  await press('Enter')
  await page.getByRole('menu').waitFor()
  await press('Escape')
  await reach('Permission mode')
  await reach('Message', 'Shift+Tab')
  await page.keyboard.type('[[tool:Bash:{"command":"touch made","description":"Make a file"}]]')
  await press('Enter')
  await page.locator('.question').waitFor()
  await page.waitForTimeout(500)
  await press('1')
  await page.locator('.tool[data-outcome=passed]', { hasText: 'touch made' }).waitFor()
  await page.getByRole('textbox', { name: 'Message' }).focus()
  await page.keyboard.type('[[gate:hold]]')
  await press('Enter')
  await real.model.reached('hold')
  await page.keyboard.type('and then this')
  await press('Enter')
  await page.locator('.queued').waitFor()
  await reach('Edit the queued message', 'Shift+Tab')
  await press('Enter')
  await page.keyboard.type(', edited')
  await press('Enter')
  await page.locator('.queued', { hasText: ', edited' }).waitFor()
  await reach('Remove the queued message')
  await press('Enter')
  await page.locator('.queued').waitFor({ state: 'detached' })
  await reach('Stop the turn')
  await press('Enter')
  await page.getByText('stopped').waitFor()
  // The palette, and tabs by their keys.
  await press('Control+k')
  await page.keyboard.type('close this tab')
  await press('Enter')
  await page.getByText('Nothing open').waitFor()
})

story('on the phone panels are sheets, and the composer stays in sight', 'real', async stage => {
  const real = await stage.real({ prepare: at => writeClaudeSession(at, recorded.tour('tour')) })
  const page = await stage.page(real.url, { width: 390, height: 844, hasTouch: true, isMobile: true })
  await page.getByText('Nothing open').waitFor()
  await page.getByRole('button', { name: 'Show or hide the sidebar' }).tap()
  await openFound(page, 'make the login')
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
