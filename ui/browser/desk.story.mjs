// The desk beside the conversation: its tabs, its keys, and how it lies on the phone.

import { check, command, equal, openSession, story } from './harness.mjs'

const desk = page => page.getByRole('region', { name: 'Desk' })
const message = page => page.getByRole('textbox', { name: 'Message' })

story(
  'the desk opens and closes by its key beside the conversation, and is there after a reload',
  'mock',
  async stage => {
    const mock = await stage.mock()
    const page = await stage.page(mock.url)
    await openSession(page, 'port the parser')
    await message(page).waitFor()
    equal(await desk(page).count(), 0, 'the desk is open at first')
    await page.keyboard.press('Control+Shift+D')
    await desk(page).getByRole('tab', { name: 'Changes', selected: true }).waitFor()
    await desk(page).getByText('login.test.ts').waitFor()
    check(await message(page).isVisible(), 'the conversation is gone')
    await stage.axe(page, 'the desk')
    // Letters that are typed in the desk are the desk's.
    await desk(page).getByRole('tab', { name: 'Changes' }).focus()
    await page.keyboard.press('x')
    equal(await message(page).inputValue(), '', 'a letter went into the message')
    await page.keyboard.press('Escape')
    await desk(page).waitFor({ state: 'detached' })
    await command(page, 'show changes')
    await desk(page).waitFor()
    await page.reload()
    await desk(page).waitFor()
    await page.keyboard.press('Control+Shift+D')
    await desk(page).waitFor({ state: 'detached' })
  },
)

story('on a phone the desk lies over the page and closes with a finger', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url, { width: 390, height: 844, hasTouch: true })
  await page.getByRole('button', { name: 'Show or hide the sidebar' }).click()
  await openSession(page, 'port the parser')
  await message(page).waitFor()
  await page.getByRole('button', { name: 'Show or hide the desk' }).tap()
  await desk(page).waitFor()
  const { width, height } = await desk(page).boundingBox()
  equal([width, height], [390, 844], 'it does not cover the page')
  const close = desk(page).getByRole('button', { name: 'Close the desk' })
  check((await close.boundingBox()).height >= 44, 'too small for a finger')
  await close.tap()
  await desk(page).waitFor({ state: 'detached' })
})
