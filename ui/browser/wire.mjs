// What goes over the wire, by the browser's own count of the bytes that it was sent: heads and bodies, as they came.

import { until } from './harness.mjs'

/** Opens the page of a server and reads everything that it loads before a person has done anything. */
export async function firstLoad(stage, url) {
  const files = []
  const page = await stage.page(url, { opened: page => watchWire(page, files) })
  await page.getByText('Nothing open').waitFor()
  const open = () => files.filter(file => file.bytes === undefined)
  await until('everything has come', () => open().length === 0)
  // What the API answers is the person's own, and no part of the page.
  const own = files.filter(file => !file.name.startsWith('/api/'))
  return { page, files, own, bytes: own.reduce((sum, file) => sum + file.bytes, 0) }
}

/** Tells of each file of this page, from now on: its name, its coding, and how many bytes came for it; 0 if it was kept. */
async function watchWire(page, files) {
  const cdp = await page.context().newCDPSession(page)
  const started = new Map()
  cdp.on('Network.responseReceived', ({ requestId, response }) => {
    const { pathname, protocol } = new URL(response.url)
    if (!protocol.startsWith('http')) return
    const headers = Object.entries(response.headers)
    const coding = headers.find(([name]) => name.toLowerCase() === 'content-encoding')?.[1] ?? 'identity'
    const file = { name: pathname, coding, bytes: undefined }
    started.set(requestId, file)
    files.push(file)
  })
  cdp.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const file = started.get(requestId)
    if (file) file.bytes = encodedDataLength
  })
  await cdp.send('Network.enable')
}
