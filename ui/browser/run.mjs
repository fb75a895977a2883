// Runs the stories in real Chromium: `node ui/browser/run.mjs [--only=mock|real] [--file=daily] [words of a name…]`.
//
// Prints each story's name with its outcome and fails loudly at the end if any failed. Nothing is tried twice.

import { readdir } from 'node:fs/promises'
import { buildPage, launch, Stage, stories } from './harness.mjs'

const words = process.argv.slice(2).filter(word => !word.startsWith('--'))
const option = name => process.argv.find(word => word.startsWith(`--${name}=`))?.slice(name.length + 3)
const [only, ofFile] = [option('only'), option('file')]

for (const file of (await readdir(new URL('.', import.meta.url))).sort()) {
  if (file.endsWith('.story.mjs') && file.startsWith(ofFile ?? ''))
    await import(new URL(file, import.meta.url))
}
const chosen = stories.filter(
  story => words.every(word => story.name.includes(word)) && (only === undefined || story.needs === only),
)
if (chosen.length === 0) {
  console.error(`no story has these words: ${words.join(' ')}`)
  process.exit(1)
}

if (chosen.some(story => story.needs === 'mock')) buildPage()
const browser = await launch()
const failed = []
for (const story of chosen) {
  const stage = new Stage(browser)
  const started = Date.now()
  let failure
  try {
    const fact = await story.run(stage)
    if (typeof fact === 'string') story.fact = fact
  } catch (error) {
    failure = error
  }
  const troubles = await stage.end()
  if (!failure && troubles.length > 0) failure = new Error(troubles.join('\n'))
  const time = `${((Date.now() - started) / 1000).toFixed(1)} s`
  console.log(
    `${failure ? 'FAIL' : 'ok  '} ${story.name} (${story.needs}, ${time})${story.fact ? `: ${story.fact}` : ''}`,
  )
  if (failure) {
    failed.push(story.name)
    console.log(String(failure.stack ?? failure).replace(/^/gm, '     '))
    for (const trouble of troubles) console.log(`     ${trouble}`)
  }
}
await browser.close()
console.log(`${chosen.length - failed.length} of ${chosen.length} stories passed`)
process.exit(failed.length > 0 ? 1 : 0)
