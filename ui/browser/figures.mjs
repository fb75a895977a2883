// Figures of the page for `cargo xtask bench`: one JSON line each, with the real server and the real agents. A time
// is by the browser's own record (to the painted frame) or, as work, the main thread's own.

import { launch, Stage } from './harness.mjs'
import { hugeChange, longReply, longSession, manyChanges } from './large.mjs'
import { firstLoad } from './wire.mjs'

const say = line => console.log(JSON.stringify(line))

const browser = await launch()
const staged = async measure => {
  const stage = new Stage(browser)
  try {
    return await measure(stage)
  } finally {
    await stage.end()
  }
}
say({
  name: 'page: first load, bytes on the wire',
  value: await staged(async stage => (await firstLoad(stage, (await stage.real()).url)).bytes / 1024),
  unit: 'KiB',
  baseline: 'CloudCLI',
  baseline_value: 4505.6,
  aim: 'under 120 KiB',
})
const long = await staged(longSession)
say({
  name: 'page: open 10,000 items, to the painted end',
  value: long.mount,
  unit: 'ms',
  baseline: 'CloudCLI, 3,600 messages, not done after',
  baseline_value: 40_000,
  aim: 'under 1,000 ms',
})
say({ name: 'page: work for that', value: long.ms, unit: 'ms', aim: '–' })
say({ name: 'page: rows in the page of 10,000', value: long.rows, unit: 'rows', aim: 'under 300' })
say({ name: 'page: slowest key in that session', value: long.slowest, unit: 'ms', aim: 'under 50 ms' })
const reply = await staged(stage => longReply(stage, { pace: true }))
const flood = await staged(longReply)
say({
  name: 'page: longest task while 200 KB of markdown stream, 40 KB a second',
  value: reply.longest,
  unit: 'ms',
  aim: 'under 100 ms',
})
say({ name: 'page: work of one frame of it', value: reply.each, unit: 'ms', aim: 'under 16 ms' })
say({
  name: 'page: longest task of it as fast as the agent can, on the same two cores',
  value: flood.longest,
  unit: 'ms',
  aim: '–',
})
const change = await staged(hugeChange)
say({ name: 'page: work to show an edit of 4 MB', value: change.edit, unit: 'ms', aim: '–' })
say({ name: 'page: work to show a new file of 4 MB', value: change.write, unit: 'ms', aim: '–' })
say({ name: 'page: slowest key beside them', value: change.slowest, unit: 'ms', aim: 'under 50 ms' })
const many = await staged(manyChanges)
say({
  name: 'page: the changes of 5,000 files, asked to painted',
  value: many.painted,
  unit: 'ms',
  aim: 'under 500 ms',
})
say({ name: 'page: work for that list', value: many.ms, unit: 'ms', aim: '–' })
say({ name: 'page: a comment, written to shown', value: many.commented, unit: 'ms', aim: 'one frame' })
await browser.close()
