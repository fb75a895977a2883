// The whole way: real Chromium, the real server, the real claude and codex-acp, a scripted model API.

import {
  agentTexts,
  ask,
  check,
  equal,
  idle,
  openFound,
  openSession,
  send,
  start,
  story,
} from './harness.mjs'

const AGENTS = {
  claude: {
    name: 'Claude Code',
    tool: '[[tool:Bash:{"command":"cat hello.txt","description":"Read the greeting"}]]',
    sleeps: '[[tool:Bash:{"command":"true; exec sleep 1000","description":"Wait"}]]',
  },
  codex: {
    name: 'Codex',
    // Codex runs nothing in its sandbox where there is none to be had; with this it asks and runs outside.
    tool: '[[tool:exec_command:{"cmd":"cat hello.txt","sandbox_permissions":"require_escalated","justification":"to read it"}]]',
    sleeps:
      '[[tool:exec_command:{"cmd":"true; exec sleep 1000","yield_time_ms":60000,"sandbox_permissions":"require_escalated","justification":"to wait"}]]',
  },
}

async function streams(stage, agent) {
  const real = await stage.real()
  const page = await stage.page(real.url)
  await start(page, agent.name)
  await send(page, '[[gate:middle]]')
  await real.model.reached('middle')
  await page.locator('.message.agent[aria-busy=true]', { hasText: 'before' }).waitFor()
  equal(
    (await agentTexts(page)).map(text => text.trim()),
    ['before'],
    'the first part is there while the rest is not',
  )
  real.model.open('middle')
  await page.locator('.message.agent[aria-busy=false]', { hasText: 'before after' }).waitFor()
  await idle(page)
  equal(
    (await agentTexts(page)).map(text => text.trim()),
    ['before after'],
  )
}

async function showsTools(stage, agent) {
  const real = await stage.real()
  const page = await stage.page(real.url)
  await start(page, agent.name)
  await send(page, agent.tool)
  const allow = page.getByRole('button', { name: /Allow once/ })
  const done = page.locator('.tool[data-outcome=passed]', { hasText: 'cat hello.txt' })
  await allow.or(done).first().waitFor()
  if (await allow.count()) await allow.click()
  await done.waitFor()
  await idle(page)
  if ((await done.locator('.tool-body').count()) === 0) await done.locator('.tool-line').click()
  const card = await done.innerText()
  check(card.includes('cat hello.txt'), `the arguments are shown: ${card}`)
  check(card.includes('hello from the project'), `the result is shown: ${card}`)
}

/** Cancels a turn while its tool runs: nothing looks as if it ran, in a second browser and after a restart neither. */
async function stopsTool(stage, agent) {
  const real = await stage.real()
  const page = await stage.page(real.url)
  await start(page, agent.name)
  await send(page, '[[say:a quiet harbour]]')
  await idle(page)
  // The link is good for one browser: what that one keeps opens the second.
  const storageState = await page.context().storageState()
  const second = await stage.page(new URL('/', real.url).href, { storageState })
  await openSession(second, 'say:a quiet')
  await send(page, agent.sleeps)
  const allow = page.getByRole('button', { name: /Allow once/ })
  await allow.click()
  await allow.waitFor({ state: 'detached' })
  for (const seen of [page, second]) await seen.locator('.tool[data-outcome=running]').waitFor()
  await page.getByRole('button', { name: 'Stop the turn' }).click()
  await idle(page)
  const stopped = async seen => {
    await seen.locator('.tool[data-outcome=stopped]', { hasText: 'sleep 1000' }).waitFor()
    equal(await seen.locator('.tool .spinner').count(), 0, 'no spinner is left')
    equal(await seen.locator('.message[aria-busy=true]').count(), 0, 'no text is being written')
  }
  for (const seen of [page, second]) await stopped(seen)
  await page.close()
  await second.close()
  await real.crash()
  await real.start()
  const later = await stage.page(real.url)
  await openSession(later, 'say:a quiet')
  await stopped(later)
}

story(
  'real: Claude: a tool of a cancelled turn is stopped, in a second browser and later too',
  'real',
  stage => stopsTool(stage, AGENTS.claude),
)

story(
  'real: Codex: a tool of a cancelled turn is stopped, in a second browser and later too',
  'real',
  stage => stopsTool(stage, AGENTS.codex),
)

story('TC-8.1a: Claude: create a session, send a message, see the answer stream', 'real', stage =>
  streams(stage, AGENTS.claude),
)

story('TC-8.1b: Claude: tool calls show name, arguments and results', 'real', stage =>
  showsTools(stage, AGENTS.claude),
)

