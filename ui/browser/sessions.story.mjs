// Sessions in the sidebar: named anew, put away and taken out again, by pointer and by keys, seen from elsewhere too.

import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import * as recorded from '../mock/recorded.mjs'
import { writeClaudeSession } from './claudeFile.mjs'
import { check, equal, idle, openFound, send, start, story, until } from './harness.mjs'

/** A session with a title of its own. */
async function talk(page, words) {
  await start(page)
  await send(page, words)
  await page.locator('.message.agent').waitFor()
  await idle(page)
}

const listed = page => page.locator('.sidebar .session .ellipsis').allInnerTexts()

story(
  'a session is renamed from its menu, by F2 and from the palette, and keeps its name',
  'real',
  async stage => {
    const real = await stage.real()
    const page = await stage.page(real.url)
    await talk(page, 'fix the login')
    const dialog = page.getByRole('dialog', { name: 'Rename this session' })

    await page.locator('.session-row').hover()
    await page.getByRole('button', { name: 'More about fix the login' }).click()
    await page.getByRole('menuitem', { name: /Rename/ }).click()
    await dialog.waitFor()
    equal(await dialog.getByLabel('Name').inputValue(), 'fix the login')
    // The old name is selected: typing replaces it.
    await page.keyboard.type('login, second try')
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    await page.locator('.tab.active', { hasText: 'login, second try' }).waitFor()
    equal(await listed(page), ['login, second try'])

    await page.locator('.sidebar .session').focus()
    await page.keyboard.press('F2')
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    equal(await listed(page), ['login, second try'], 'Escape changes nothing')
    await page.keyboard.press('Control+k')
    await page.keyboard.type('rename')
    await page.keyboard.press('Enter')
    await dialog.waitFor()
    await page.keyboard.type('login, done')
    await page.keyboard.press('Enter')
    await page.locator('.tab.active', { hasText: 'login, done' }).waitFor()

    // A second browser hears of it; a new start of the server remembers it.
    const state = await page.context().storageState()
    const two = await stage.page(new URL('/', real.url).href, { storageState: state })
    await two.locator('.session', { hasText: 'login, done' }).waitFor()
    await real.crash()
    await real.start()
    const again = await stage.page(real.url)
    await again.locator('.session', { hasText: 'login, done' }).waitFor()
  },
)

story(
  'a session is archived, put back at once, archived again and found under its project',
  'real',
  async stage => {
    const real = await stage.real()
    const page = await stage.page(real.url)
    await talk(page, 'the one to keep')
    await talk(page, 'the one to put away')
    equal(await listed(page), ['the one to put away', 'the one to keep'])

    // The menu also opens as a context menu.
    await page.locator('.session', { hasText: 'put away' }).click({ button: 'right' })
    await page.getByRole('menuitem', { name: /Archive/ }).click()
    await until('it is off the list', async () => (await listed(page)).join() === 'the one to keep')
    equal(await page.locator('.tab').count(), 1, 'its tab is closed with it')
    await page.getByRole('button', { name: 'Put back' }).click()
    await until('it is back', async () => (await listed(page)).length === 2)

    await page.locator('.session', { hasText: 'put away' }).click()
    await page.locator('.tab.active', { hasText: 'put away' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('archive this')
    await page.keyboard.press('Enter')
    await until('it is off the list', async () => (await listed(page)).join() === 'the one to keep')
    await page.reload()
    await page.locator('.session').waitFor()
    equal(await listed(page), ['the one to keep'], 'also after a reload')

    await page.getByRole('button', { name: 'More in project' }).click()
    await page.getByRole('menuitem', { name: /Show archived/ }).click()
    await page.getByRole('button', { name: /Archived/ }).click()
    await page.locator('.session', { hasText: 'put away' }).waitFor()
    await page.getByRole('button', { name: 'More about the one to put away' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Put back' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.locator('.found', { hasText: 'Archived' }).waitFor({ state: 'detached' })
    await page.locator('.session', { hasText: 'put away' }).click()
    await page.locator('.message.user', { hasText: 'the one to put away' }).waitFor()
    check((await listed(page)).length === 2, 'both are listed again')
  },
)

story('a second browser follows what is done to sessions and projects in the first', 'real', async stage => {
  const real = await stage.real({
    prepare: async ({ home, project }) => {
      const other = path.join(path.dirname(project), 'other')
      await mkdir(other)
      const outside = conversation => writeClaudeSession({ home, project }, conversation)
      await outside(recorded.short('found', 'why is the build slow?', 'Two plug-ins run twice.'))
      const elsewhere = recorded.short('elsewhere', 'rename the user table', 'Done.')
      await writeClaudeSession({ home, project: other }, elsewhere)
    },
  })
  const one = await stage.page(real.url)
  await one.getByText('Nothing open').waitFor()
  const storageState = await one.context().storageState()
  const two = await stage.page(new URL('/', real.url).href, { storageState })
  await two.locator('.found').waitFor()
  const seen = async (what, titles) =>
    until(`the second browser sees ${what}`, async () => (await listed(two)).join() === titles.join())

  await talk(one, 'fix the login')
  await seen('a new session', ['fix the login'])
  equal(await two.locator('.tab').count(), 0, 'and opens nothing by itself')
  await one.locator('.tab-name').dblclick()
  await one.keyboard.type('login, second try')
  await one.keyboard.press('Enter')
  await seen('its new name', ['login, second try'])
  await one.keyboard.press('Control+k')
  await one.keyboard.type('archive this')
  await one.keyboard.press('Enter')
  await seen('that it is put away', [])
  await two.locator('.found', { hasText: 'Archived 1' }).waitFor()
  await one.getByRole('button', { name: 'Put back' }).click()
  await seen('that it is back', ['login, second try'])
  await openFound(one, 'why is the build slow')
  await seen('a found one that was opened', ['login, second try', 'why is the build slow?'])

  await one.getByRole('button', { name: 'Add a project' }).first().click()
  await one.getByLabel('Folder on this machine').fill(path.join(path.dirname(real.project), 'other'))
  await one.keyboard.press('Enter')
  const other = two.locator('.project', { hasText: 'other' })
  await other.getByText('untrusted').waitFor()
  await other.locator('.found', { hasText: 'Found 1' }).waitFor()
  await one.getByRole('button', { name: 'Trust this folder' }).click()
  await other.getByText('untrusted').waitFor({ state: 'detached' })
  await one.getByRole('button', { name: 'More in other' }).click()
  await one.getByRole('menuitem', { name: /Remove from the list/ }).click()
  await other.waitFor({ state: 'detached' })
})
