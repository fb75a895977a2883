// The changes view by itself: files of each kind, one and two columns, keys, the phone, and very many files and lines.

import { check, equal, openSession, story, until } from './harness.mjs'

const view = page => page.getByRole('group', { name: 'Changes', exact: true })
const files = page => view(page).getByRole('navigation', { name: 'Changed files' })
const diff = page => view(page).getByRole('region', { name: 'Difference' })
const row = (page, name) => files(page).getByRole('button', { name })
/** The lines that are shown, with their signs. */
const lines = page =>
  diff(page)
    .locator('.code-line')
    .evaluateAll(all =>
      all.map(line => line.querySelector('.sign').textContent + line.querySelector('.line-text').textContent),
    )

async function openChanges(stage, mock, options) {
  const page = await stage.page(mock.url, options)
  if (options?.width <= 600) await page.getByRole('button', { name: 'Show or hide the sidebar' }).click()
  await openSession(page, 'port the parser')
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  await page.keyboard.press('Control+Shift+D')
  await files(page).waitFor()
  return page
}

story(
  'each kind of change is shown: lines, words in them, names, modes, images, what is gone and what is new',
  'mock',
  async stage => {
    const mock = await stage.mock()
    const page = await openChanges(stage, mock)
    await row(page, /login\.ts/)
      .first()
      .click()
    await diff(page).getByText('const retries = 1').waitFor()
    check((await lines(page)).includes('−const retries = 0'), 'the line that went is not shown')
    equal(await diff(page).locator('.removed mark').first().innerText(), '0', 'the word is not marked')
    await diff(page).locator('.hljs-keyword').first().waitFor()
    await diff(page).getByRole('button', { name: 'Whole file' }).click()
    await diff(page).getByText('// line 20 between').waitFor()
    await view(page).getByRole('button', { name: 'Side by side' }).click()
    await diff(page).locator('.code-sides').first().waitFor()
    equal(
      await diff(page)
        .locator('.code-sides', { hasText: 'const retries' })
        .locator('.line-text')
        .allInnerTexts(),
      ['const retries = 0', 'const retries = 1'],
      'the line is not beside the one that replaces it',
    )
    await stage.axe(page, 'the changes side by side')
    await view(page).getByRole('button', { name: 'Side by side' }).click()
    await row(page, /picture\.png/).click()
    await diff(page).getByRole('img', { name: 'The image after' }).waitFor()
    await diff(page).getByText('1 × 1').first().waitFor()
    await row(page, /run\.sh/).click()
    await diff(page).getByText('a file became a program').waitFor()
    await row(page, /names\.ts/).click()
    await diff(page).getByText('src/keys.ts →').waitFor()
    await row(page, /old\.ts/).click()
    await diff(page).getByText('export const older').waitFor()
    equal(await lines(page), ['−export const old = true', '−export const older = true'])
    await row(page, /login\.test\.ts/).click()
    await diff(page).getByText('retries once').waitFor()
    await stage.axe(page, 'the changes')
  },
)

story('the keys go through the changes and the files, and the scope is a menu', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await openChanges(stage, mock)
  await row(page, /login\.ts/).click()
  await diff(page).getByText('const retries = 1').waitFor()
  const selected = () => diff(page).locator('.code-line.selected .line-text').allInnerTexts()
  await page.keyboard.press('n')
  equal(await selected(), ['const retries = 0'], 'n does not go to the first change')
  await page.keyboard.press('n')
  await page.keyboard.press('n')
  await until(
    'the next file is shown',
    async () => (await row(page, /names\.ts/).getAttribute('aria-current')) === 'true',
  )
  await page.keyboard.press('k')
  await until(
    'the file before is shown',
    async () => (await row(page, /login\.ts/).getAttribute('aria-current')) === 'true',
  )
  await diff(page).getByText('const retries = 1').waitFor()
  await diff(page).locator('.diff-rows').focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Shift+ArrowDown')
  equal(await selected(), ['const retries = 0', 'const retries = 1'], 'Shift does not take more lines')
  // The first Escape ends the selection, the second one the desk.
  await page.keyboard.press('Escape')
  equal(await selected(), [])
  await view(page).getByRole('button', { name: 'Compared: This session' }).click()
  await page.getByRole('menuitemradio', { name: 'Against main' }).click()
  await view(page).getByRole('button', { name: 'Compared: Against main' }).waitFor()
  check(
    mock.requests.some(request => request.includes('/changes?scope=main')),
    'the branch was not asked about',
  )
})

