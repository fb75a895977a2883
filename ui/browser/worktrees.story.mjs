// Worktrees on the page: the switch of the form, the set-up while it runs and when it fails, the branch below the title, the way
// back with its conflicts, and the removal that says first what would be lost.

import { addWorktree } from '../mock/worktrees.mjs'
import { check, equal, openSession, story, until } from './harness.mjs'

const form = page => page.getByRole('dialog', { name: 'New session in api' })
const worktree = (page, branch) => page.getByRole('dialog', { name: `Worktree ${branch}` })
const theSwitch = page => form(page).getByRole('switch', { name: /In a worktree of its own/ })

async function openForm(page) {
  await page.getByRole('button', { name: 'More in api' }).click()
  await page.getByRole('menuitem', { name: /^New session…/ }).click()
  await form(page).waitFor()
}

story(
  'a new session works in a worktree of its own: one switch, off at first and remembered',
  'mock',
  async stage => {
    const mock = await stage.mock()
    const page = await stage.page(mock.url)
    await openForm(page)
    equal(await theSwitch(page).isChecked(), false, 'it is on at first')
    equal(await form(page).getByRole('textbox', { name: 'Branch' }).count(), 0, 'a branch without a worktree')
    await theSwitch(page).check()
    const branch = form(page).getByRole('textbox', { name: 'Branch' })
    check(/^work\/\d{4}-\d{6}$/.test(await branch.inputValue()), 'no branch is proposed')
    await stage.axe(page, 'the form')
    await branch.fill('feature/retry')
    let goOn
    const said = new Promise(resolve => {
      mock.state.setUp = {
        lines: ['added 412 packages'],
        go: () =>
          new Promise(go => {
            goOn = go
            resolve()
          }),
      }
    })
    await page.keyboard.press('Enter')
    await said
    // While it runs.
    await form(page).getByText('Set-up runs').waitFor()
    await form(page).getByText('added 412 packages').waitFor()
    goOn()
    await form(page).waitFor({ state: 'detached' })
    await page.locator('.tab.active .branch-name', { hasText: 'feature/retry' }).waitFor()
    // Below its repository's project, and no stranger beside it.
    const section = page.getByRole('region', { name: 'api', exact: true })
    await section.locator('.session .branch-name', { hasText: 'feature/retry' }).waitFor()
    equal(await page.getByRole('region', { name: 'feature-retry' }).count(), 0, 'it is a project of its own')
    // After it ran.
    await section.getByRole('button', { name: /^More about New session/ }).click()
    await page.getByRole('menuitem', { name: /Bring back or remove/ }).click()
    await worktree(page, 'feature/retry').getByText('Set-up', { exact: true }).click()
    await worktree(page, 'feature/retry').getByText('added 412 packages').waitFor()
    await page.keyboard.press('Escape')
    // Remembered: the plus asks first from now on, over a reload too, and the switch is on.
    await page.reload()
    await page.getByRole('button', { name: 'New Claude Code session in api' }).click()
    await form(page).waitFor()
    equal(await theSwitch(page).isChecked(), true, 'it was forgotten')
    await theSwitch(page).focus()
    await page.keyboard.press('Space')
    await form(page).getByRole('button', { name: 'Start' }).click()
    await form(page).waitFor({ state: 'detached' })
    await until('the session is there', async () => (await page.locator('.tab').count()) === 2)
    equal(await page.locator('.tab.active .branch-name').count(), 0, 'it is in a worktree all the same')
  },
)

story(
  'a set-up that fails is told, and the person decides what becomes of the worktree',
  'mock',
  async stage => {
    const mock = await stage.mock()
    mock.state.setUp = { lines: ['npm error ERESOLVE could not resolve'], ok: false }
    const page = await stage.page(mock.url)
    await openForm(page)
    await theSwitch(page).check()
    await form(page).getByRole('textbox', { name: 'Branch' }).fill('feature/a')
    await form(page).getByRole('button', { name: 'Start' }).click()
    await form(page).getByText('Set-up failed').waitFor()
    await form(page).getByText('ERESOLVE').waitFor()
    equal(await page.locator('.tab').count(), 0, 'a session was started')
    await form(page).getByRole('button', { name: 'Remove the worktree' }).click()
    await form(page).waitFor({ state: 'detached' })
    check(
      mock.requests.some(request => request.startsWith('DELETE /api/project/p-api/worktree/feature-a')),
      'it stays',
    )
  },
)

