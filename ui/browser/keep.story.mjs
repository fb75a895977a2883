// Keep or undo on the page: staging, reverting, the commit form, branches, push, and what can be undone after a reload.

import { check, equal, openSession, story, until } from './harness.mjs'

const view = page => page.getByRole('group', { name: 'Changes', exact: true })
const files = page => view(page).getByRole('navigation', { name: 'Changed files' })
const diff = page => view(page).getByRole('region', { name: 'Difference' })
const row = (page, name) => files(page).getByRole('button', { name })
const bar = page => view(page).getByRole('toolbar', { name: 'Keep or undo' })
const form = page => view(page).getByRole('form', { name: 'Commit' })
const said = page => view(page).getByRole('region', { name: 'What git said' })
const message = page => form(page).getByRole('textbox', { name: 'Commit message' })
const asked = mock => mock.state.git.asked.filter(([what]) => what !== 'staged')

async function openChanges(stage, mock, scope, options) {
  const page = await stage.page(mock.url, options)
  if (options?.width <= 600) await page.getByRole('button', { name: 'Show or hide the sidebar' }).click()
  await openSession(page, 'port the parser')
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  await page.keyboard.press('Control+Shift+D')
  await files(page).waitFor()
  if (scope) {
    await view(page)
      .getByRole('button', { name: /^Compared:/ })
      .click()
    await page.getByRole('menuitemradio', { name: scope }).click()
    await view(page)
      .getByRole('button', { name: `Compared: ${scope}` })
      .waitFor()
  }
  return page
}

story(
  'hunks and files are staged, unstaged and reverted, and what was reverted comes back after a reload',
  'mock',
  async stage => {
    const mock = await stage.mock()
    const page = await openChanges(stage, mock, 'Uncommitted')
    await row(page, /login\.ts/)
      .first()
      .click()
    await diff(page).getByRole('button', { name: 'Stage this part of src/login.ts' }).first().click()
    await diff(page).getByRole('button', { name: 'Unstage this part of src/login.ts' }).waitFor()
    await row(page, /login\.ts.*partly staged/)
      .first()
      .waitFor()
    const [what, { patch }] = asked(mock).at(-1)
    equal(what, 'stage')
    equal(patch.split('\n').slice(0, 3), ['--- a/src/login.ts', '+++ b/src/login.ts', '@@ -1,9 +1,10 @@'])
    check(!patch.includes('@@ -40'), 'the other hunk went along')
    await diff(page).getByRole('button', { name: 'Unstage this part of src/login.ts' }).click()
    await diff(page).getByRole('button', { name: 'Stage this part of src/login.ts' }).first().waitFor()

    await diff(page).getByRole('button', { name: 'Stage src/login.ts', exact: true }).click()
    await row(page, /login\.ts.*staged/)
      .first()
      .waitFor()
    await stage.axe(page, 'the changes with something staged')
    await diff(page).getByRole('button', { name: 'Unstage src/login.ts', exact: true }).click()
    await diff(page).getByRole('button', { name: 'Revert src/login.ts', exact: true }).click()
    equal(asked(mock).at(-1), ['revert', { paths: ['src/login.ts'] }])
    await until('the file is gone from the list', async () => (await row(page, /login\.ts/).count()) === 0)
    await view(page).getByText('Reverted src/login.ts').waitFor()
    await page.reload()
    await view(page).getByRole('button', { name: 'Undo: reverted src/login.ts' }).waitFor()
    // The key does the same as the button.
    await view(page).focus()
    await page.keyboard.press('u')
    await row(page, /login\.ts/)
      .first()
      .waitFor()
    await said(page).getByText('Undone: reverted src/login.ts').waitFor()
  },
)

story('a turn is reverted as a whole, and what does not fit is told', 'mock', async stage => {
  const mock = await stage.mock()
  mock.state.turns = ['t-1', 't-2']
  const page = await openChanges(stage, mock, 'This turn')
  mock.state.git.refuses = 'error: patch failed: src/login.ts:3'
  await bar(page).getByRole('button', { name: 'Revert this turn' }).click()
  await said(page).getByText('src/login.ts is not reverted').waitFor()
  await said(page).getByText('patch failed').waitFor()
  const [, params] = asked(mock).at(-1)
  equal(params.turn.turn, 't-2', 'another turn would be reverted')
  check(params.paths.includes('src/login.ts'), 'the file is not named')
  mock.state.git.refuses = undefined
  await said(page).getByRole('button', { name: 'Dismiss what git said' }).click()
  await diff(page).getByRole('button', { name: 'Revert this part of src/login.ts' }).first().click()
  await view(page).getByText('Reverted a part of a file').waitFor()
})

