// What moves by itself: language servers that start, an index that grows, a clock that is fair.

import { check, equal, openSession, send, story, until } from './harness.mjs'

const server = (id, status, more = {}) => ({ id, status, language: id, ...more })

story(
  'the language servers listed are those of the project, and the hint goes when an edit starts one',
  'mock',
  async stage => {
    const mock = await stage.mock()
    mock.state.languages = ['typescript', 'eslint']
    mock.state.servers = {
      root: '/home/ada/code/api',
      servers: [server('eslint', 'unavailable'), server('gopls', 'idle'), server('typescript', 'idle')],
    }
    const page = await stage.page(mock.url)
    await openSession(page, 'port the parser')
    const servers = page.getByRole('region', { name: 'Language servers' })
    const hint = servers.getByText('the first edit starts them')
    await hint.waitFor()
    await servers.getByText('2 not running').click()
    await servers.getByText('typescript', { exact: true }).waitFor()
    equal(await servers.getByText('gopls', { exact: true }).count(), 0, 'no file of the project is Go')

    mock.state.servers.servers[2] = server('typescript', 'active', { root: '.' })
    const looks = () => mock.requests.filter(request => request.endsWith('/status')).length
    const before = looks()
    const session = [...mock.state.sessions.values()].find(({ summary }) => summary.title.startsWith('port'))
    const edit = { old_string: 'a', new_string: 'b', file_path: '/home/ada/code/api/src/keys.ts' }
    session.upsert({
      type: 'tool_call',
      turnId: 'turn-of-the-edit',
      itemId: 'the-edit',
      status: 'complete',
      toolName: 'Edit',
      toolArguments: edit,
      callId: 'call-of-the-edit',
      toolOutput: 'done',
      detail: { kind: 'edit', diffs: [{ path: edit.file_path, added: 1, removed: 1, hunks: [] }] },
    })
    await hint.waitFor({ state: 'detached' })
    equal(looks(), before + 1, 'it was looked at once for the edit')
    await servers.getByRole('button', { name: 'Stop typescript' }).waitFor()
    const [stop, restart] = await Promise.all(
      ['Stop typescript', 'Restart typescript'].map(name =>
        servers.getByRole('button', { name }).boundingBox(),
      ),
    )
    check(stop.x - (restart.x + restart.width) >= 8, 'a thumb finds one of the two')
  },
)

story('the progress of an index moves, in files done of all', 'mock', async stage => {
  const mock = await stage.mock()
  const path = '/home/ada/code/api'
  mock.state.index = { codebases: [{ path, bucket: 'indexing', progressPct: 5 }], total: 1 }
  mock.state.progress = { progressPct: 5, filesDone: 120, filesTotal: 4812 }
  const page = await stage.page(mock.url)
  await openSession(page, 'port the parser')
  const index = page.getByRole('region', { name: 'Index' })
  await index.getByText('120 of 4,812 files').waitFor()
  mock.state.progress = { progressPct: 60, filesDone: 2900, filesTotal: 4812 }
  await index.getByText('2,900 of 4,812 files').waitFor()
  mock.state.index = { codebases: [{ path, bucket: 'ready', indexedFiles: 4812 }], total: 1 }
  await index.getByText('ready').waitFor()
})

story('the working clock does not count the time that a person took', 'mock', async stage => {
  const mock = await stage.mock()
  const page = await stage.page(mock.url, { opened: page => page.clock.install() })
  await openSession(page, 'port the parser')
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  await send(page, 'build it with permission, then be slow and long')
  await page.getByRole('region', { name: 'The agent needs you' }).waitFor()
  await page.clock.fastForward('05:00')
  await page.getByRole('button', { name: /Allow once/ }).click()
  const clock = page.locator('.elapsed')
  await until('it has moved', async () => {
    await page.clock.runFor(1000)
    return (await clock.count()) > 0 && /[1-9]/.test(await clock.innerText())
  })
  check(
    !(await clock.innerText()).includes('min'),
    `${await clock.innerText()}: five minutes were a person’s`,
  )
})

story(
  'the server through which a team shares is in the inspector, with its last trouble',
  'mock',
  async stage => {
    const mock = await stage.mock()
    const address = 'http://milvus.example.org:19530'
    const lastTrouble = {
      text: 'did not answer within 2 s',
      at: new Date(Date.now() - 300_000).toISOString(),
    }
    mock.state.team = { address, version: 'milvus v2.6.4', latencyMs: 1.4, lastTrouble }
    const page = await stage.page(mock.url)
    await openSession(page, 'make the login retry')
    const inspector = page.locator('.inspector')
    await inspector.getByText('milvus v2.6.4, 1.4 ms').waitFor()
    await inspector.getByText(/^5.*: did not answer within 2 s/).waitFor()
    await stage.axe(page, 'the inspector with a team')
    mock.state.team = { address, latencyMs: 2000, trouble: 'connection refused' }
    await page.reload()
    await inspector.getByText('does not answer; the own index does').waitFor()
    await inspector.getByText('connection refused').waitFor()
  },
)
