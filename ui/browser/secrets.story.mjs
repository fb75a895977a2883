// The keys of the door: after a whole story they are nowhere but where they belong.

import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { check, equal, idle, send, start, story } from './harness.mjs'

const OUTSIDE = 'https://outside.example'

story(
  'after a whole story no key is in a log, an argument, an environment or a Referer, and no request left the origin',
  'real',
  async stage => {
    const real = await stage.real({ env: { CHARTROOM_LOG: 'trace' } })
    const origin = new URL(real.url).origin
    const code = new URL(real.url).searchParams.get('token')
    check(code.length >= 20, 'the launch link has a code')
    const requests = []
    const sockets = []
    const watch = async context => {
      context.on('request', request => requests.push(request))
      context.on('page', page => page.on('websocket', socket => sockets.push(socket.url())))
      // What a person opens outside is answered here; nothing of it goes out.
      await context.route(
        url => url.origin !== origin,
        route => route.fulfill({ body: 'outside' }),
      )
    }
    const page = await stage.page(real.url, { watch })
    await page.getByText('Nothing open').waitFor()
    equal(page.url(), `${origin}/`, 'the code does not stay in the address')

    // A session is used: text with links and images of elsewhere, a tool, a question, a second agent.
    await real.model.keep('links', [
      {
        text: `See [the manual](${OUTSIDE}/manual), ![a picture](${OUTSIDE}/picture.png) and ${OUTSIDE}/bare.`,
      },
    ])
    await start(page)
    await send(page, '[[answer:links]]')
    await page.locator('.message.agent a', { hasText: 'the manual' }).waitFor()
    await idle(page)
    await send(page, '[[tool:Bash:{"command":"touch made","description":"Make a file"}]]')
    await page.getByRole('button', { name: /Allow once/ }).click()
    await page.locator('.tool[data-outcome=passed]', { hasText: 'touch made' }).waitFor()
    await idle(page)
    await start(page, 'Codex')
    await send(page, '[[say:both are here]]')
    await page.locator('.message.agent', { hasText: 'both are here' }).waitFor()
    await idle(page)

    const [cookie] = await page.context().cookies()
    const token = (await readFile(path.join(real.data, 'token'), 'utf8')).trim()
    const key = await page.evaluate(() => localStorage.getItem('chartroom.key'))
    check(key.length === 64, 'the page has its key')
    const secrets = { code, cookie: cookie.value, token, key }
    const holds = text => Object.keys(secrets).filter(name => text.includes(secrets[name]))

    const processes = await treeOf(real.child.pid)
    check(processes.length >= 4, `the agents run below the server: ${processes.map(one => one.args)}`)
    for (const { pid, args, environment } of processes) {
      equal(holds(args), [], `in the arguments of ${pid}: ${args}`)
      equal(holds(environment), [], `in the environment of ${pid}: ${args}`)
    }

    // One person follows one link; that is the only thing that may ask for anything outside.
    await page.locator('.tab-name').first().click()
    const opened = page.context().waitForEvent('page')
    await page.locator('.message.agent a', { hasText: 'the manual' }).click()
    const outside = await opened
    await outside.getByText('outside').waitFor()
    equal(await outside.evaluate(() => [document.referrer, window.opener]), ['', null])

    await page.reload()
    await page.locator('.message.agent').first().waitFor()
    const left = []
    for (const request of requests) {
      const headers = await request.allHeaders()
      equal(headers.referer ?? null, null, `a Referer went to ${request.url()}`)
      const sameOrigin = new URL(request.url()).origin === origin
      if (sameOrigin) continue
      left.push(request.url())
      equal(holds(JSON.stringify(headers)), [], `in the headers of ${request.url()}`)
    }
    equal(left, [`${OUTSIDE}/manual`], 'what left the origin')
    const named = requests.map(request => request.url()).filter(url => holds(url).length > 0)
    equal(named, [real.url], 'only the launch link itself names the code')
    for (const socket of sockets) equal(new URL(socket).host, new URL(origin).host)
    check(sockets.length >= 2, 'the socket was seen')
    const kept = await page.evaluate(() =>
      JSON.stringify([document.cookie, localStorage, sessionStorage, document.documentElement.outerHTML]),
    )
    // A script of our own origin could read the key, which opens nothing without the cookie, and none of the others.
    equal(holds(kept), ['key'])

    const folder = path.join(real.data, 'logs')
    const files = await readdir(folder)
    const logs = await Promise.all(files.map(file => readFile(path.join(folder, file), 'utf8')))
    const all = [...logs, ...real.logs.map(log => log())].join('\n')
    check(all.includes('/api/session/create'), 'the logs tell what was asked for')
    equal(holds(all), [], 'in the logs')
    return `${requests.length} requests, ${processes.length} processes, ${all.length} characters of logs`
  },
)

/** The server and everything below it: arguments and environment as the system shows them. */
async function treeOf(root) {
  const all = []
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const [stat, args, environment] = await Promise.all(
        ['stat', 'cmdline', 'environ'].map(file => readFile(`/proc/${name}/${file}`, 'latin1')),
      )
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
      all.push({ pid: Number(name), parent, args: args.replaceAll('\0', ' '), environment })
    } catch {
      // It has ended meanwhile, or is another person's.
    }
  }
  const tree = all.filter(one => one.pid === root)
  for (const one of tree) tree.push(...all.filter(other => other.parent === one.pid))
  return tree
}