story(
  'a hook that refuses is shown and costs no word of the message; the agent proposes one',
  'mock',
  async stage => {
    const mock = await stage.mock()
    const page = await openChanges(stage, mock, 'Uncommitted')
    await bar(page).getByRole('button', { name: 'Stage all' }).click()
    await bar(page)
      .getByRole('button', { name: /^Commit 6 files/ })
      .click()
    await message(page).fill('port the login\n\nbecause')
    mock.state.git.hook = 'lint: 2 problems'
    await page.keyboard.press('Control+Enter')
    await said(page).getByText('Not committed').waitFor()
    await said(page).getByText('lint: 2 problems').waitFor()
    equal(await message(page).inputValue(), 'port the login\n\nbecause', 'the message is lost')
    await stage.axe(page, 'the commit form')
    await page.reload()
    await bar(page)
      .getByRole('button', { name: /^Commit/ })
      .click()
    equal(await message(page).inputValue(), 'port the login\n\nbecause', 'a reload loses the message')

    await form(page).getByRole('button', { name: 'Propose a message' }).click()
    await page.getByRole('article', { name: 'You' }).filter({ hasText: 'Propose a commit message' }).waitFor()
    // What was written is not written over.
    await form(page).getByRole('button', { name: 'Use this message' }).click()
    const proposed = await message(page).inputValue()
    check(proposed !== '' && proposed !== 'port the login\n\nbecause', 'nothing was proposed')
    mock.state.git.hook = undefined
    await form(page).getByRole('button', { name: 'Commit', exact: true }).click()
    await form(page).waitFor({ state: 'detached' })
    equal(asked(mock).at(-1)[1].message, proposed)
    await said(page).getByText('the hook is content').waitFor()
    await view(page)
      .getByText(/^No file differs/)
      .waitFor()
    await bar(page).getByRole('button', { name: 'Push 1 commit' }).click()
    await said(page).getByText('work -> work').waitFor()
    await bar(page).getByRole('button', { name: 'Pull request' }).click()
    const link = said(page).getByRole('link', { name: 'Make it on the forge’s page' })
    equal(await link.getAttribute('href'), 'https://forge.example/compare/work')
  },
)

story('branches are switched and made, and a merge that is not finished is shown', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await openChanges(stage, mock, 'Uncommitted')
  await bar(page).getByRole('button', { name: 'Branch: work' }).click()
  await page.getByRole('menuitemradio', { name: 'main' }).click()
  await bar(page).getByRole('button', { name: 'Branch: main' }).click()
  await page.getByRole('menuitem', { name: 'New branch…' }).click()
  await bar(page).getByRole('textbox', { name: 'Name of the new branch' }).fill('retry')
  await page.keyboard.press('Enter')
  await bar(page).getByRole('button', { name: 'Branch: retry' }).waitFor()
  equal(asked(mock).at(-1), ['switch', { branch: 'retry', create: true }])
  mock.state.git.inProgress = 'merge'
  mock.state.git.conflicts = ['src/login.ts']
  await view(page).getByRole('button', { name: 'Look at the files again' }).click()
  await view(page)
    .getByText(/A merge is not finished.*In conflict: src\/login\.ts/)
    .waitFor()
  await row(page, /login\.ts.*in conflict/)
    .first()
    .click()
  check(
    (await diff(page).getByRole('button', { name: 'Revert src/login.ts', exact: true }).count()) === 0,
    'a conflict can be reverted',
  )
})

story('in a folder that is not trusted there are words and no buttons', 'mock', async stage => {
  const mock = await stage.mock()
  mock.state.projects[0].trusted = false
  const page = await openChanges(stage, mock, 'Uncommitted')
  await view(page).getByText('This folder is not trusted').waitFor()
  equal(await bar(page).count(), 0)
  equal(
    await view(page)
      .getByRole('button', { name: /^(Stage|Revert|Commit)/ })
      .count(),
    0,
  )
})

story('on a phone everything is reached with a thumb', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await openChanges(stage, mock, 'Uncommitted', { width: 390, height: 844, hasTouch: true })
  const commit = bar(page).getByRole('button', { name: /^Commit/ })
  check((await commit.boundingBox()).height >= 44, 'the word is too small for a finger')
  await commit.tap()
  await message(page).fill('from the sofa')
  await form(page).getByRole('checkbox', { name: 'Stage everything' }).check()
  equal(
    await page.evaluate(() => document.documentElement.scrollWidth),
    390,
    'the page is wider than the phone',
  )
  await stage.axe(page, 'the commit form on a phone')
  await form(page).getByRole('button', { name: 'Commit', exact: true }).tap()
  await said(page)
    .getByText(/^Committed/)
    .waitFor()
  await view(page).getByRole('button', { name: 'Undo: committed “from the sofa”' }).tap()
  await row(page, /login\.ts/)
    .first()
    .tap()
  await diff(page).getByRole('button', { name: 'Revert src/login.ts', exact: true }).tap()
  await view(page).getByRole('button', { name: 'Undo: reverted src/login.ts' }).waitFor()
})
