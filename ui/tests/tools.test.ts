import { describe, expect, it } from 'vitest'
import type { ToolDetail } from '../src/protocol'
import { changedBy } from '../src/tools/changed'
import { describe as describeCall, kindOf, planOf, type ToolCall } from '../src/tools/describe'
import { between, diffsOf, isGenerated, numbered } from '../src/tools/diff'
import { toldLines } from '../src/tools/told'

const ROOT = '/home/ada/code'

function call(
  toolName: string,
  toolArguments: Record<string, unknown>,
  more: Partial<ToolCall> = {},
): ToolCall {
  return {
    type: 'tool_call',
    turnId: 't',
    sessionId: 's',
    itemId: 'i',
    callId: 'c',
    sourceTimestamp: '',
    emittedAt: '',
    status: 'complete',
    toolName,
    toolArguments,
    ...more,
  }
}

/** A call's line as one string. */
function check(of: ToolCall, expected: string) {
  const { kind, verb, object, result, outcome } = describeCall(of, ROOT)
  expect(`${kind} | ${verb} | ${object} | ${result} | ${outcome}`).toBe(expected)
}

describe("a tool call's line", () => {
  it('says what a command does and how it ended', () => {
    check(
      call('Bash', { command: 'npm test' }, { detail: { exitCode: 1 } }),
      'shell | Run | npm test | exit 1 | failed',
    )
    check(call('Bash', { command: 'ls' }, { status: 'create' }), 'shell | Run | ls |  | running')
    check(
      call('shell', { command: ['bash', '-lc', 'cargo check'] }, { detail: { exitCode: 0 } }),
      'shell | Run | cargo check | exit 0 | passed',
    )
  })

  it('is stopped when its turn has ended before it, and is never running then', () => {
    const stopped = (status: ToolCall['status']) =>
      describeCall(call('Bash', { command: 'ls' }, { status, toolOutput: 'so far' }), ROOT, false)
    for (const status of ['create', 'update'] as const) {
      expect(stopped(status)).toMatchObject({ outcome: 'stopped', result: 'stopped' })
    }
    expect(stopped('complete').outcome).toBe('passed')
    expect(stopped('error').outcome).toBe('failed')
  })

  it('says why a call failed, and that it was denied, in few words', () => {
    const failed = (toolOutput: string) => call('Skill', {}, { toolOutput, toolOutputIsError: true })
    const wrapped = '<tool_use_error>Error: No such tool available</tool_use_error>'
    check(failed(wrapped), 'other | Skill |  | Error: No such tool available | failed')
    const refused = 'The user refused this. Stop, and ask what to do instead.'
    check(failed(refused), 'other | Skill |  | Denied | failed')
    check(failed('The user refused this: use b.txt'), 'other | Skill |  | Denied: use b.txt | failed')
  })

  it('knows the place that each line of what the agent was told is about', () => {
    const text =
      'LSP errors detected in this file, please fix:\n<diagnostics file="a &amp; b.ts">\nERROR [7:2] x\n... and 3 more\n</diagnostics>\nERROR [1:1] outside'
    const places = toldLines(text).map(line => line.place)
    const none = undefined
    expect(places).toEqual([none, none, { path: 'a & b.ts', line: 7 }, none, none, none])
    expect(
      toldLines(text)
        .map(line => line.text)
        .join('\n'),
    ).toBe(text)
  })

  it('says how much the agent was told about errors', () => {
    const told = (errors: number, warnings: number, leftOut?: number, fresh?: number) => {
      const more = { ...(leftOut ? { leftOut } : {}), ...(fresh ? { new: fresh } : {}) }
      const diagnostics = { text: '…', errors, warnings, ...more }
      return describeCall(call('Edit', {}, { detail: { diagnostics } })).told
    }
    expect(told(2, 0)).toEqual({ text: '2 errors', failed: true })
    expect(told(1, 2)).toEqual({ text: '1 error, 2 warnings', failed: true })
    expect(told(20, 0, 3)).toEqual({ text: '20 errors and 3 more', failed: true })
    expect(told(0, 1)).toEqual({ text: '1 warning', failed: false })
    expect(told(2, 0, undefined, 1)).toEqual({ text: '2 errors, 1 new', failed: true })
    expect(describeCall(call('Edit', {}, { detail: {} })).told).toBeUndefined()
  })

  it('names the file of a change and counts its lines', () => {
    const diffs = [{ path: `${ROOT}/a.ts`, added: 6, removed: 2, hunks: [] }]
    check(
      call('Edit', { file_path: `${ROOT}/a.ts` }, { detail: { diffs } }),
      'edit | Edit | a.ts | +6 −2 | passed',
    )
    check(
      call('apply_patch', {}, { detail: { kind: 'edit', diffs: [...diffs, ...diffs] } }),
      'edit | Edit | a.ts and 1 more | +12 −4 | passed',
    )
  })

  it('counts lines and hits', () => {
    check(
      call('Read', { file_path: `${ROOT}/a.ts`, offset: 1, limit: 80 }, { toolOutput: 'x\ny' }),
      'read | Read | a.ts 1–80 | 2 lines | passed',
    )
    check(
      call('Grep', { pattern: 'login', path: `${ROOT}/src` }, { toolOutput: 'a\nb\n' }),
      'search | Search | “login” in src | 2 hits | passed',
    )
    check(
      call('Grep', { pattern: 'x' }, { toolOutput: 'No files found' }),
      'search | Search | “x” | no hits | passed',
    )
  })

  it('names the server and the tool of MCP', () => {
    check(
      call('mcp__chartroom__search_code', { query: 'where' }),
      'mcp | chartroom | search_code · where |  | passed',
    )
  })

  it('shows a plan by what is being done', () => {
    const todos = [
      { content: 'one', status: 'completed' },
      { content: 'two', status: 'in_progress' },
      { content: 'three', status: 'pending' },
    ]
    check(call('TodoWrite', { todos }), 'todo | Plan | two | 1 of 3 done | passed')
    expect(planOf({ plan: [{ step: 'one', status: 'completed' }] })).toEqual([{ text: 'one', state: 'done' }])
    expect(planOf({ todos: 'nonsense' })).toEqual([])
  })

  it('marks a failure with its first line, without escapes', () => {
    check(
      call(
        'Read',
        { path: 'x' },
        { toolOutput: '\u001b[31mno such file\u001b[0m\nmore', toolOutputIsError: true },
      ),
      'read | Read | x | no such file | failed',
    )
  })

  it('draws any tool it does not know', () => {
    check(call('Frobnicate', { path: 'x' }), 'other | Frobnicate | x |  | passed')
    expect(kindOf('unknown_tool', undefined, {})).toBe('other')
    expect(kindOf('anything', { kind: 'web' } satisfies ToolDetail, {})).toBe('web')
  })

  it('calls a command a command, whatever the agent calls it', () => {
    check(call('read', { command: 'cat a; rm b' }), 'shell | Run | cat a; rm b |  | passed')
    expect(kindOf('x', { kind: 'search' }, { command: ['bash', '-lc', 'rg a'] })).toBe('shell')
    expect(kindOf('str_replace_editor', undefined, { command: 'view' })).toBe('edit')
  })
})