story('on a phone one file is shown at a time', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await openChanges(stage, mock, { width: 390, height: 844, hasTouch: true })
  check(!(await diff(page).isVisible()), 'the list has no room')
  check((await row(page, /login\.ts/).boundingBox()).height >= 44, 'a file is too small for a finger')
  await row(page, /login\.ts/).tap()
  await diff(page).getByText('const retries = 1').waitFor()
  check(!(await files(page).isVisible()), 'the file has no room')
  equal(
    await page.evaluate(() => document.documentElement.scrollWidth),
    390,
    'the page is wider than the phone',
  )
  await stage.axe(page, 'the changes on a phone')
  await diff(page).getByRole('button', { name: 'All files' }).tap()
  await files(page).waitFor()
})

story('5,000 changed files and a change of 100,000 lines are a few rows in the page', 'mock', async stage => {
  const mock = await stage.mock()
  const path = n => `src/part${Math.floor(n / 50)}/file${String(n).padStart(4, '0')}.ts`
  mock.state.changes = Array.from({ length: 5_000 }, (_, n) => ({
    path: path(n),
    status: 'modified',
    added: n === 0 ? 100_000 : 1,
    removed: 0,
    binary: false,
    before: { id: `b${n}`, mode: '100644' },
    after: { id: `a${n}`, mode: '100644' },
  }))
  const long = Array.from({ length: 100_000 }, (_, n) => `+export const value${n} = ${n}`)
  mock.state.patches = {
    a0: ['@@ -1,1 +1,100001 @@', ' // first', ...long],
    a4999: ['@@ -1 +1 @@', '-x', '+last'],
  }
  const page = await openChanges(stage, mock)
  await diff(page).getByText('value0 = 0').waitFor()
  const counted = async () => [
    await files(page).locator('.changed-file').count(),
    await diff(page).locator('.code-line').count(),
  ]
  // Their lines are counted when they are on the screen.
  await view(page)
    .locator('.changes-head .counts')
    .filter({ hasText: /104,?999/ })
    .waitFor()
  const [nFiles, nLines] = await counted()
  check(nFiles < 100 && nLines < 200, `${nFiles} files and ${nLines} lines are in the page`)
  await diff(page)
    .locator('.diff-rows')
    .evaluate(rows => rows.scrollTo(0, rows.scrollHeight))
  await diff(page).getByText('value99999 = 99999').waitFor()
  check((await counted())[1] < 200, 'rows gather')
  await files(page).getByRole('searchbox').fill('file4999')
  await row(page, /file4999/).click()
  await diff(page).getByText('last').waitFor()
})

story('a line about which the agent was told of an error has a mark that says it', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await openSession(page, 'make the login retry')
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  await page.keyboard.press('Control+Shift+D')
  await row(page, /login\.ts/)
    .first()
    .click()
  await diff(page).getByRole('button', { name: 'Whole file' }).click()
  await diff(page).getByText('// line 20 between').waitFor()
  const marked = diff(page)
    .locator('.code-line')
    .filter({ has: page.getByRole('img', { name: /The agent was told: ERROR \[22:15\] Cannot find name/ }) })
  await marked.waitFor()
  await marked.getByRole('button', { name: 'Line 22' }).waitFor()
  equal(await diff(page).locator('.told-mark').count(), 2, 'another line is marked')
  await row(page, /login\.test\.ts/).click()
  await diff(page).getByText('retries once').waitFor()
  equal(await diff(page).locator('.told-mark').count(), 0, 'a line of another file is marked')
})

story('what changed since the person last looked is a scope of its own', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await openChanges(stage, mock)
  const scopes = async () => {
    await view(page)
      .getByRole('button', { name: /^Compared:/ })
      .click()
    const names = await page.getByRole('menuitemradio').allInnerTexts()
    await page.keyboard.press('Escape')
    return names
  }
  check(!(await scopes()).includes('Since I last looked'), 'nobody has looked yet')
  // Leaving the view is what counts: by its key, and by a reload.
  await page.keyboard.press('Control+Shift+D')
  await view(page).waitFor({ state: 'detached' })
  await until('the look is kept', () => mock.requests.some(request => request.endsWith('/changes/looked')))
  await page.keyboard.press('Control+Shift+D')
  await files(page).waitFor()
  check((await scopes()).includes('Since I last looked'), 'it cannot be chosen')
  await view(page)
    .getByRole('button', { name: /^Compared:/ })
    .click()
  await page.getByRole('menuitemradio', { name: 'Since I last looked' }).click()
  await until('one file is listed', async () => (await view(page).locator('.changed-file').count()) === 1)
  const before = mock.requests.filter(request => request.endsWith('/changes/looked')).length
  await page.reload()
  await files(page).waitFor()
  await until(
    'a reload counts as well',
    () => mock.requests.filter(request => request.endsWith('/changes/looked')).length > before,
  )
})
