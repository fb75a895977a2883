// Several tries on the page: begun from a form, compared in a strip, one kept after a second word.

import { addTries } from '../mock/worktrees.mjs'
import { check, equal, story, until } from './harness.mjs'

const strip = page => page.getByRole('region', { name: 'Several tries' })
const column = (page, at) => strip(page).getByRole('listitem').nth(at)

async function openTries(page) {
  await page.locator('.sidebar .session', { hasText: '2 tries' }).click()
  await strip(page).waitFor()
}

story(
  'tries stand beside each other with cost, time, tests and size; one is kept after a second word',
  'mock',
  async stage => {
    const mock = await stage.mock()
    addTries(mock.state)
    const page = await stage.page(mock.url)
    equal(await strip(page).count(), 0, 'the strip is there before anybody looks')
    await openTries(page)
    const facts = ['done', '1 min 14 s', '$0.21', '3 files +41 −6', 'tests passed in 4.2 s']
    for (const fact of facts) await column(page, 0).getByText(fact, { exact: false }).first().waitFor()
    await column(page, 1).getByText('48.9k tokens').or(column(page, 1).getByText('49k tokens')).waitFor()
    await column(page, 1).getByRole('button', { name: 'tests failed in 3.9 s' }).click()
    await strip(page).getByText('expected 2 calls, got 3').waitFor()
    await stage.axe(page, 'the tries')
    // The column's name shows its conversation, the size its changes.
    await column(page, 1).getByRole('button', { name: /Codex/ }).click()
    await page.locator('.tab.active .branch-name', { hasText: 'try/login-retry-2' }).waitFor()
    await column(page, 0)
      .getByRole('button', { name: /3 files/ })
      .click()
    await page
      .getByRole('region', { name: 'Desk' })
      .getByRole('tab', { name: 'Changes', selected: true })
      .waitFor()
    await page.locator('.tab.active .branch-name', { hasText: 'try/login-retry-1' }).waitFor()
    await page.keyboard.press('Control+Shift+D')
    await strip(page).getByRole('button', { name: 'Run tests' }).click()
    await column(page, 1).getByText('tests passed').waitFor()
    // By the keyboard: nothing is lost before a second word.
    await column(page, 0).getByRole('button', { name: 'Keep this one' }).focus()
    await page.keyboard.press('Enter')
    await strip(page).getByText('2 files not committed (src/login.ts, src/log.ts)').waitFor()
    await strip(page).getByRole('button', { name: 'Cancel' }).click()
    equal(mock.state.tries[0].kept, undefined, 'it was kept without a second word')
    await column(page, 0).getByRole('button', { name: 'Keep this one' }).click()
    await strip(page).getByRole('button', { name: 'Keep try/login-retry-1 and remove the others' }).click()
    await strip(page).waitFor({ state: 'detached' })
    equal(mock.state.tries[0].kept, 'try-login-retry-1')
    await page.getByText('chartroom worktree add --branch try/login-retry-2 --from').waitFor()
    await until('the other tab is closed', async () => (await page.locator('.tab').count()) === 1)
  },
)

story('several tries are begun from a form, and one that does not fit is not kept', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url, { width: 390, height: 844, hasTouch: true })
  await page.getByRole('button', { name: 'Show or hide the sidebar' }).tap()
  await page.getByRole('button', { name: 'More in api' }).tap()
  await page.getByRole('menuitem', { name: /^Several tries/ }).tap()
  const form = page.getByRole('dialog', { name: 'Several tries in api' })
  await form.getByLabel('Message').fill('make the login retry once')
  await form.getByRole('button', { name: 'One more' }).tap()
  equal(await form.getByRole('combobox').count(), 3)
  await form.getByLabel('Try 3').selectOption('codex')
  await stage.axe(page, 'the form of several tries')
  await form.getByRole('button', { name: 'Start 3 tries' }).tap()
  await form.waitFor({ state: 'detached' })
  await page.keyboard.press('Escape')
  await strip(page).waitFor()
  equal(await strip(page).getByRole('listitem').count(), 3)
  await page.locator('.tab.active .branch-name', { hasText: 'try/new-1' }).waitFor()
  await strip(page).getByText('no tests: set').waitFor()
  const box = await strip(page).boundingBox()
  check(box.x >= 0 && box.x + box.width <= 390, `the strip is wider than the phone: ${JSON.stringify(box)}`)
  const keep = column(page, 0).getByRole('button', { name: 'Keep this one' })
  check((await keep.boundingBox()).height >= 44, 'too small for a finger')
  mock.state.conflicts = ['src/login.ts']
  await keep.tap()
  await strip(page).getByText('both sides have changed the same places: src/login.ts').waitFor()
  await stage.axe(page, 'a try that does not fit')
})
