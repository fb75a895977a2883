// The page in daily hands: any width, the keyboard, and what a person types next.

import { check, equal, openSession, send, still, story, until } from './harness.mjs'

const question = page => page.getByRole('region', { name: 'The agent needs you' })
const message = page => page.getByRole('textbox', { name: 'Message' })
const focused = page => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '')

/** Whether a click in the middle of it reaches it: nothing lies above. */
const reachable = element =>
  element.evaluate(node => {
    const { left, top, width, height } = node.getBoundingClientRect()
    const hit = document.elementFromPoint(left + width / 2, top + height / 2)
    return hit !== null && node.contains(hit)
  })

story('at every width the buttons of a question and of the composer can be pressed', 'mock', async stage => {
  const mock = await stage.mock()
  for (const [width, height] of [
    [640, 450],
    [720, 450],
    [844, 390],
    [920, 700],
    [390, 844],
    [1440, 900],
  ]) {
    const page = await stage.page(mock.url, { width, height })
    if (width <= 600) await page.getByRole('button', { name: 'Show or hide the sidebar' }).click()
    await openSession(page, 'port the parser')
    await send(page, 'build it, with permission')
    await question(page).waitFor()
    check(
      await reachable(question(page).locator('.command-line').first()),
      `${width}×${height}: what is asked about is covered`,
    )
    for (const name of [/Allow once/, /Deny…/]) {
      const button = question(page).getByRole('button', { name })
      check(await reachable(button), `${width}×${height}: ${name} is not in sight`)
    }
    await message(page).fill('and a test')
    const buttons = [
      ...(await question(page).locator('.question-buttons button').all()),
      page.getByRole('button', { name: 'Queue the message' }),
    ]
    for (const button of buttons) {
      await button.scrollIntoViewIfNeeded()
      check(await reachable(button), `${width}×${height}: ${await button.innerText()} is covered`)
    }
    await message(page).fill('')
    await page.getByRole('button', { name: /Deny…/ }).click()
    await page.getByRole('button', { name: 'Deny', exact: true }).click()
    await question(page).waitFor({ state: 'detached' })
    await page.context().close()
  }
})

story('the inspector is a sheet where there is no room beside the conversation', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url, { width: 844, height: 600 })
  await openSession(page, 'port the parser')
  const inspector = page.getByRole('complementary', { name: 'Inspector' })
  equal(await inspector.count(), 0, 'it is closed at first')
  await page.getByRole('button', { name: 'Show or hide the inspector' }).click()
  await inspector.waitFor()
  await page.keyboard.press('Escape')
  await inspector.waitFor({ state: 'detached' })
  await page.setViewportSize({ width: 1440, height: 900 })
  await inspector.waitFor()
})

story('what is typed after an answer, a dialog or a click lands in the composer', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await openSession(page, 'port the parser')
  await message(page).waitFor()

  await send(page, 'build it, with permission')
  await question(page).waitFor()
  await page.getByRole('button', { name: /Allow once/ }).click()
  await question(page).waitFor({ state: 'detached' })
  await until('the composer has the focus', async () => (await focused(page)) === 'Message')

  await page.keyboard.press('F2')
  await page.getByRole('dialog').waitFor()
  await page.getByRole('textbox', { name: 'Name' }).fill('another name')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.locator('.tab', { hasText: 'another name' }).waitFor()
  await page.keyboard.type('first')
  equal(await message(page).inputValue(), 'first')

  await page.locator('.rows').click({ position: { x: 5, y: 5 } })
  await page.keyboard.type(', second')
  equal(await message(page).inputValue(), 'first, second')
})

story('what is typed the moment the palette closes is in the message', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await openSession(page, 'make the login')
  await message(page).waitFor()
  // A browser that gives back the focus without the caret does it every other time.
  for (let n = 0; n < 8; n++) {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('login')
    await page.getByRole('option').first().waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.type('words')
    equal(await message(page).inputValue(), 'words', `time ${n}`)
    await message(page).fill('')
  }
})

story('the first letters after a click on "New session" are in its message', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await openSession(page, 'port the parser')
  await message(page).waitFor()
  await message(page).fill('a draft')
  // The server takes its time.
  let opened = () => {}
  const gate = new Promise(resolve => {
    opened = resolve
  })
  await page.route('**/api/session/create', async route => {
    await gate
    await route.continue()
  })
  const before = await page.locator('.tab').count()
  await page.getByRole('button', { name: 'New session' }).first().click()
  await page.keyboard.type('he')
  opened()
  await until('the tab is open', async () => (await page.locator('.tab').count()) === before + 1)
  await until('the composer has the focus', async () => (await focused(page)) === 'Message')
  await page.keyboard.type('llo')
  await until('every letter is there', async () => (await message(page).inputValue()) === 'hello')
  await openSession(page, 'port the parser')
  await until('the draft is as it was', async () => (await message(page).inputValue()) === 'a draft')
})