story(
  'TC-8.1c: Claude: cancel interrupts the turn and the session takes a new message',
  'real',
  async stage => {
    const real = await stage.real()
    const page = await stage.page(real.url)
    await start(page, 'Claude Code')
    await send(page, '[[gate:never]]')
    await real.model.reached('never')
    await page.getByRole('button', { name: 'Stop the turn' }).click()
    await page.getByText('stopped').waitFor()
    await idle(page)
    equal(
      await page.locator('.message[aria-busy=true]').count(),
      0,
      'what it said is not being written any more',
    )
    await send(page, '[[say:here again]]')
    await page.locator('.message.agent', { hasText: 'here again' }).waitFor()
    await idle(page)
  },
)

story('TC-8.2a: Codex: create a session, send a message, see the answer stream', 'real', stage =>
  streams(stage, AGENTS.codex),
)

story('TC-8.2b: Codex: tool calls show name, arguments and results', 'real', stage =>
  showsTools(stage, AGENTS.codex),
)

/** A conversation that the page has to load after the server was started anew. */
async function loads(stage, agent) {
  const real = await stage.real()
  const first = await stage.page(real.url)
  await start(first, agent.name)
  await send(first, '[[say:remember the harbour]]')
  await first.locator('.message.agent', { hasText: 'remember the harbour' }).waitFor()
  await idle(first)
  await first.close()
  await real.crash()
  await real.start()
  const page = await stage.page(real.url)
  await openSession(page, 'say:remember')
  await page.locator('.message.user', { hasText: 'say:remember the harbour' }).waitFor()
  await page.locator('.message.agent', { hasText: 'remember the harbour' }).waitFor()
  equal(
    (await agentTexts(page)).map(text => text.trim()),
    ['remember the harbour'],
    'once, and nothing else',
  )
}

story('TC-7.3a: loading an existing Claude session shows its history', 'real', stage =>
  loads(stage, AGENTS.claude),
)

story('TC-7.3b: loading an existing Codex session shows its history', 'real', stage =>
  loads(stage, AGENTS.codex),
)

story('TC-8.3a: switching between a Claude and a Codex tab keeps each conversation', 'real', async stage => {
  const real = await stage.real()
  const page = await stage.page(real.url)
  for (const [agent, words] of [
    ['Claude Code', 'spoken by claude'],
    ['Codex', 'spoken by codex'],
  ]) {
    await start(page, agent)
    await send(page, `[[say:${words}]]`)
    await page.locator('.message.agent', { hasText: words }).waitFor()
    await idle(page)
  }
  for (const [at, words] of [
    [0, 'spoken by claude'],
    [1, 'spoken by codex'],
    [0, 'spoken by claude'],
  ]) {
    await page.locator('.tab-name').nth(at).click()
    await page.locator('.message.agent', { hasText: words }).waitFor()
    equal(
      (await agentTexts(page)).map(text => text.trim()),
      [words],
    )
  }
})

story(
  'TC-8.3b: opening a session that this server never had loads its whole history',
  'real',
  async stage => {
    const real = await stage.real({
      prepare: async ({ claude }) => {
        const session = await claude('[[say:first words]]')
        await claude('[[say:second words]]', '--resume', session)
      },
    })
    const page = await stage.page(real.url)
    await openFound(page, 'say:first')
    await page.locator('.message.agent', { hasText: 'second words' }).waitFor()
    equal(
      (await agentTexts(page)).map(text => text.trim()),
      ['first words', 'second words'],
    )
    await send(page, '[[say:third words]]')
    await page.locator('.message.agent', { hasText: 'third words' }).waitFor()
    await idle(page)
  },
)

story('real: a permission of Claude is answered in the page', 'real', async stage => {
  const real = await stage.real()
  const page = await stage.page(real.url)
  await start(page, 'Claude Code')
  await send(page, '[[tool:Bash:{"command":"touch made-by-claude","description":"Make a file"}]]')
  const question = page.getByRole('region', { name: 'The agent needs you' })
  await question.waitFor()
  check((await question.innerText()).includes('touch made-by-claude'), 'the command is shown')
  await page.locator('.tab.active .badge').waitFor()
  await page.getByRole('button', { name: /Allow once/ }).click()
  await page.locator('.tool[data-outcome=passed]', { hasText: 'touch made-by-claude' }).waitFor()
  await idle(page)
})

