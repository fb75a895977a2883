// The way in: what a browser that was let in keeps, what another port of the host gets of it, and the end of it.

import { readFile } from 'node:fs/promises'
import http from 'node:http'
import path from 'node:path'
import { check, equal, story } from './harness.mjs'

story('real: a server on another port gets the cookie and can do nothing with it', 'real', async stage => {
  const real = await stage.real()
  const page = await stage.page(real.url)
  await page.getByText('Nothing open').waitFor()
  const origin = new URL(real.url).origin

  const received = []
  const other = http.createServer((request, response) => {
    received.push(request.headers.cookie ?? '')
    response.setHeader('content-type', 'text/html')
    response.end('<title>other</title>another server')
  })
  await new Promise(resolve => other.listen(0, '127.0.0.1', resolve))
  try {
    const stranger = await page.context().newPage()
    await stranger.goto(`http://127.0.0.1:${other.address().port}/`)
    equal(await stranger.title(), 'other')
    const cookie = received[0]
    check(cookie.startsWith(`chartroom_${real.port}=`), `a browser sends it to every port: ${cookie}`)
    equal(await stranger.evaluate(() => Object.keys(localStorage)), [], 'and the key to none')

    const stolen = { cookie, origin, host: new URL(origin).host, 'sec-fetch-site': 'same-origin' }
    const upgrade = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    }
    const tries = [
      ['GET', '/api/project', {}],
      ['GET', '/metrics', {}],
      ['POST', '/api/launch', {}],
      ['POST', '/api/enter', {}, { code: 'guess' }],
      ['GET', '/ws', upgrade],
    ]
    for (const [method, route, headers, body] of tries) {
      const { status } = await request(origin, method, route, { ...stolen, ...headers }, body)
      equal(status, 401, `${method} ${route}`)
    }
  } finally {
    other.closeAllConnections()
    await new Promise(resolve => other.close(resolve))
  }
})

story(
  'real: a browser that was let in stays in over reloads, tabs and restarts until it is signed out',
  'real',
  async stage => {
    const real = await stage.real()
    const origin = new URL(real.url).origin
    const page = await stage.page(real.url)
    const isIn = tab => tab.getByText('Nothing open').waitFor()
    await isIn(page)
    equal(page.url(), `${origin}/`, 'no code stays in the address')
    await page.reload()
    await isIn(page)
    const tab = await page.context().newPage()
    await tab.goto(origin)
    await isIn(tab)

    await real.crash()
    for (const open of [page, tab]) await open.locator('.connection-lost').waitFor()
    await real.start()
    for (const open of [page, tab]) await open.locator('.connection-lost').waitFor({ state: 'detached' })
    await page.reload()
    await isIn(page)

    const token = (await readFile(path.join(real.data, 'token'), 'utf8')).trim()
    const script = { authorization: `Bearer ${token}` }
    const revoked = await request(origin, 'POST', '/api/devices/revoke', script, {})
    equal(revoked, { status: 200, text: '{"revoked":1}' })
    for (const open of [page, tab]) await open.getByText('This browser was signed out.').waitFor()
    await page.reload()
    await page.getByText('Chartroom is locked').waitFor()
    const width = await page.locator('main').evaluate(main => main.getBoundingClientRect().width)
    check(width <= 480, `it is a card, and its style is let in: ${width} px`)
    equal(
      await page.locator('code').allInnerTexts(),
      ['chartroom link'],
      'the command stands alone, to be copied',
    )
    await stage.axe(page, 'the locked page')

    // Another link lets it in again, and the tab that is open goes on by itself.
    const { text } = await request(origin, 'POST', '/api/launch', script)
    await page.goto(`${origin}/?token=${JSON.parse(text).code}`)
    await isIn(page)
    await tab.locator('.connection-lost').waitFor({ state: 'detached' })
  },
)

/** One request as a program sends it, which writes every header as it likes. */
function request(origin, method, route, headers, body) {
  const text = body === undefined ? undefined : JSON.stringify(body)
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const asked = http.request(`${origin}${route}`, { method, headers: { ...headers, ...type } })
    asked.once('error', reject)
    asked.once('upgrade', (answer, socket) => {
      socket.destroy()
      resolve({ status: answer.statusCode, text: '' })
    })
    asked.once('response', answer => {
      let text = ''
      answer.on('data', data => {
        text += data
      })
      answer.once('end', () => resolve({ status: answer.statusCode, text }))
    })
    asked.end(text)
  })
}
