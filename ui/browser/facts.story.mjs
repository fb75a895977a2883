// What is told beside the words: thinking, changes, tokens and cost, a call to who looks elsewhere; and how much is
// loaded for all of it.

import path from 'node:path'
import { check, command, equal, idle, send, start, story, until } from './harness.mjs'
import { firstLoad } from './wire.mjs'

const FIRST_LOAD_BYTES = 120 * 1024

story('thinking is one folded line that opens', 'real', async stage => {
  const real = await stage.real()
  const page = await stage.page(real.url)
  await real.model.keep('think', [
    { thinking: 'The retry lives in the client. Look there first.' },
    { text: 'Found it.' },
  ])
  await start(page)
  await send(page, '[[answer:think]]')
  await page.locator('.message.agent', { hasText: 'Found it.' }).waitFor()
  await idle(page)
  const thinking = page.locator('.tool.thinking')
  equal(await thinking.locator('.tool-body').count(), 0, 'it is folded')
  check((await thinking.innerText()).includes('Thought'), 'it says what it is')
  await thinking.locator('.tool-line').click()
  equal(await thinking.locator('.tool-body').innerText(), 'The retry lives in the client. Look there first.')
})

story('a change shows what exactly changed, and the inspector sums it up', 'real', async stage => {
  const real = await stage.real()
  const page = await stage.page(real.url)
  const file = path.join(real.project, 'src/login.ts')
  await real.model.keep('read', [{ tool: { name: 'Read', input: { file_path: file } } }])
  const input = { file_path: file, old_string: 'retries = 0', new_string: 'retries = 12' }
  await real.model.keep('edit', [{ tool: { name: 'Edit', input } }])
  await start(page)
  await send(page, '[[answer:read]]')
  await page.locator('.tool.read[data-outcome=passed]').waitFor()
  await idle(page)
  await send(page, '[[answer:edit]]')
  const question = page.locator('.question')
  await question.waitFor()
  equal(await question.locator('.counts').innerText(), '+1 −1', 'before it is allowed')
  await page.getByRole('button', { name: /Allow once/ }).click()
  const card = page.locator('.tool.edit[data-outcome=passed]')
  await card.waitFor()
  await idle(page)
  equal(await card.locator('.counts').allInnerTexts(), ['+1 −1'], 'the counts stand once')
  equal(await card.locator('.diff-line.removed mark').allInnerTexts(), ['0'])
  equal(await card.locator('.diff-line.added mark').allInnerTexts(), ['12'])
  const changed = page.locator('.inspector section', { hasText: 'Changed here' })
  equal(await changed.locator('.path-name').allTextContents(), ['src/login.ts'])
  equal(await changed.locator('.counts').allInnerTexts(), ['+1 −1'])
})

story(
  'tokens, cost and the use of the context are told of each turn and of the session',
  'real',
  async stage => {
    const real = await stage.real()
    const page = await stage.page(real.url)
    await start(page)
    const spent = page.locator('.inspector section', { hasText: 'Tokens and cost' })
    check((await spent.innerText()).includes('Nothing yet.'), 'nothing was spent yet')
    const told = async () => {
      const texts = await spent.locator('dd').allInnerTexts()
      const names = await spent.locator('dt').allInnerTexts()
      return Object.fromEntries(names.map((name, at) => [name, texts[at].trim()]))
    }
    await send(page, '[[say:one]]')
    await page.locator('.turn-end').first().waitFor()
    await idle(page)
    const first = await told()
    equal(Object.keys(first), ['in', 'out', 'cost', 'context'])
    check(/^(< )?\d+ %$/.test(first.context), `the context is a share of its window: ${first.context}`)
    const turn = await page.locator('.turn-end').first().innerText()
    check(/tokens · (< )?\$0\.\d\d/.test(turn), `a turn ends with tokens and cost: ${turn}`)
    await send(page, '[[say:two]]')
    await page.locator('.turn-end').nth(1).waitFor()
    await until('the second turn is added', async () => Number((await told()).out) > Number(first.out))
  },
)

