// The file on the desk: found, read in colours, followed by the real TypeScript, blamed on the real git; large, binary, on a phone.

import { execFileSync } from 'node:child_process'
import { symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { check, equal, mainThread, send, start, story, TOOLS, until } from './harness.mjs'

const LSP = '[lsp]\nfirstTouchTimeout = 120000\ndiagnosticTimeout = 60000'
const FILES = {
  'package.json': '{"name":"shop"}\n',
  'tsconfig.json': '{"compilerOptions":{"strict":true,"types":[]},"include":["src"]}\n',
  'src/price.ts': '// What things cost.\nexport function price(n: number): number {\n  return n * 2\n}\n',
  'src/shop.ts': "import { price } from './price'\n\nexport const total = price(1) + price(2)\n",
  'long.log': Array.from({ length: 100_000 }, (_, n) => `line ${n + 1}\n`).join(''),
}

async function prepare(at) {
  for (const [name, text] of Object.entries(FILES)) await writeFile(path.join(at.project, name), text)
  await writeFile(path.join(at.project, 'picture.png'), Buffer.from('89504e470d0a1a0a0000', 'hex'))
  await symlink(path.join(TOOLS, 'ts7/node_modules'), path.join(at.project, 'node_modules'))
  const git = (...args) =>
    execFileSync('git', ['-c', 'user.name=An Author', '-c', 'user.email=a@example.com', ...args], {
      cwd: at.project,
    })
  git('init', '--quiet')
  git('add', 'src')
  git('commit', '--quiet', '--message', 'prices')
}

/** Opens a file by a part of its name. */
async function open(page, words) {
  await page.getByRole('searchbox', { name: 'Open a file' }).fill(words)
  await page.locator('.file-found li').first().waitFor()
  await until('the best match is first', async () =>
    (await page.locator('.file-found li').first().innerText()).replaceAll('\n', '').includes(words),
  )
  await page.keyboard.press('Enter')
}

const row = (page, line) =>
  page.locator('.code-row', { has: page.locator(`.code-text[data-line="${line - 1}"]`) })

story('a file is opened, read, followed to a definition and back, and blamed', 'real', async stage => {
  const real = await stage.real({ lsp: LSP, prepare, codex: false })
  const page = await stage.page(real.url)
  await start(page)
  await page.keyboard.press('Control+Shift+E')
  await open(page, 'shop.ts')
  await row(page, 3).locator('.hljs-keyword', { hasText: 'const' }).waitFor()

  await row(page, 3)
    .locator('.code-text')
    .click({ position: { x: 175, y: 9 } })
  await page.locator('.file-foot code', { hasText: 'price' }).waitFor()
  await page.getByRole('button', { name: 'Definition', exact: true }).click()
  await page.locator('.file-title', { hasText: 'price.ts' }).waitFor()
  await page.locator('.code-row.here', { hasText: 'export function price' }).waitFor()
  await page.getByRole('button', { name: 'Back', exact: true }).click()
  await page.locator('.file-title', { hasText: 'shop.ts' }).waitFor()

  await row(page, 3)
    .locator('.code-text')
    .click({ position: { x: 175, y: 9 } })
  await page.getByRole('button', { name: 'References' }).click()
  const places = page.getByRole('complementary', { name: 'Places' })
  await until('every use is listed', async () => (await places.locator('li').count()) >= 4)
  await places.locator('li', { hasText: 'price.ts' }).first().click()
  await page.locator('.file-title', { hasText: 'price.ts' }).waitFor()

  await page.getByRole('button', { name: 'Blame' }).click()
  await page.locator('.code-blame', { hasText: 'An Author' }).waitFor()
  equal(await page.locator('.code-blame').first().getAttribute('title'), 'prices')
  await stage.axe(page, 'a file')
  await page.reload()
  await page.getByRole('searchbox', { name: 'Open a file' }).waitFor()
})

story('a file of 100,000 lines scrolls, and what is no text is told', 'real', async stage => {
  const real = await stage.real({ prepare, codex: false })
  const page = await stage.page(real.url)
  await start(page)
  await page.keyboard.press('Control+Shift+E')
  const read = await mainThread(page)
  await open(page, 'long.log')
  await row(page, 1).waitFor()
  const view = page.locator('.code-view')
  await view.evaluate(view => view.scrollTo(0, view.scrollHeight))
  await row(page, 100_000).getByText('line 100000').waitFor()
  const { ms } = await read()
  check((await page.locator('.code-row').count()) < 200, 'only the rows that are seen are in the page')
  await open(page, 'picture.png')
  await page.getByText(/A picture of 10/).waitFor()
  return `100,000 lines took ${ms} ms of the page's main thread`
})

story('a place in the conversation opens its file at its line, on a phone', 'real', async stage => {
  const real = await stage.real({ prepare, codex: false })
  const page = await stage.page(real.url, { width: 390, height: 780, hasTouch: true, isMobile: true })
  await page.getByRole('button', { name: 'Show or hide the sidebar' }).tap()
  await start(page)
  await real.model.keep('place', [{ text: 'Look at src/price.ts:2 first.' }])
  await send(page, '[[answer:place]]')
  await page.locator('.message.agent a.place', { hasText: 'src/price.ts:2' }).tap()
  await page.getByRole('dialog').getByRole('button', { name: 'Open the file' }).tap()
  await page.locator('.code-row.here', { hasText: 'export function price' }).waitFor()
  const wide = await page.evaluate(() => document.documentElement.scrollWidth)
  check(wide <= 390, `nothing is wider than the phone: ${wide}`)
})