describe('a change', () => {
  it("is the server's when it sent one", () => {
    const diffs = [{ path: 'a', added: 1, removed: 0, hunks: [] }]
    expect(diffsOf(call('Edit', { file_path: 'b' }, { detail: { diffs } }))).toEqual(diffs)
  })

  it('is made from the arguments when it sent none', () => {
    const [diff] = diffsOf(call('Edit', { file_path: 'a', old_string: 'x\ny\nz', new_string: 'x\nY\nz' }))
    expect(diff).toEqual({
      path: 'a',
      added: 1,
      removed: 1,
      hunks: [
        {
          oldStart: 1,
          newStart: 1,
          lines: [
            { kind: 'context', spans: [{ text: 'x' }] },
            { kind: 'removed', spans: [{ text: 'y' }] },
            { kind: 'added', spans: [{ text: 'Y' }] },
            { kind: 'context', spans: [{ text: 'z' }] },
          ],
        },
      ],
    })
    expect(diffsOf(call('Write', { file_path: 'a', content: 'x\n' }))[0]).toMatchObject({
      added: 1,
      removed: 0,
    })
    expect(diffsOf(call('Bash', {}))).toEqual([])
  })

  it('is capped', () => {
    const [diff] = diffsOf(call('Write', { file_path: 'a', content: 'line\n'.repeat(5000) }))
    expect([diff?.added, diff?.truncated, diff?.hunks[0]?.lines.length]).toEqual([5000, true, 400])
  })

  it('has line numbers before and after', () => {
    const hunk = between('a', 'x\ny', 'x\nz').hunks[0]
    expect(hunk && numbered(hunk).map(line => [line.old, line.now])).toEqual([
      [1, 1],
      [2, undefined],
      [undefined, 2],
    ])
  })

  it('starts folded when it is generated', () => {
    const folded = ['package-lock.json', 'a/Cargo.lock', 'yarn.lock', 'pnpm-lock.yaml', 'go.sum', 'x.min.js']
    expect(folded.filter(path => !isGenerated(path))).toEqual([])
    expect(['src/lock.ts', 'block.rs', 'map.ts'].filter(isGenerated)).toEqual([])
  })
})

