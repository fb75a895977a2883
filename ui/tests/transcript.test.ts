// A conversation as Markdown, and words found in it: all of it, whatever is on the screen.

import { expect, it } from 'vitest'
import type { Upsert } from '../src/protocol'
import { hitsIn } from '../src/store/find'
import { SessionLog } from '../src/store/log'
import { rowsOf } from '../src/store/rows'
import { transcript } from '../src/text/transcript'

const base = { turnId: 't', sessionId: 's', sourceTimestamp: '', emittedAt: '', providerId: 'p' }

function log(): SessionLog {
  const log = new SessionLog()
  const entries = [
    { ...base, type: 'message', itemId: '1', status: 'complete', origin: 'user', content: 'Look at `a`' },
    {
      ...base,
      type: 'tool_call',
      itemId: '2',
      status: 'complete',
      toolName: 'Bash',
      callId: 'c',
      toolArguments: { command: 'ls -l' },
      toolOutput: 'one ``` two',
    },
    { ...base, type: 'message', itemId: '3', status: 'complete', origin: 'agent', content: 'One, and ONE.' },
  ] as unknown as Upsert[]
  log.apply({ type: 'session:history', sessionId: 's', seq: 3, entries, turns: [] } as never)
  return log
}

it('is the whole conversation, with fences that nothing in it ends', () => {
  expect(transcript(log(), 'A title', 'Claude')).toBe(
    '# A title\n\n## You\n\nLook at `a`\n\n## Claude\n\n**Bash** `ls -l`\n\n````\none ``` two\n````\n\nOne, and ONE.\n',
  )
})

it('finds every occurrence, in commands and outputs too', () => {
  const all = log()
  const rows = rowsOf(all, new Map())
  expect(hitsIn(all, rows, 'one').map(hit => `${hit.key} ${hit.nth}`)).toEqual([
    'item 2 0',
    'item 3 0',
    'item 3 1',
  ])
  expect(hitsIn(all, rows, 'LS -L')).toHaveLength(1)
  expect(hitsIn(all, rows, '')).toEqual([])
})
