// Going back to before a message, and on from a turn in a new tab.

import { check, equal, openSession, still, story, until } from './harness.mjs'

const dialog = page => page.getByRole('dialog', { name: 'Back to before this message?' })
const tabs = page => page.locator('.tab')

story(
  'before going back one reads which files come back, which go, and which are left alone; and it is undone',
  'mock',
  async stage => {
    const mock = await stage.mock()
    const page = await stage.page(mock.url)
    await openSession(page, 'make the login retry')
    const said = page.getByRole('article', { name: 'You' }).first()
    await said.hover()
    await said.getByRole('button', { name: 'Back to before this message' }).click()
    await dialog(page).getByText('src/login.ts').waitFor()
    await dialog(page)
      .getByText(/changed by somebody else since.*src\/routes\.ts/)
      .waitFor()
    check(
      mock.requests.filter(request => request.endsWith('/rewind')).length === 1,
      'something was done before it was asked for',
    )
    await stage.axe(page, 'the question about going back')
    await dialog(page).getByRole('button', { name: 'Go back' }).click()
    await dialog(page).waitFor({ state: 'detached' })
    const notice = page.locator('.notice', { hasText: 'Back to before the message' })
    await notice.getByText(/1 file came back, 1 file removed, left alone.*routes\.ts/).waitFor()
    await page.locator('.tab.active', { hasText: 'again' }).waitFor()
    equal(await tabs(page).count(), 1, 'the old session still has its tab')
    // A reload brings it again, until somebody puts it away.
    await page.reload()
    const again = page.locator('.notice', { hasText: 'went back to before a message' })
    await again.getByRole('button', { name: 'Undo' }).click()
    await page.locator('.notice', { hasText: 'Undone' }).waitFor()
    await until(
      'the old session is back',
      async () => !(await page.locator('.tab.active').innerText()).includes('again'),
    )
    check(
      mock.requests.filter(request => request.endsWith('/undo')).length >= 3,
      'the files were not put back',
    )
  },
)

story('what an agent cannot do is said where it would be asked for', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await openSession(page, 'port the parser')
  await page.getByRole('button', { name: 'About this turn' }).first().click()
  await page.getByRole('menuitem', { name: 'Back to before this turn' }).click()
  await dialog(page).getByText('Codex cannot go back in a conversation').waitFor()
  check(
    await dialog(page)
      .getByRole('checkbox', { name: /The conversation/ })
      .isDisabled(),
    'it can be chosen',
  )
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'About this turn' }).first().click()
  await page.getByRole('menuitem', { name: 'Go on from here' }).click()
  await page.locator('.notice', { hasText: 'was handed it as text' }).waitFor()
  await until('the fork has a tab', async () => (await tabs(page).count()) === 2)
  await page.locator('.tab', { hasText: 'port the parser' }).first().locator('.tab-name').click()
  await page.getByRole('button', { name: 'About this turn' }).first().click()
  await page.getByRole('menuitem', { name: 'What this turn changed' }).click()
  await page.getByRole('button', { name: 'Compared: One turn' }).waitFor()
})

story(
  'a notice about going back that was put away stays away, and the desk still has the undo',
  'mock',
  async stage => {
    const mock = await stage.mock()
    const page = await stage.page(mock.url)
    await openSession(page, 'make the login retry')
    const said = page.getByRole('article', { name: 'You' }).first()
    await said.hover()
    await said.getByRole('button', { name: 'Back to before this message' }).click()
    await dialog(page).getByText('src/login.ts').waitFor()
    await dialog(page).getByRole('button', { name: 'Go back' }).click()
    const notice = page.locator('.notice', { hasText: 'Back to before the message' })
    await notice.getByRole('button', { name: 'Dismiss' }).click()
    await page.reload()
    await page.locator('.tab.active', { hasText: 'again' }).waitFor()
    await page.keyboard.press('Control+Shift+D')
    await page.getByRole('button', { name: 'Undo: went back to before a message' }).click()
    await until(
      'the old session is back',
      async () => !(await page.locator('.tab.active').innerText()).includes('again'),
    )
    equal(await page.locator('.notice', { hasText: 'went back' }).count(), 0, 'it was told again')
  },
)

story('one goes back with the keyboard alone, and on a phone with a thumb', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await openSession(page, 'make the login retry')
  const button = page.getByRole('button', { name: 'Back to before this message' }).first()
  await button.focus()
  await page.keyboard.press('Enter')
  await dialog(page).getByText('src/login.ts').waitFor()
  await dialog(page).getByRole('button', { name: 'Go back' }).focus()
  await page.keyboard.press('Enter')
  await page.locator('.tab.active', { hasText: 'again' }).waitFor()

  const other = await stage.mock()
  const phone = await stage.page(other.url, { width: 390, height: 844, hasTouch: true })
  await phone.getByRole('button', { name: 'Show or hide the sidebar' }).tap()
  await openSession(phone, 'make the login retry')
  const back = phone.getByRole('button', { name: 'Back to before this message' }).first()
  // Rows that are still being measured come and go: a row is taken hold of when the list stands still.
  await back.waitFor()
  await still(phone)
  // Three pixels above the sign is still the button.
  await back.scrollIntoViewIfNeeded()
  await still(phone)
  const sign = await back.boundingBox()
  check(sign.width >= 36, 'the arrow is too small for a finger')
  await phone.touchscreen.tap(sign.x + sign.width / 2, sign.y - 3)
  await dialog(phone).getByText('src/login.ts').waitFor()
  const box = await dialog(phone).boundingBox()
  check(
    box.x >= 0 && box.x + box.width <= 390,
    `the question is wider than the phone: ${JSON.stringify(box)}`,
  )
  await stage.axe(phone, 'the question about going back, on a phone')
  const go = dialog(phone).getByRole('button', { name: 'Go back' })
  check((await go.boundingBox()).height >= 44, 'the button is too small for a finger')
  await go.tap()
  await phone.locator('.notice', { hasText: 'Back to before the message' }).waitFor()
  await phone.getByRole('button', { name: 'Undo' }).first().tap()
  await phone.locator('.notice', { hasText: 'Undone' }).waitFor()
})
