// The screens of the desk, for the pictures: what was changed, comments, the commit form, and the way back.

const view = page => page.getByRole('group', { name: 'Changes', exact: true })
const row = (page, name) => view(page).getByRole('navigation').getByRole('button', { name })

async function open(page, { go }) {
  await go('port the parser')
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  await page.keyboard.press('Control+Shift+D')
  await row(page, /login\.ts/)
    .first()
    .waitFor()
}

async function uncommitted(page) {
  await view(page)
    .getByRole('button', { name: /^Compared:/ })
    .click()
  await page.getByRole('menuitemradio', { name: 'Uncommitted' }).click()
  await view(page).getByRole('button', { name: 'Compared: Uncommitted' }).waitFor()
}

async function login(page) {
  await row(page, /login\.ts/)
    .first()
    .click()
  await view(page).getByText('const retries = 1').waitFor()
}

async function comment(page, size) {
  const line = view(page).getByRole('button', { name: 'Line 3', exact: true }).last()
  if (size === 'phone') await line.tap()
  else await line.click()
  await view(page).getByRole('button', { name: 'Comment', exact: true }).click()
  const field = page.getByRole('textbox', { name: 'Comment for the agent' })
  await field.fill('Once is right, but say where the number comes from.')
}

export const DESK_SCREENS = {
  changes: {
    run: async (page, around) => {
      await open(page, around)
      await uncommitted(page)
      await login(page)
      await view(page).getByRole('button', { name: 'Stage this part of src/login.ts' }).first().click()
      await view(page).getByRole('button', { name: 'Unstage this part of src/login.ts' }).waitFor()
    },
  },
  'changed-files': { run: open },
  comments: {
    run: async (page, around) => {
      await open(page, around)
      await login(page)
      await comment(page, around.size)
      await page.keyboard.press('Enter')
      await view(page).getByText('not sent yet').waitFor()
    },
  },
  commit: {
    run: async (page, around) => {
      around.mock.state.git = {
        branch: 'work',
        branches: ['main', 'work'],
        staged: new Map(),
        ahead: 2,
        hook: 'lint: src/login.ts:3 the number has no name\n1 problem',
      }
      await open(page, around)
      await uncommitted(page)
      await view(page).getByRole('button', { name: 'Stage all' }).click()
      await view(page)
        .getByRole('button', { name: /^Commit 6 files/ })
        .click()
      await page
        .getByRole('textbox', { name: 'Commit message' })
        .fill('login: try once more\n\nThe key may just have been renewed.')
      await page.keyboard.press('Control+Enter')
      await view(page).getByText('1 problem').waitFor()
    },
  },
  undo: {
    run: async (page, around) => {
      around.mock.state.git = {
        branch: 'work',
        branches: ['main', 'work'],
        staged: new Map(),
        ahead: 0,
        inProgress: 'merge',
        conflicts: ['src/names.ts'],
      }
      await open(page, around)
      await uncommitted(page)
      await login(page)
      await view(page).getByRole('button', { name: 'Revert src/login.ts', exact: true }).click()
      await view(page).getByText('Reverted src/login.ts').waitFor()
    },
  },
  rewind: {
    run: async (page, { go, size }) => {
      await go('make the login')
      const said = page.getByRole('article', { name: 'You' }).first()
      await said.waitFor()
      if (size !== 'phone') await said.hover()
      await said.getByRole('button', { name: 'Back to before this message' }).click()
      await page.getByRole('dialog').getByText('src/login.ts').waitFor()
    },
  },
}