describe('the files that a call changed', () => {
  const renamed = 'Renamed total to sum, 4 places in 3 files: a.ts, lib/b.ts, c.ts.\n\nLSP errors detected'
  const ours = (tool: string, args: Record<string, unknown>, toolOutput: string) =>
    changedBy(call(`mcp__chartroom__${tool}`, args, { toolOutput }))

  it('are those of the edit tools of agents and of ours, with their lines where they are known', () => {
    const edit = { filePath: 'a.ts', oldText: 'one\ntwo', newText: 'one\nthree\nfour' }
    expect(ours('edit_file', edit, 'Edited a.ts (1 replacement).')).toEqual([
      { path: 'a.ts', lines: { added: 2, removed: 1 } },
    ])
    expect(ours('write_file', { filePath: 'b.ts', content: 'x\n' }, 'Created b.ts (1 line).')).toEqual([
      { path: 'b.ts', lines: { added: 1, removed: 0 } },
    ])
    expect(changedBy(call('Write', { file_path: '/p/c.ts', content: 'x\n' }))).toEqual([
      { path: '/p/c.ts', line: 1, lines: { added: 1, removed: 0 } },
    ])
  })

  it('are told by a rename, a symbol edit, an action and a patch', () => {
    const paths = (tool: string, output: string) => ours(tool, {}, output).map(file => file.path)
    expect(paths('rename_symbol', renamed)).toEqual(['a.ts', 'lib/b.ts', 'c.ts'])
    expect(paths('edit_symbol', 'Replaced Shop/sum, 1 place in 1 file: src/shop.ts.')).toEqual([
      'src/shop.ts',
    ])
    expect(paths('code_actions', 'Applied `Add import`, 1 place in 1 file: c.ts.')).toEqual(['c.ts'])
    expect(paths('apply_patch', 'Patched 2 files: a.ts, b.ts.')).toEqual(['a.ts', 'b.ts'])
    const codex = { server: 'chartroom', tool: 'rename_symbol', arguments: {} }
    expect(changedBy(call('rename_symbol', codex, { toolOutput: renamed })).length).toBe(3)
  })

  it('are none after a look', () => {
    const preview = 'Preview, nothing was changed. Renamed total to sum, 3 places in 2 files:\na.ts (line 1)'
    expect(ours('rename_symbol', { preview: true }, preview)).toEqual([])
    expect(ours('lsp_check', { filePath: 'a.ts' }, 'No errors.')).toEqual([])
    expect(changedBy(call('mcp__other__rename_symbol', {}, { toolOutput: renamed }))).toEqual([])
  })
})