story(
  'a worktree comes back with its conflicts shown, and is not removed without a second word',
  'mock',
  async stage => {
    const mock = await stage.mock()
    addWorktree(mock.state, 'feature/retry', { title: 'retry the login' })
    mock.state.conflicts = ['src/login.ts', 'src/routes.ts']
    mock.state.lost = { uncommitted: ['src/keys.ts'], commits: ['abc', 'def'] }
    const page = await stage.page(mock.url)
    await openSession(page, 'retry the login')
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('bring this worktree')
    await page.keyboard.press('Enter')
    const dialog = worktree(page, 'feature/retry')
    await dialog.getByRole('option', { name: 'main' }).waitFor({ state: 'attached' })
    equal(await dialog.getByLabel('Onto the branch').inputValue(), 'main')
    await stage.axe(page, 'the worktree')
    await dialog.getByRole('button', { name: 'Bring back' }).click()
    await dialog.getByText('both sides have changed the same places').waitFor()
    for (const path of mock.state.conflicts) await dialog.getByText(path).waitFor()
    await dialog.getByRole('button', { name: 'Remove…' }).click()
    await dialog
      .getByText('This would be lost: 1 file not committed (src/keys.ts) and 2 commits on no other branch.')
      .waitFor()
    await dialog.getByRole('button', { name: 'Keep it' }).click()
    mock.state.conflicts = undefined
    await dialog.getByRole('radio', { name: /^Squash/ }).check()
    await dialog.getByRole('button', { name: 'Bring back' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText(/^Brought back/).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('bring this worktree')
    await page.keyboard.press('Enter')
    await dialog.getByRole('button', { name: 'Remove…' }).click()
    await dialog.getByRole('button', { name: 'Remove it all the same' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('chartroom checkpoint restore 0123456789ab --force').waitFor()
    await until('its tab is closed', async () => (await page.locator('.tab').count()) === 0)
  },
)

story('in a folder that is not trusted the form says so in words', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url, { width: 390, height: 844, hasTouch: true })
  await page.getByRole('button', { name: 'Show or hide the sidebar' }).tap()
  await page.getByRole('button', { name: 'More in web' }).tap()
  await page.getByRole('menuitem', { name: /^New session…/ }).tap()
  const dialog = page.getByRole('dialog', { name: 'New session in web' })
  await dialog.getByText('This folder is not trusted').waitFor()
  check(await dialog.getByRole('button', { name: 'Start' }).isDisabled(), 'it could be started')
  await dialog.getByRole('button', { name: 'Trust this folder…' }).tap()
  await page.getByRole('button', { name: 'Trust this folder', exact: true }).tap()
  await dialog.waitFor()
  check(
    await dialog.getByRole('button', { name: 'Start' }).isEnabled(),
    'it is trusted and cannot be started',
  )
})

story(
  'on a phone a session starts in a worktree, and its work comes back, with a thumb',
  'mock',
  async stage => {
    const mock = await stage.mock()
    const page = await stage.page(mock.url, { width: 390, height: 844, hasTouch: true })
    const sidebar = page.getByRole('button', { name: 'Show or hide the sidebar' })
    await sidebar.tap()
    await page.getByRole('button', { name: 'More in api' }).tap()
    await page.getByRole('menuitem', { name: /^New session…/ }).tap()
    await form(page).waitFor()
    await theSwitch(page).check()
    await form(page).getByRole('textbox', { name: 'Branch' }).fill('feature/thumb')
    await stage.axe(page, 'the form on a phone')
    const begin = form(page).getByRole('button', { name: 'Start' })
    check((await begin.boundingBox()).height >= 44, 'too small for a finger')
    await begin.tap()
    await form(page).waitFor({ state: 'detached' })
    await page.locator('.branch-name', { hasText: 'feature/thumb' }).first().waitFor()
    equal(
      await page.evaluate(() => document.documentElement.scrollWidth),
      390,
      'the page is wider than the phone',
    )
    if (!(await page.getByRole('button', { name: /^More about New session/ }).isVisible()))
      await sidebar.tap()
    await page.getByRole('button', { name: /^More about New session/ }).tap()
    await page.getByRole('menuitem', { name: /Bring back or remove/ }).tap()
    const box = await worktree(page, 'feature/thumb').boundingBox()
    check(
      box.x >= 0 && box.x + box.width <= 390,
      `the dialog is wider than the phone: ${JSON.stringify(box)}`,
    )
    await stage.axe(page, 'the worktree on a phone')
  },
)
