// The terminal on the desk: a real shell on a real server, typed into, flooded, reloaded, ended and killed.

import { check, equal, mainThread, start, story, until } from './harness.mjs'

const SHELL = { env: { SHELL: '/bin/bash' } }

/** What is on the screen. */
const screen = page => page.locator('.shell-rows').innerText()

async function shows(page, words) {
  await until(`the terminal shows ${words}`, async () => (await screen(page)).includes(words))
}

/** Opens the terminal of a new session and waits for its prompt. */
async function open(page) {
  await start(page)
  await page.keyboard.press('Control+Shift+X')
  await page.locator('.shell').waitFor()
  await until('there is a prompt', async () => /[$#] ?$/.test((await screen(page)).trimEnd()))
}

async function run(page, line) {
  await page.keyboard.type(line)
  await page.keyboard.press('Enter')
}

story('a terminal is typed into, resized, flooded, interrupted and closed', 'real', async stage => {
  const real = await stage.real(SHELL)
  const page = await stage.page(real.url)
  await open(page)
  await run(page, "echo he''re $(pwd) $TERM")
  await shows(page, `here ${real.project} xterm-256color`)
  // The letters of the page's own keys are the shell's here: Ctrl-U takes the line away.
  await page.keyboard.type('this is not run')
  await page.keyboard.press('Control+u')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Enter')
  await until('the last command ran again', async () => (await screen(page)).split('here /').length > 2)

  await run(page, "clear; echo si''ze $(stty size)")
  await shows(page, 'size ')
  const columns = async () => Number(/size \d+ (\d+)/.exec(await screen(page))?.[1])
  const before = await columns()
  await page.setViewportSize({ width: 1700, height: 900 })
  await until('the shell has more columns', async () => {
    await run(page, "clear; echo si''ze $(stty size)")
    await shows(page, 'size ')
    return (await columns()) > before
  })

  await run(
    page,
    "printf '\\033[31mred\\033[0m \\033[1mbold\\033[0m\\n'; clear; printf '\\033[31mre''d\\033[0m\\n'",
  )
  await page.locator('.shell-rows .fg1', { hasText: 'red' }).waitFor()

  const read = await mainThread(page)
  await run(page, "yes | head -200000 | cat -n; echo en''ded")
  await shows(page, 'ended')
  const flood = await read()
  check((await screen(page)).includes('200000'), 'the last line is there')
  equal(
    (await page.locator('.shell-rows > div').count()) < 120,
    true,
    'only the rows that are seen are in the page',
  )

  await run(page, 'yes')
  await until('it floods', async () => /^y$/m.test(await screen(page)))
  await page.keyboard.press('Control+c')
  await run(page, "clear; echo aft''er")
  await shows(page, 'after')

  await stage.axe(page, 'the terminal')
  await run(page, 'exit 3')
  await page.locator('.terminal-note', { hasText: 'bash exited with status 3' }).waitFor()
  await page.getByRole('button', { name: 'Close bash 1' }).click()
  await page.getByText('There is no terminal here.').waitFor()
  await page.getByRole('button', { name: 'New terminal' }).click()
  await page.locator('.shell').waitFor()
  return `200,000 lines took ${flood.ms} ms of the page's main thread`
})

story(
  'a terminal survives a reload and ends with its server, with all that runs in it',
  'real',
  async stage => {
    const real = await stage.real(SHELL)
    const page = await stage.page(real.url)
    await open(page)
    await run(page, "cd src; echo be''fore; sleep 1000 & echo pid''=$!=")
    await shows(page, 'pid=')
    const pid = Number(/pid=(\d+)=/.exec(await screen(page))[1])
    await page.reload()
    await page.locator('.shell').waitFor()
    await shows(page, 'before')
    await page.locator('.shell-view').click()
    await run(page, "echo st''ill in $(basename $PWD)")
    await shows(page, 'still in src')
    equal(await page.getByRole('button', { name: /^Close bash/ }).count(), 1, 'it is the same one')
    process.kill(pid, 0)
    await real.crash()
    await until('what ran in it is gone', () => {
      try {
        process.kill(pid, 0)
        return false
      } catch {
        return true
      }
    })
    await page.locator('.terminal-note', { hasText: 'connection is lost' }).waitFor()
    await real.start()
    await page.locator('.terminal-note', { hasText: 'This terminal was closed.' }).waitFor()
  },
)

story('a terminal on a phone has the keys that the keyboard lacks', 'real', async stage => {
  const real = await stage.real(SHELL)
  const page = await stage.page(real.url)
  await open(page)
  // Short, so that no line is broken at the width of a phone.
  await run(page, "clear; PS1='$ '")
  const state = await page.context().storageState()
  const phone = await stage.page(new URL(page.url()).href, {
    width: 390,
    height: 780,
    hasTouch: true,
    isMobile: true,
    storageState: state,
  })
  // The same terminal, seen from elsewhere: the desk is open there as it is here.
  await phone.locator('.shell').waitFor()
  await phone.locator('.shell-view').tap()
  await phone.keyboard.insertText('yes')
  await phone.keyboard.press('Enter')
  await until('the other page sees it', async () => /^y$/m.test(await screen(page)))
  await phone.getByRole('button', { name: 'Ctrl' }).tap()
  await phone.keyboard.insertText('c')
  await phone.keyboard.insertText("echo fr''ee")
  await phone.keyboard.press('Enter')
  await shows(phone, 'free')
  await phone.getByRole('button', { name: '↑' }).tap()
  await until('the line before is back', async () => (await screen(phone)).trimEnd().endsWith("echo fr''ee"))
  const wide = await phone.evaluate(() => document.documentElement.scrollWidth)
  check(wide <= 390, `nothing is wider than the phone: ${wide}`)
})
