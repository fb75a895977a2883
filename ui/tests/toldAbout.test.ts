// The marks beside lines: what the agent was told about them last.

import { expect, it } from 'vitest'
import type { Upsert } from '../src/protocol'
import type { Session } from '../src/store/session'
import { toldAbout } from '../src/views/changes/toldAbout'

const ROOT = '/home/ada/api'
const told = (file: string, ...lines: string[]) =>
  ({
    text: `<diagnostics file="${file}">\n${lines.join('\n')}\n</diagnostics>`,
    errors: 1,
    warnings: 0,
  }) as const

function check(calls: { edited?: string; told?: ReturnType<typeof told> }[], expected: [number, string][]) {
  const items = calls.map(({ edited, told }, n) => [
    String(n),
    {
      type: 'tool_call',
      detail: {
        kind: 'edit',
        ...(edited && { diffs: [{ path: `${ROOT}/${edited}`, added: 1, removed: 0, hunks: [] }] }),
        ...(told && { diagnostics: told }),
      },
    } as unknown as Upsert,
  ])
  const session = { rows: () => [], log: { items: new Map(items as [string, Upsert][]) } }
  expect([...toldAbout(session as unknown as Pick<Session, 'rows' | 'log'>, 'a.ts', ROOT)]).toEqual(expected)
}

const wrong = 'ERROR [3:1] no such name'

it('marks the lines of the file that is shown, and of no other', () => {
  check(
    [{ told: told('a.ts', wrong, 'ERROR [7:2] not a number') }],
    [
      [3, wrong],
      [7, 'ERROR [7:2] not a number'],
    ],
  )
  check([{ told: told('b.ts', wrong) }], [])
  check([{ edited: 'a.ts', told: told(`${ROOT}/a.ts`, wrong) }], [[3, wrong]])
})

it('keeps the last word only', () => {
  const later = 'ERROR [9:1] still wrong'
  check([{ told: told('a.ts', wrong) }, { told: told('a.ts', later) }], [[9, later]])
  check([{ told: told('a.ts', wrong) }, { told: told('b.ts', later) }], [[3, wrong]])
  check([{ told: told('a.ts', wrong) }, { edited: 'a.ts' }], [])
  check([{ told: told('a.ts', wrong) }, { edited: 'b.ts' }], [[3, wrong]])
})
