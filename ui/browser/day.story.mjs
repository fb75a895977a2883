// A day's work: by the keyboard alone, and with a thumb on a phone.

import { check, equal, story, until } from './harness.mjs'

const message = page => page.getByRole('textbox', { name: 'Message' })
const question = page => page.getByRole('region', { name: 'The agent needs you' })
const focused = page => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '')
const current = page => page.locator('.tab[class*=active]').innerText()

/** Runs what the palette finds first for these words. */
async function palette(page, words, option) {
  await page.keyboard.press('Control+k')
  await page.keyboard.type(words)
  await page.getByRole('option', { name: option }).first().waitFor()
  await page.keyboard.press('Enter')
}

story('the day’s work by the keyboard alone', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await page.locator('.sidebar .session').first().waitFor()

  // The first thing that Tab reaches leads past the lists.
  await page.keyboard.press('Tab')
  equal(await page.evaluate(() => document.activeElement?.textContent), 'To the conversation')

  await palette(page, 'port the parser', /port the parser/)
  await until('the composer has the focus', async () => (await focused(page)) === 'Message')

  await page.keyboard.type('build it, with permission')
  await page.keyboard.press('Enter')
  await question(page).waitFor()
  const keycaps = question(page).locator('kbd')
  await until('an empty message needs no Alt', async () => (await keycaps.first().innerText()) === '1')
  await message(page).focus()
  await page.keyboard.type('and then a test')
  equal(await keycaps.first().innerText(), 'Alt 1', 'in a text the number would be typed')
  // In the first moment a word that is being typed answers nothing.
  await until('it is answered', async () => {
    await page.keyboard.press('Alt+1')
    return (await question(page).count()) === 0
  })
  equal(await message(page).inputValue(), 'and then a test')
  await page.keyboard.press('Enter')
  await page.locator('.message.user', { hasText: 'and then a test' }).waitFor()
  await page.getByRole('button', { name: 'Send the message' }).waitFor()

  // What was said is said again in better words.
  await page.keyboard.press('ArrowUp')
  equal(await message(page).inputValue(), 'and then a test')
  await page.keyboard.type(' of it')
  await page.keyboard.press('Enter')
  await page.locator('.message.user', { hasText: 'and then a test of it' }).waitFor()

  await page.keyboard.press('Control+f')
  await page.keyboard.type('test of it')
  await until('it is found', async () => (await page.locator('.find-count').innerText()) === '1 of 1')
  await page.keyboard.press('Escape')
  await until('the composer has the focus again', async () => (await focused(page)) === 'Message')

  await page.keyboard.press('F2')
  await page.getByRole('dialog', { name: 'Rename this session' }).waitFor()
  await page.keyboard.press('Control+a')
  await page.keyboard.type('the parser')
  await page.keyboard.press('Enter')
  await until('it has its name', async () => (await current(page)).includes('the parser'))

  await palette(page, 'make the login', /make the login/)
  await until('the other is shown', async () => (await current(page)).includes('make the login'))
  await page.keyboard.press('Alt+1')
  await until('the first is shown', async () => (await current(page)).includes('the parser'))
  await page.keyboard.press('Alt+w')
  await until('it is closed', async () => (await page.locator('.tab').count()) === 1)
  await page.keyboard.press('Alt+Shift+T')
  await until('it is open again', async () => (await page.locator('.tab').count()) === 2)

  await page.keyboard.press('Control+i')
  await page.locator('.inspector').waitFor({ state: 'detached' })
  await page.keyboard.press('Control+b')
  await page.locator('.sidebar').waitFor({ state: 'detached' })
  await stage.axe(page, 'the page with everything folded')
})

story('the day’s work with a thumb on a phone', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url, { width: 390, height: 844, hasTouch: true, isMobile: true })
  await page.getByRole('button', { name: 'Show or hide the sidebar' }).tap()
  await page.locator('.sidebar .session', { hasText: 'port the parser' }).first().tap()
  await message(page).tap()
  await message(page).fill('build it, with permission')
  await page.getByRole('button', { name: 'Send the message' }).tap()
  await question(page).waitFor()
  for (const button of await question(page).locator('.question-buttons button').all()) {
    const { width, height } = await button.boundingBox()
    check(width >= 44 && height >= 40, `${await button.innerText()} has room for a thumb: ${width}×${height}`)
  }
  await question(page)
    .getByRole('button', { name: /Allow once/ })
    .tap()
  await question(page).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Send the message' }).waitFor()
  await page.getByRole('button', { name: 'Edit and send again' }).last().tap()
  await until('the words are back', async () =>
    (await message(page).inputValue()).startsWith('build it, with permission'),
  )
  await message(page).fill('where is it?')
  await page.getByRole('button', { name: 'Send the message' }).tap()
  await page.getByRole('link', { name: 'src/login.ts:4' }).tap()
  await page.getByRole('dialog', { name: 'src/login.ts, line 4' }).waitFor()
  await page.goBack()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Show or hide the inspector' }).tap()
  await page.locator('.inspector').waitFor()
  await page.getByRole('button', { name: 'Close the panel' }).tap({ position: { x: 5, y: 400 } })
  await page.locator('.inspector').waitFor({ state: 'detached' })
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
  check(!wide, 'nothing reaches over the edge')
})

story('more tabs than fit are in a list with their states', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url, { width: 700, height: 600 })
  await page.locator('.sidebar .session').first().click()
  for (let n = 2; n <= 7; n++) {
    await page.getByRole('button', { name: 'New session', exact: true }).first().click()
    await until(`there are ${n} tabs`, async () => (await page.locator('.tab').count()) === n)
  }
  await page.getByRole('button', { name: 'All 7 open sessions' }).click()
  const first = page.getByRole('menuitemradio').first()
  check(/ready/.test(await first.innerText()), `it says its state: ${await first.innerText()}`)
  const name = (await first.innerText()).split('\n')[0]
  await first.click()
  await until('it is shown', async () => (await current(page)).includes(name))
})

story('a sent image is a small picture', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await page.locator('.sidebar .session', { hasText: 'port the parser' }).first().click()
  await message(page).waitFor()
  const png =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  await page.getByLabel('Images to attach').setInputFiles({
    name: 'dot.png',
    mimeType: 'image/png',
    buffer: Buffer.from(png, 'base64'),
  })
  await page.locator('.chip').waitFor()
  await message(page).fill('look at this')
  await page.keyboard.press('Enter')
  await page
    .locator('.message.user', { hasText: 'look at this' })
    .getByRole('img', { name: '1 image' })
    .waitFor()
})