story('real: the queue survives a reload and is delivered in order', 'real', async stage => {
  const real = await stage.real()
  const page = await stage.page(real.url)
  await start(page, 'Claude Code')
  await send(page, '[[gate:hold]]')
  await real.model.reached('hold')
  await send(page, '[[say:second]]')
  await send(page, '[[say:third]]')
  await page.locator('.queued').nth(1).waitFor()
  await page.reload()
  await page.locator('.queued').nth(1).waitFor()
  equal(await page.locator('.queued-text').allInnerTexts(), ['[[say:second]]', '[[say:third]]'])
  real.model.open('hold')
  await page.locator('.message.agent', { hasText: 'third' }).waitFor()
  await idle(page)
  equal(
    (await agentTexts(page)).map(text => text.trim()),
    ['before after', 'second', 'third'],
  )
})

story(
  'real: the queue of a session that was ended waits, says why, and goes on with one click',
  'real',
  async stage => {
    const real = await stage.real()
    const page = await stage.page(real.url)
    await start(page, 'Claude Code')
    await send(page, '[[gate:hold]]')
    await real.model.reached('hold')
    await send(page, '[[say:second]]')
    await page.locator('.queued').waitFor()
    const { projects } = await ask(page, 'GET', '/api/project')
    const list = await ask(page, 'GET', `/api/session/list?projectId=${projects[0].projectId}`)
    await ask(page, 'POST', `/api/session/${list.sessions[0].sessionId}/kill`, {})
    await page.getByText('The queue waits: you have ended this session').waitFor()
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.locator('.message.agent', { hasText: 'second' }).waitFor()
    await idle(page)
    equal(await page.locator('.queue-held').count(), 0)
  },
)

story(
  'real: the server is killed in mid-turn; the page shows it and recovers without a lost or doubled word',
  'real',
  async stage => {
    const real = await stage.real()
    const page = await stage.page(real.url)
    await start(page, 'Claude Code')
    await send(page, '[[say:words of before]]')
    await page.locator('.message.agent', { hasText: 'words of before' }).waitFor()
    await idle(page)
    await send(page, '[[gate:cut]]')
    await real.model.reached('cut')
    await page
      .locator('.message.agent', { hasText: /^\s*(claude)?\s*before/ })
      .last()
      .waitFor()
    await page.evaluate(() => {
      new MutationObserver(() => {
        if (document.querySelector('.connection-lost')) globalThis.lostAt ??= Date.now()
      }).observe(document.body, { subtree: true, childList: true })
    })
    const killedAt = Date.now()
    await real.crash()
    await page.locator('.connection-lost').waitFor()
    const took = (await page.evaluate(() => globalThis.lostAt)) - killedAt
    await real.start()
    // The browser is still let in, and the page goes on by itself.
    await page.locator('.connection-lost').waitFor({ state: 'detached' })
    await page.locator('.message.agent', { hasText: 'words of before' }).waitFor()
    await page.locator('.turn-error').waitFor()
    const texts = async () =>
      (await page.locator('.message.agent .markdown').allInnerTexts()).map(text => text.trim())
    equal(await texts(), ['words of before', 'before'], 'every word that was seen, once')
    equal(
      await page.locator('.item-error').allInnerTexts(),
      ['Chartroom was stopped in the middle of this turn'],
      'and it is said why there is no more',
    )
    await send(page, '[[say:words of after]]')
    await page.locator('.message.agent', { hasText: 'words of after' }).waitFor()
    await idle(page)
    const all = ['words of before', 'before', 'words of after']
    equal(await texts(), all)
    await page.reload()
    await page.locator('.message.agent', { hasText: 'words of after' }).waitFor()
    equal(await texts(), all, 'also for a page that has seen nothing before')
    return `shown after ${took} ms`
  },
)

story('real: a second browser follows the same session', 'real', async stage => {
  const real = await stage.real()
  const one = await stage.page(real.url)
  await start(one, 'Claude Code')
  // The launch code is good for one browser; the second one gets the first one's keys, as a copied profile would.
  const state = await one.context().storageState()
  const two = await stage.page(new URL('/', real.url).href, { storageState: state })
  await send(one, '[[gate:shared]]')
  await real.model.reached('shared')
  await two.locator('.message.agent', { hasText: 'before' }).waitFor()
  real.model.open('shared')
  await idle(one)
  await two.locator('.message.agent', { hasText: 'before after' }).waitFor()
  equal(await agentTexts(two), await agentTexts(one))
  // A question is asked in both and answered in either.
  await send(one, '[[tool:Bash:{"command":"touch made","description":"Make a file"}]]')
  await one.locator('.question').waitFor()
  await two.getByRole('button', { name: /Allow once/ }).click()
  await one.locator('.question').waitFor({ state: 'detached' })
  await one.locator('.tool[data-outcome=passed]', { hasText: 'touch made' }).waitFor()
  await idle(one)
  await idle(two)
  equal(await agentTexts(two), await agentTexts(one))
})
