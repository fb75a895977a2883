// Every screen by axe-core, and everything by keyboard.

import { check, equal, openSession, send, story } from './harness.mjs'

for (const colorScheme of ['light', 'dark']) {
  for (const width of [1440, 390]) {
    story(
      `axe-core finds nothing serious on any screen (${colorScheme}, ${width} px)`,
      'mock',
      async stage => {
        const view = { width, height: 900, colorScheme, reducedMotion: 'reduce' }
        const phone = width < 600
        const empty = await stage.mock({ kind: 'empty' })
        const first = await stage.page(empty.url, view)
        await first.getByText('First, a project').waitFor()
        await stage.axe(first, 'the first run')
        await first.getByRole('main').getByRole('button', { name: 'Add a project' }).click()
        await stage.axe(first, 'adding a project')

        const mock = await stage.mock()
        const page = await stage.page(mock.url, view)
        const sidebar = async () => {
          if (phone) await page.getByRole('button', { name: 'Show or hide the sidebar' }).click()
          await page.locator('.session').first().waitFor()
        }
        await page.getByText('Nothing open').waitFor()
        await stage.axe(page, 'nothing open')
        await sidebar()
        await stage.axe(page, 'the sidebar')
        await openSession(page, 'make the login')
        await page.locator('.tool').first().waitFor()
        await page
          .locator('.tool-line[aria-expanded=false]')
          .evaluateAll(all => all.map(line => line.click()))
        await stage.axe(page, 'a conversation')
        if (phone) await page.getByRole('button', { name: 'Show or hide the inspector' }).click()
        await page.locator('.inspector').waitFor()
        await stage.axe(page, 'the inspector')
        if (phone) await page.keyboard.press('Escape')
        await sidebar()
        await openSession(page, 'port the parser')
        await send(page, 'permission please')
        await page.locator('.question').waitFor()
        await send(page, 'and then this')
        await page.locator('.queued').waitFor()
        await stage.axe(page, 'a permission and a queue')
        await page.keyboard.press('Control+k')
        await page.getByRole('combobox').waitFor()
        await stage.axe(page, 'the palette')
        await page.keyboard.press('Escape')
        await mock.kill()
        await page.locator('.connection-lost').waitFor()
        await stage.axe(page, 'disconnected')
      },
    )
  }
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
