// Which files a call changed, and by how many lines where that is known: the agents' own edit tools and ours.

import { kindOf, type ToolCall } from './describe'
import { between, diffsOf } from './diff'

export interface ChangedFile {
  path: string
  /** The first line that is new. */
  line?: number | undefined
  /** Of a change that a language server worked out only the files are told. */
  lines?: { added: number; removed: number }
}

/** How our tools begin when they have changed files. */
const TOLD =
  /^(?:Patched \d+|(?:Renamed|Replaced|Inserted|Deleted|Applied) .*, \d+ places? in \d+) files?: (.+)\.$/

type Call = Pick<ToolCall, 'toolName' | 'toolArguments' | 'toolOutput' | 'detail'>

/** The files that a call which has ended well changed. */
export function changedBy(call: Call): ChangedFile[] {
  const ours = ourTool(call)
  if (ours !== undefined) return changedByOurs(ours.name, ours.args, call.toolOutput ?? '')
  if (kindOf(call.toolName, call.detail, call.toolArguments) !== 'edit') return []
  return diffsOf(call).map(({ path, added, removed, hunks }) => ({
    path,
    line: hunks[0]?.newStart,
    lines: { added, removed },
  }))
}

/** A tool of `chartroom mcp`, as Claude names it or as Codex does. */
function ourTool(call: Call): { name: string; args: ToolCall['toolArguments'] } | undefined {
  const claude = /^mcp__chartroom__(\w+)$/.exec(call.toolName)
  if (claude?.[1]) return { name: claude[1], args: call.toolArguments }
  const { server, tool, arguments: args } = call.toolArguments
  if (server !== 'chartroom' || typeof tool !== 'string') return undefined
  return { name: tool, args: isObject(args) ? args : {} }
}

function changedByOurs(name: string, args: ToolCall['toolArguments'], output: string): ChangedFile[] {
  const path = args.filePath
  if (typeof path === 'string') {
    if (name === 'edit_file' && typeof args.oldText === 'string' && typeof args.newText === 'string') {
      return [counted(path, args.oldText, args.newText)]
    }
    if (name === 'write_file' && typeof args.content === 'string') return [counted(path, '', args.content)]
  }
  // A preview and a list of actions begin in another way.
  const [first = ''] = output.split('\n')
  const told = TOLD.exec(first)
  return told?.[1]?.split(', ').map(path => ({ path })) ?? []
}

function counted(path: string, before: string, after: string): ChangedFile {
  const { added, removed } = between(path, before, after)
  return { path, lines: { added, removed } }
}

function isObject(value: unknown): value is ToolCall['toolArguments'] {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
