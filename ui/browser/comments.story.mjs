// Comments on changed lines: written beside them, kept, and sent to the agent as one message.

import { check, equal, openSession, story, until } from './harness.mjs'

const view = page => page.getByRole('group', { name: 'Changes', exact: true })
const row = (page, name) => view(page).getByRole('navigation').getByRole('button', { name })
const diff = page => view(page).getByRole('region', { name: 'Difference' })
const field = page => page.getByRole('textbox', { name: 'Comment for the agent' })

async function openLogin(page) {
  await openSession(page, 'make the login retry')
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  if ((await view(page).count()) === 0) await page.keyboard.press('Control+Shift+D')
  await row(page, /login\.ts/).click()
  await diff(page).getByText('const retries = 1').waitFor()
}

story(
  'comments on lines are gathered, survive a reload, and go to the agent as one message',
  'mock',
  async stage => {
    const mock = await stage.mock()
    const page = await stage.page(mock.url)
    await openLogin(page)
    // With the keyboard: on the first change.
    await page.keyboard.press('n')
    await page.keyboard.press('c')
    await field(page).fill('why was it 0?')
    await page.keyboard.press('Enter')
    await diff(page).getByRole('article', { name: 'Comment on src/login.ts:3 (before the change)' }).waitFor()
    // With the pointer: two lines of the second.
    await diff(page).getByRole('button', { name: 'Line 7', exact: true }).last().click()
    await diff(page)
      .getByRole('button', { name: 'Line 8', exact: true })
      .first()
      .click({ modifiers: ['Shift'] })
    await diff(page).getByRole('button', { name: 'Comment', exact: true }).click()
    await field(page).fill('return it at once')
    await diff(page).getByRole('button', { name: 'Add comment' }).click()
    await diff(page).getByRole('article', { name: 'Comment on src/login.ts:7-8' }).waitFor()
    await stage.axe(page, 'the comments')
    await page.reload()
    await row(page, /login\.ts/).click()
    await diff(page)
      .getByRole('article', { name: 'Comment on src/login.ts:7-8' })
      .getByText('not sent yet')
      .waitFor()
    await view(page).getByText('2 comments').waitFor()
    await view(page).getByRole('button', { name: 'Send to the agent' }).click()
    await diff(page)
      .getByRole('article', { name: 'Comment on src/login.ts:7-8' })
      .getByText('sent', { exact: true })
      .waitFor()
    const sent = page.getByRole('article', { name: 'You' }).filter({ hasText: '2 comments on your changes' })
    await sent.getByText('> const answer = await ask(name, secret, { retries })').waitFor()
    equal(await view(page).locator('.comment-tray').count(), 0, 'the tray still holds them')
    await until('the server has kept that they were sent', () =>
      [...mock.state.reviews.values()].some(review =>
        review.comments.every(comment => comment.state === 'sent'),
      ),
    )
    await diff(page).getByRole('button', { name: 'Resolve' }).first().click()
    await diff(page).getByText('resolved', { exact: true }).waitFor()
  },
)

story('a file that was viewed is marked until it changes again', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await openLogin(page)
  await page.keyboard.press('v')
  await row(page, /login\.ts viewed/).waitFor()
  check((await row(page, /names\.ts/).getAttribute('aria-current')) === 'true', 'the next file is not shown')
  await page.reload()
  await row(page, /login\.ts viewed/).waitFor()
  mock.state.changes = [
    {
      path: 'src/login.ts',
      status: 'modified',
      added: 1,
      removed: 0,
      binary: false,
      before: { id: 'before src/login.ts', mode: '100644' },
      after: { id: 'another', mode: '100644' },
    },
  ]
  await view(page).getByRole('button', { name: 'Look at the files again' }).click()
  await until('the list is new', async () => (await view(page).locator('.changed-file').count()) === 1)
  equal(await view(page).locator('.changed-file.viewed').count(), 0, 'the mark is still there')
})

story('on a phone a line is tapped and commented', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url, { width: 390, height: 844, hasTouch: true })
  await page.getByRole('button', { name: 'Show or hide the sidebar' }).click()
  await openSession(page, 'make the login retry')
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  await page.keyboard.press('Control+Shift+D')
  await row(page, /login\.ts/).tap()
  await diff(page).getByText('const retries = 1').waitFor()
  await diff(page).getByRole('button', { name: 'Line 3', exact: true }).last().tap()
  await diff(page).getByRole('button', { name: 'Comment', exact: true }).tap()
  await field(page).fill('read it from the config')
  await diff(page).getByRole('button', { name: 'Add comment' }).tap()
  await diff(page).getByText('not sent yet').waitFor()
  equal(
    await page.evaluate(() => document.documentElement.scrollWidth),
    390,
    'the page is wider than the phone',
  )
  const name = await diff(page).locator('.file-diff-name').boundingBox()
  check(name.width > 250, `the file's name has no room: ${name.width}`)
  await view(page).getByRole('button', { name: 'Send to the agent' }).tap()
  await diff(page).getByText('sent', { exact: true }).waitFor()
})
