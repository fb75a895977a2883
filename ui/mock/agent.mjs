// The scripted agent: what it does depends on words in the message.

import { setTimeout as wait } from 'node:timers/promises'

const WORDS =
  'The retry lives in the client: it tries **once**, waits for the token to be renewed and then gives the same answer again.'

const PLACES = 'The retry is in `src/login.ts:4`, and src/keys.ts:40:2 renews the key.'

export async function agent(session, turn, message) {
  const item = () => `${turn.turnId}:${turn.n++}:0`
  if (message.includes('logged out')) throw new Error('Not logged in · Please run /login')
  if (message.includes('fail')) throw new Error('API overloaded: try again in a minute')
  if (message.includes('think')) {
    session.upsert({
      type: 'thinking',
      turnId: turn.turnId,
      itemId: item(),
      status: 'complete',
      content: 'I should look at the client before I change anything.',
      providerId: 'mock',
    })
  }
  if (message.includes('permission')) await askToBuild(session, turn, item())
  if (message.includes('choose')) await askToChoose(session)
  if (turn.cancelled) return
  const big = message.includes('big')
  const text = message.includes('where')
    ? PLACES
    : big
      ? bigMarkdown(200_000)
      : message.includes('long')
        ? `${WORDS} `.repeat(12)
        : WORDS
  const pace = message.includes('slow') ? 120 : 15
  const step = big ? 700 : 14
  const base = { type: 'message', turnId: turn.turnId, itemId: item(), origin: 'agent' }
  for (let end = step; end < text.length && !turn.cancelled; end += step) {
    session.upsert({ ...base, status: end === step ? 'create' : 'update', content: text.slice(0, end) })
    await wait(pace)
  }
  if (turn.cancelled) return
  session.upsert({ ...base, status: 'complete', content: text })
}

async function askToBuild(session, turn, itemId) {
  const toolArguments = { command: 'rm -rf dist && npm run build', description: 'Build from nothing' }
  const call = {
    type: 'tool_call',
    turnId: turn.turnId,
    itemId,
    toolName: 'Bash',
    toolArguments,
    callId: `call-${itemId}`,
    detail: { kind: 'shell' },
  }
  session.upsert({ ...call, status: 'create' })
  const answer = await session.ask({
    kind: 'permission',
    toolName: 'Bash',
    toolArguments,
    callId: call.callId,
    grants: [
      { grantId: 'same', what: 'exactly this command', scope: 'session', isWider: false },
      { grantId: 'suggested-0', what: '`npm run build` with any arguments', scope: 'project', isWider: true },
    ],
    detail: { kind: 'shell' },
  })
  if (turn.cancelled) return
  if (answer.decision === 'deny') {
    const toolOutput = `denied: ${answer.message ?? ''}`
    session.upsert({ ...call, status: 'complete', toolOutput, toolOutputIsError: true })
    return
  }
  const detail = { kind: 'shell', exitCode: 0, durationMs: 1200 }
  session.upsert({ ...call, status: 'complete', toolOutput: 'built in 1.2 s', detail })
}

async function askToChoose(session) {
  await session.ask({
    kind: 'choice',
    questions: [
      {
        question: 'Which store should the sessions use?',
        header: 'Store',
        multiSelect: false,
        options: [
          { label: 'SQLite', description: 'one file, no server' },
          { label: 'Postgres', description: 'shared between machines' },
        ],
      },
    ],
  })
}

/** Markdown with headings, lists, tables and code, about as long as asked. */
export function bigMarkdown(length) {
  let text = ''
  for (let n = 1; text.length < length; n++) {
    text += `## Part ${n}\n\nHere is *what* was done in step ${n}, with \`code\` and a [link](https://example.com/${n}).\n\n`
    text += `- first of ${n}\n- second, with **weight**\n- third\n\n`
    if (n % 3 === 0) {
      text += `\`\`\`ts\nexport function step${n}(input: string): number {\n  return input.length + ${n}\n}\n\`\`\`\n\n`
    }
    if (n % 5 === 0) text += `| name | value |\n|---|---|\n| a${n} | ${n} |\n| b${n} | ${n * 2} |\n\n`
  }
  return text
}