story('what fills the context is asked of the agent when a person wants to know', 'real', async stage => {
  const real = await stage.real()
  const page = await stage.page(real.url)
  let asked = 0
  page.on('request', request => {
    if (request.url().endsWith('/context')) asked++
  })
  const fold = page.locator('.context-fold')
  await start(page)
  await send(page, '[[say:one]]')
  await page.locator('.turn-end').waitFor()
  await idle(page)
  equal(asked, 0, 'nobody asked by the way')
  await fold.getByText('What fills it').click()
  await fold.locator('.parts').waitFor()
  const names = await fold.locator('.parts .ellipsis').allInnerTexts()
  check(names.includes('System prompt') && names.includes('System tools'), names.join(', '))
  check(/k of .* in use/.test(await fold.innerText()), await fold.innerText())
  equal(asked, 1)
  await send(page, '[[say:two]]')
  await page.locator('.turn-end').nth(1).waitFor()
  await until('it is asked again after the turn', () => asked === 2)
  await stage.axe(page, 'what fills the context')
  // An agent that has ended cannot tell; another one does not.
  await command(page, 'end this session')
  await page.getByText('The agent has ended').waitFor()
  await fold.getByText('What fills it').click()
  await fold.getByText('What fills it').click()
  await fold.getByText('Only a running agent can tell').waitFor()
  await start(page, 'Codex')
  await send(page, '[[say:three]]')
  await page.locator('.turn-end').waitFor()
  await idle(page)
  await fold.getByText('What fills it').click()
  await fold.getByText('This agent does not tell.').waitFor()
})

story('who looks elsewhere is told that a session needs them or has finished', 'real', async stage => {
  const real = await stage.real()
  const page = await stage.page(real.url, {
    permissions: ['notifications'],
    watch: context =>
      context.addInitScript(() => {
        globalThis.told = []
        globalThis.Notification = class {
          static permission = 'granted'
          static requestPermission = async () => 'granted'
          constructor(title) {
            globalThis.told.push(title)
          }
        }
        const Audio = globalThis.AudioContext
        globalThis.AudioContext = class extends Audio {
          constructor() {
            super()
            globalThis.told.push('a sound')
          }
        }
      }),
  })
  const told = () => page.evaluate(() => globalThis.told)
  const ask = { name: 'Bash', input: { command: 'touch made', description: 'Make a file' } }
  await real.model.keep('ask', [{ pieces: [{ text: 'one ' }, { gate: 'ask' }] }, { tool: ask }])
  await start(page)
  await send(page, '[[gate:first]]')
  await real.model.reached('first')
  real.model.open('first')
  await idle(page)
  equal(await told(), [], 'nobody asked for it')
  await command(page, 'notify me')
  await command(page, 'play a sound')
  await send(page, '[[answer:ask]]')
  await real.model.reached('ask')
  await start(page)
  real.model.open('ask')
  await until('it is told', async () => (await told()).length === 2)
  equal(await told(), ['a sound', '[[gate:first]] needs you'])
  await page.locator('.tab', { hasText: 'gate:first' }).locator('.badge').waitFor()
  await page.locator('.tab-name').first().click()
  await page.getByRole('button', { name: /Allow once/ }).click()
  await idle(page)
  equal((await told()).length, 2, 'who looks at it needs no telling')
})

story('the first load is under 120 KiB on the wire, all of it', 'real', async stage => {
  const real = await stage.real()
  const load = await firstLoad(stage, real.url)
  const names = load.own.map(file => file.name)
  check(
    names.some(name => name.endsWith('.js')) && names.some(name => name.endsWith('.css')),
    names.join(' '),
  )
  check(load.bytes < FIRST_LOAD_BYTES, `${load.bytes} bytes: ${JSON.stringify(load.own)}`)
  // A browser that comes again asks for the page, and has the rest.
  const before = load.files.length
  await load.page.reload()
  await load.page.getByText('Nothing open').waitFor()
  const again = load.files.slice(before).filter(file => file.name.startsWith('/assets/'))
  check(again.length > 0 && again.every(file => file.bytes === 0), JSON.stringify(again))
  const script = load.own.find(file => file.name.endsWith('.js'))
  return `${(load.bytes / 1024).toFixed(1)} KiB, the script as ${script.coding}`
})