story('the middle button closes a tab and pastes nothing', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await openSession(page, 'port the parser')
  await openSession(page, 'make the login')
  await page.evaluate(() => {
    globalThis.unprevented = []
    for (const type of ['mousedown', 'mouseup', 'auxclick']) {
      addEventListener(type, event => {
        if (event.button === 1 && !event.defaultPrevented) globalThis.unprevented.push(type)
      })
    }
  })
  const tabs = page.locator('.tab')
  const before = await tabs.count()
  await tabs.first().click({ button: 'middle' })
  await until('the tab is closed', async () => (await tabs.count()) === before - 1)
  equal(await page.evaluate(() => globalThis.unprevented), [])
})

story(
  'a message sent while scrolled up is shown, and a fold does not end the following',
  'mock',
  async stage => {
    const mock = await stage.mock()
    const page = await stage.page(mock.url, { height: 500 })
    await openSession(page, 'make the login')
    await page.locator('.tool').first().waitFor()
    await still(page)
    await page.locator('.rows').hover()
    await page.mouse.wheel(0, -2000)
    await page.locator('.pill').waitFor()
    await send(page, 'here is what I say')
    await page.locator('.message', { hasText: 'here is what I say' }).waitFor()
    await page.locator('.pill').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Send the message' }).waitFor()

    await send(page, 'think, and be slow and long')
    const thought = page.locator('.thinking').last()
    await thought.waitFor()
    await thought.getByRole('button').first().click()
    await page.getByRole('button', { name: 'Send the message' }).waitFor()
    equal(await page.locator('.pill').count(), 0, 'the end is followed')
  },
)

story(
  'what moves the list after a message was sent is not the hand that moved it before',
  'mock',
  async stage => {
    const mock = await stage.mock()
    const page = await stage.page(mock.url, { height: 500 })
    await openSession(page, 'make the login')
    await page.locator('.tool').first().waitFor()
    await still(page)
    await page.locator('.rows').hover()
    await page.mouse.wheel(0, -2000)
    await page.locator('.pill').waitFor()
    // As rows do that are shorter than they were taken for.
    await page.evaluate(() => {
      const rows = document.querySelector('.rows')
      const move = () => {
        if (rows.scrollHeight - rows.scrollTop - rows.clientHeight >= 40) return
        rows.removeEventListener('scroll', move)
        rows.scrollBy(0, -200)
      }
      rows.addEventListener('scroll', move)
    })
    await send(page, 'here is what I say')
    await page.locator('.message', { hasText: 'here is what I say' }).waitFor()
    await page.locator('.pill').waitFor({ state: 'detached' })
  },
)

story('a notice lies over no control of the composer', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url, { width: 390, height: 844 })
  await page.getByRole('button', { name: 'Show or hide the sidebar' }).click()
  await openSession(page, 'port the parser')
  await message(page).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('Archive this session')
  await page.keyboard.press('Enter')
  const notice = page.locator('.notice')
  await notice.waitFor()
  const tops = await notice.evaluate(node => node.getBoundingClientRect().bottom)
  check(tops < 422, `it is in the upper half: ${tops}`)
})

