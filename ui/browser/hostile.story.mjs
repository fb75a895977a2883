// Texts that try to run something, wherever they can come from: the model, tools, file names, titles, old sessions.

import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { ATTACKS } from '../mock/attacks.mjs'
import * as recorded from '../mock/recorded.mjs'
import { writeClaudeSession } from './claudeFile.mjs'
import { check, equal, idle, openFound, send, start, story } from './harness.mjs'

const HOSTILE = ATTACKS.join('\n\n')
const image = n => `<img src=x onerror=window.pwned=${n}>`
const FORBIDDEN =
  'script, img, iframe, form:not(.composer), style, object, embed, math, details:not(.inspector *), base, video, template, link, meta'

/** Fails if anything of it has become more than text, anywhere in the page. */
async function harmless(page, where) {
  const made = await page.evaluate(
    forbidden => [...document.body.querySelectorAll(forbidden)].map(node => node.outerHTML.slice(0, 120)),
    FORBIDDEN,
  )
  equal(made, [], `elements were made in ${where}`)
  const handlers = await page.evaluate(() =>
    [...document.body.querySelectorAll('*')].flatMap(node =>
      [...node.attributes].map(attribute => attribute.name).filter(name => name.startsWith('on')),
    ),
  )
  equal(handlers, [], `handlers in ${where}`)
  for (const link of await page.locator('a').evaluateAll(all => all.map(one => one.getAttribute('href')))) {
    // A place in a file is a link inside the page: an address of ours, with every other character encoded.
    check(/^(https?:\/\/|mailto:|#\/file\/[\w%.~:/-]*$)/.test(link ?? ''), `a link to ${link} in ${where}`)
  }
  equal(await page.evaluate(() => globalThis.pwned ?? null), null, `something ran in ${where}`)
}

/** Goes through the whole conversation with every card open. */
async function readThrough(page, where) {
  await page.locator('.rows').press('Home')
  for (let step = 0, end = false; step < 80 && !end; step++) {
    await page.locator('.tool-line[aria-expanded=false]').evaluateAll(all => all.map(line => line.click()))
    await harmless(page, where)
    await page.locator('.rows').press('PageDown')
    await page.waitForTimeout(30)
    end = await page
      .locator('.rows')
      .evaluate(rows => rows.scrollHeight - rows.scrollTop - rows.clientHeight < 3)
  }
}

story('XSS: nothing that a model, a tool, a file name or a title says can run', 'real', async stage => {
  const real = await stage.real({
    prepare: async at => {
      await writeFile(path.join(at.project, 'attacks.txt'), HOSTILE)
      await writeFile(path.join(at.project, `${image(60)}.ts`), HOSTILE)
    },
  })
  const page = await stage.page(real.url)
  await real.model.keep('hostile', [
    { thinking: HOSTILE },
    { text: HOSTILE },
    { tool: { name: 'Bash', input: { command: `cat attacks.txt # ${image(61)}`, description: image(62) } } },
  ])
  await real.model.keep('write', [
    {
      tool: {
        name: 'Write',
        input: { file_path: path.join(real.project, `${image(63)}.md`), content: HOSTILE },
      },
    },
  ])
  await start(page)
  // The first words are the title.
  await send(page, `${image(64)} [[answer:hostile]]`)
  const allow = page.getByRole('button', { name: /Allow once/ })
  const read = page.locator('.tool[data-outcome=passed]', { hasText: 'cat attacks.txt' })
  await allow.or(read).first().waitFor()
  await harmless(page, 'a question')
  if (await allow.count()) await allow.click()
  await read.waitFor()
  await idle(page)
  check((await page.title()).includes('<img src=x'), `the title is text: ${await page.title()}`)
  await send(page, '[[answer:write]]')
  await allow.waitFor()
  check((await page.locator('.question').innerText()).includes(image(63)), 'the file’s name is text')
  await harmless(page, 'a question about a file')
  await allow.click()
  await page.locator('.tool.edit[data-outcome=passed]').waitFor()
  await idle(page)
  await readThrough(page, 'what Claude said')

  await page.getByRole('textbox', { name: 'Message' }).pressSequentially('@pwned=60')
  await page.getByRole('option', { name: image(60) }).waitFor()
  await harmless(page, 'the completion')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('pwned=6')
  await page.getByRole('option', { name: image(60) }).waitFor()
  await harmless(page, 'the palette')
  await page.keyboard.press('Escape')
})

story('XSS: nothing in a session of before, made by anyone, can run', 'real', async stage => {
  const real = await stage.real({
    prepare: at => writeClaudeSession(at, recorded.hostile('hostile')),
  })
  const page = await stage.page(real.url)
  await openFound(page, 'window.pwned=1')
  await page.locator('.tool').first().waitFor()
  await readThrough(page, 'a session of before')
})

story('XSS: nothing that Codex says can run', 'real', async stage => {
  const real = await stage.real()
  const page = await stage.page(real.url)
  await real.model.keep('hostile', [{ thinking: HOSTILE }, { text: HOSTILE }])
  await start(page, 'Codex')
  await send(page, '[[answer:hostile]]')
  await page.locator('.message.agent', { hasText: 'window.pwned' }).first().waitFor()
  await idle(page)
  await readThrough(page, 'what Codex said')
})

story('XSS: markup that got through all the same would run and load nothing', 'real', async stage => {
  const real = await stage.real()
  const page = await stage.page(real.url)
  await page.getByText('Nothing open').waitFor()
  const refused = await page.evaluate(async () => {
    const seen = new Set()
    document.addEventListener('securitypolicyviolation', event => {
      seen.add(`${event.effectiveDirective} ${event.blockedURI.split(/[,/]/)[0]}`.trim())
    })
    const place = document.createElement('div')
    document.body.append(place)
    const pixel = 'R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=='
    place.innerHTML = `<img src="data:image/gif;base64,${pixel}"><img src="/nothing" onerror="window.pwned=70">
      <a href="javascript:window.pwned=71">x</a><style>body { display: none }</style>
      <iframe src="data:text/html,x"></iframe><object data="/x"></object>`
    const script = document.createElement('script')
    script.textContent = 'window.pwned=72'
    place.append(script)
    const blob = document.createElement('img')
    blob.src = URL.createObjectURL(new Blob(['x'], { type: 'image/png' }))
    place.append(blob)
    place.querySelector('a').click()
    await new Promise(resolve => setTimeout(resolve, 500))
    return [...seen].sort()
  })
  equal(await page.evaluate(() => globalThis.pwned ?? null), null, 'nothing ran')
  equal(await page.evaluate(() => getComputedStyle(document.body).display === 'none'), false)
  equal(refused, [
    'frame-src',
    'img-src blob',
    'img-src data',
    'object-src http:',
    'script-src-attr inline',
    'script-src-elem inline',
    'style-src-elem inline',
  ])
  // What the browser says about each refusal is what was wanted here.
  stage.troubles.length = 0
})