story('a session and a turn have addresses, and Back leads to where one was', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await openSession(page, 'port the parser')
  await message(page).waitFor()
  const first = page.url()
  await openSession(page, 'make the login')
  await page.locator('.tool').first().waitFor()
  check(page.url() !== first && page.url().includes('#/session/'), `it has its own: ${page.url()}`)
  const current = () => page.locator('.tab[class*=active]').innerText()
  await page.goBack()
  await until('the first is shown again', async () => (await current()).includes('port the parser'))
  equal(page.url(), first)
  await page.goForward()
  await until('and the second', async () => (await current()).includes('make the login'))

  // A turn's link, opened in another browser.
  await page.evaluate(() => {
    navigator.clipboard.writeText = async text => {
      globalThis.copied = text
    }
  })
  await page.locator('.rows').hover()
  await page.getByRole('button', { name: 'Copy the link to this turn' }).first().click()
  const link = await page.evaluate(() => globalThis.copied)
  check(/#\/session\/.+\/turn\//.test(link), link)
  const other = await stage.page(link)
  await other.locator('.tab', { hasText: 'make the login' }).waitFor()
  await other.locator('.turn-end').first().waitFor()

  // A browser that keeps Control+Shift+T for itself leaves the other two.
  const palette = async () => {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('Reopen the tab')
    await page.getByRole('option', { name: /Reopen the tab/ }).waitFor()
    await page.keyboard.press('Enter')
  }
  const press = key => () => page.keyboard.press(key)
  for (const reopen of [press('Control+Shift+T'), press('Alt+Shift+T'), palette]) {
    await page.keyboard.press('Alt+w')
    await until(
      'it is closed',
      async () => !(await page.locator('.tabs').innerText()).includes('make the login'),
    )
    await reopen()
    await until('it is open again', async () => (await current()).includes('make the login'))
  }
  await page.keyboard.press('Alt+1')
  await until('the first tab is shown', async () => (await current()).includes('port the parser'))
})

story(
  'words are found in the whole conversation, and it is copied and printed whole',
  'mock',
  async stage => {
    const mock = await stage.mock()
    const page = await stage.page(mock.url, { height: 500 })
    await openSession(page, 'a very long session')
    await page.locator('.row-item').first().waitFor()
    await still(page)
    await page.keyboard.press('Control+f')
    await page.getByRole('textbox', { name: 'Find in this conversation' }).fill('what does step 3 do')
    const count = page.locator('.find-count')
    await until('they are counted', async () => /^\d+ of \d+$/.test(await count.innerText()))
    await page.keyboard.press('Enter')
    await page.locator('.row-item', { hasText: 'what does step 3 do' }).first().waitFor()
    await page.keyboard.press('Escape')
    await page.locator('.find-bar').waitFor({ state: 'detached' })

    await page.evaluate(() => {
      globalThis.print = () => {
        globalThis.printed = document.querySelector('.paper')?.textContent ?? ''
      }
      navigator.clipboard.writeText = async text => {
        globalThis.copied = text
      }
    })
    await page.keyboard.press('Control+p')
    await page.waitForFunction(() => globalThis.printed !== undefined)
    const printed = await page.evaluate(() => globalThis.printed)
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('as Markdown')
    await page.keyboard.press('Enter')
    await page.waitForFunction(() => globalThis.copied !== undefined)
    const copied = await page.evaluate(() => globalThis.copied)
    for (const whole of [printed, copied]) {
      check(
        whole.includes('what does step 1 do') && whole.includes('what does step 2400 do'),
        `the whole is there: ${whole.slice(0, 300)}`,
      )
    }
  },
)

story('a turn that failed is one card with a way on', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await openSession(page, 'port the parser')
  await message(page).waitFor()
  await send(page, 'please fail')
  const card = page.locator('.turn-error').last()
  await card.waitFor()
  equal(await card.locator('.code').isVisible(), false, 'the code is in the details')
  const before = await page.locator('.message.user', { hasText: 'please fail' }).count()
  await card.getByRole('button', { name: 'Retry' }).click()
  await until(
    'it was sent again',
    async () => (await page.locator('.message.user', { hasText: 'please fail' }).count()) > before,
  )
})

story('earlier messages come back by the arrow, and motion is spared whoever asks', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url, { reducedMotion: 'reduce' })
  await openSession(page, 'port the parser')
  await message(page).waitFor()
  await send(page, 'the first of mine, slow and long')
  await page.locator('.dot.working').first().waitFor()
  const moving = await page
    .locator('.dot.working, .spinner')
    .evaluateAll(nodes =>
      nodes.map(node => getComputedStyle(node).animationName).filter(name => name !== 'none'),
    )
  equal(moving, [], 'nothing moves')
  await page.getByRole('button', { name: 'Send the message' }).waitFor()
  await message(page).focus()
  await page.keyboard.press('ArrowUp')
  equal(await message(page).inputValue(), 'the first of mine, slow and long')
  await page.keyboard.press('ArrowDown')
  equal(await message(page).inputValue(), '')
})

story(
  'a session that finished in the background has an unread mark until it is seen',
  'mock',
  async stage => {
    const mock = await stage.mock()
    const page = await stage.page(mock.url)
    await openSession(page, 'port the parser')
    await message(page).waitFor()
    await send(page, 'be slow')
    await page.locator('.dot.working').first().waitFor()
    await openSession(page, 'make the login')
    const tab = page.locator('.tab', { hasText: 'port the parser' })
    await tab.getByRole('img', { name: 'finished, not seen yet' }).waitFor()
    await tab.locator('.tab-name').click()
    await tab.getByRole('img', { name: 'finished, not seen yet' }).waitFor({ state: 'detached' })
  },
)

story('a folder that holds everything is warned about before it is added', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await page.getByRole('button', { name: 'Add a project' }).first().click()
  const field = page.getByRole('textbox', { name: /Folder on this machine/ })
  const warning = page.locator('.form-warning')
  for (const [path, warned] of [
    ['/', true],
    ['~', true],
    ['"/home/you"', true],
    ['/home/you/code', false],
  ]) {
    await field.fill(path)
    equal(await warning.count(), warned ? 1 : 0, path)
  }
})

story('places in texts and changed files lead to the file, and Back leads back', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await openSession(page, 'port the parser')
  await message(page).waitFor()
  const session = page.url()
  await send(page, 'where is it?')
  await page.getByRole('link', { name: 'src/login.ts:4' }).click()
  const dialog = page.getByRole('dialog', { name: 'src/login.ts, line 4' })
  await dialog.locator('.place-line.here', { hasText: 'line 4 of src/login.ts' }).waitFor()
  check(/#\/file\/[^-].*login\.ts:4$/.test(page.url()), `it has an address: ${page.url()}`)
  const link = page.url()
  await page.goBack()
  await dialog.waitFor({ state: 'detached' })
  equal(page.url(), session)
  await page.getByRole('link', { name: 'src/keys.ts:40:2' }).click()
  await page.getByRole('button', { name: 'Put it into the message' }).click()
  await until('it is named', async () => (await message(page).inputValue()).includes('@src/keys.ts:40'))

  const other = await stage.page(link)
  await other.getByRole('dialog', { name: 'src/login.ts, line 4' }).waitFor()

  await openSession(page, 'make the login')
  const changed = page.locator('.inspector').getByRole('link').first()
  await changed.click()
  await page.getByRole('dialog').locator('.place-line').first().waitFor()
})

story('an agent that is not logged in comes with the command, Copy and Retry', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await openSession(page, 'make the login')
  await message(page).waitFor()
  await send(page, 'you are logged out')
  const card = page.locator('.turn-error').last()
  await card.locator('code', { hasText: 'claude /login' }).waitFor()
  await card.getByRole('button', { name: 'Copy' }).waitFor()
  await card.getByRole('button', { name: 'Retry' }).waitFor()
})

story('the working clock stops when the connection does', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url)
  await openSession(page, 'port the parser')
  await message(page).waitFor()
  await send(page, 'be slow and long')
  const clock = page.locator('.elapsed')
  await until('it has moved', async () => /[1-9]/.test(await clock.innerText()))
  await mock.kill()
  await page.locator('.connection-lost').waitFor()
  const stopped = await clock.innerText()
  // Two of its seconds, on the page's own clock.
  await page.evaluate(() => new Promise(resolve => setTimeout(resolve, 2200)))
  equal(await clock.innerText(), stopped)
})

story(
  'a project is added by completing its path, and browsers are listed and put out',
  'mock',
  async stage => {
    const mock = await stage.mock()
    const page = await stage.page(mock.url)
    await page.getByRole('button', { name: 'Add a project' }).first().click()
    await page.keyboard.type('~/code/a')
    await page.getByRole('button', { name: '/home/you/code/api/' }).waitFor()
    await page.keyboard.press('Tab')
    const field = page.getByRole('textbox', { name: /Folder on this machine/ })
    equal(await field.inputValue(), '/home/you/code/api/')
    await page.keyboard.press('Enter')
    await until('it is there', async () =>
      mock.state.projects.some(project => project.path === '/home/you/code/api'),
    )
    await page
      .getByRole('button', { name: /not now|cancel/i })
      .first()
      .click()

    const now = Math.floor(Date.now() / 1000)
    const agent = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0) AppleWebKit/605 Version/18.0 Mobile Safari/604.1'
    mock.state.devices = [{ deviceId: 'd1', browser: agent, enteredAt: now, expiresAt: now + 29.5 * 86400 }]
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('let in')
    await page.getByRole('option', { name: /Browsers that were let in/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('30 days left').waitFor()
    await page.getByRole('button', { name: 'Put out Safari on iPhone' }).click()
    await until('it is out', async () => mock.state.devices.length === 0)
    await page.getByText('30 days left').waitFor({ state: 'detached' })
  },
)
