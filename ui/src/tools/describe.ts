// What a tool call's one line says: its kind, a verb, the thing, and how it went. Pure.

import type { ToldDiagnostics, ToolDetail, ToolKind, Upsert } from '../protocol'
import { plain } from '../text/ansi'
import { plural } from '../text/format'

export type ToolCall = Extract<Upsert, { type: 'tool_call' }>

export interface Line {
  kind: ToolKind
  verb: string
  /** The command, the path, the pattern: what the call is about. */
  object: string
  /** How it went; empty while it runs. */
  result: string
  /** Of a change that was made: how many lines came and went. */
  counts?: { added: number; removed: number }
  /** How many errors the agent was told of after the call, if any. */
  told?: { text: string; failed: boolean }
  /** Stopped: its turn ended before it did. */
  outcome: 'running' | 'stopped' | 'passed' | 'failed'
}

type Arguments = Record<string, unknown>

/** How the server's answer begins for a call that a person denied, and the reason, if one was given. */
const REFUSED = /^The user refused this(?:\.|: ([\s\S]*))/

export function describe(call: ToolCall, root?: string, turnRuns = true): Line {
  const kind = kindOf(call.toolName, call.detail, call.toolArguments)
  const outcome = outcomeOf(call, turnRuns)
  const named = { kind, verb: verbOf(kind, call), object: objectOf(kind, call, root), outcome }
  if (outcome === 'running') return { ...named, result: '' }
  if (outcome === 'stopped') return { ...named, result: 'stopped' }
  const counts = kind === 'edit' && outcome === 'passed' ? countsOf(call) : undefined
  const told = toldOf(call.detail?.diagnostics)
  return { ...named, result: resultOf(kind, call), ...(counts ? { counts } : {}), ...(told ? { told } : {}) }
}

function toldOf(told: ToldDiagnostics | undefined): Line['told'] {
  if (!told) return undefined
  const { errors, warnings, leftOut = 0, new: fresh } = told
  const counted = [errors > 0 && plural(errors, 'error'), warnings > 0 && plural(warnings, 'warning')]
  const text = [counted.filter(Boolean).join(', '), leftOut > 0 && `${leftOut} more`].filter(Boolean)
  const brought = fresh === undefined ? '' : `, ${fresh} new`
  return { text: text.join(' and ') + brought, failed: errors > 0 }
}

function countsOf({ detail }: ToolCall): Line['counts'] {
  const diffs = detail?.diffs ?? []
  if (diffs.length === 0) return undefined
  const sum = (of: 'added' | 'removed') => diffs.reduce((total, diff) => total + diff[of], 0)
  return { added: sum('added'), removed: sum('removed') }
}

/** Which card a call gets. What carries a command is a command, whatever the agent calls it. */
export function kindOf(toolName: string, detail: ToolDetail | undefined, args: Arguments): ToolKind {
  const kind = namedKind(toolName, detail)
  return ['read', 'search', 'other'].includes(kind) && commandOf(args) !== '' ? 'shell' : kind
}

function namedKind(toolName: string, detail: ToolDetail | undefined): ToolKind {
  if (detail?.kind) return detail.kind
  if (toolName.startsWith('mcp__') || toolName.startsWith('mcp.')) return 'mcp'
  const name = toolName.toLowerCase()
  if (/^(bash|shell|exec|execute|exec_command|local_shell|killshell|bashoutput)$/.test(name)) return 'shell'
  if (/^(edit|write|multiedit|notebookedit|apply_patch|str_replace.*)$/.test(name)) return 'edit'
  if (/^(read|view|notebookread|read_file|read_text_file)$/.test(name)) return 'read'
  if (/^(grep|glob|ls|search|find|toolsearch|search_code)$/.test(name)) return 'search'
  if (/^(webfetch|websearch|fetch|web_search|web_fetch)$/.test(name)) return 'web'
  if (/^(todowrite|todoread|update_plan|plan|taskcreate|taskupdate|tasklist)$/.test(name)) return 'todo'
  if (/^(task|agent|subagent)$/.test(name)) return 'subagent'
  return 'other'
}

function outcomeOf(call: ToolCall, turnRuns: boolean): Line['outcome'] {
  if (call.status === 'error' || call.toolOutputIsError) return 'failed'
  if (call.status !== 'complete') return turnRuns ? 'running' : 'stopped'
  return (call.detail?.exitCode ?? 0) === 0 ? 'passed' : 'failed'
}

function verbOf(kind: ToolKind, call: ToolCall): string {
  switch (kind) {
    case 'shell':
      return 'Run'
    case 'edit':
      return /^write$/i.test(call.toolName) ? 'Write' : 'Edit'
    case 'read':
      return 'Read'
    case 'search':
      return /^(glob|find|ls)$/i.test(call.toolName) ? 'Find' : 'Search'
    case 'web':
      return /search/i.test(call.toolName) ? 'Web search' : 'Fetch'
    case 'mcp':
      return mcpName(call.toolName).server
    case 'todo':
      return 'Plan'
    case 'subagent':
      return text(call.toolArguments, 'subagent_type', 'agent') || 'Agent'
    case 'other':
      return call.toolName === 'unknown_tool' ? 'Tool' : call.toolName
  }
}

/** `mcp__server__tool` in its two parts. */
export function mcpName(toolName: string): { server: string; tool: string } {
  const [, server, ...tool] = toolName.split(/__|\./)
  return server && tool.length > 0 ? { server, tool: tool.join('__') } : { server: 'MCP', tool: toolName }
}

function objectOf(kind: ToolKind, call: ToolCall, root?: string): string {
  const args = call.toolArguments
  const short = (path: string) => (root && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path)
  const title = call.detail?.title ?? ''
  switch (kind) {
    case 'shell':
      return commandOf(args) || title
    case 'edit': {
      const paths = call.detail?.diffs?.map(diff => diff.path) ?? []
      const first = short(paths[0] ?? text(args, 'file_path', 'path', 'notebook_path'))
      return paths.length > 1 ? `${first} and ${paths.length - 1} more` : first || title
    }
    case 'read': {
      const path = short(text(args, 'file_path', 'path', 'notebook_path')) || title
      const offset = Number(args.offset ?? 0)
      const limit = Number(args.limit ?? 0)
      if (limit > 0) return `${path} ${Math.max(1, offset)}–${Math.max(1, offset) + limit - 1}`
      return offset > 1 ? `${path} from ${offset}` : path
    }
    case 'search': {
      const pattern = text(args, 'pattern', 'query', 'glob')
      const where = short(text(args, 'path'))
      return [pattern ? `“${pattern}”` : title, where && `in ${where}`].filter(Boolean).join(' ')
    }
    case 'web':
      return text(args, 'url', 'query') || title
    case 'mcp': {
      const values = Object.values(args).filter(value => typeof value === 'string' && value !== '')
      return [mcpName(call.toolName).tool, values[0]].filter(Boolean).join(' · ')
    }
    case 'todo':
      return planOf(args).find(step => step.state === 'doing')?.text ?? plural(planOf(args).length, 'step')
    case 'subagent':
      return text(args, 'description', 'prompt').split('\n')[0] ?? title
    case 'other':
      return title || text(args, 'description', 'file_path', 'path', 'query', 'skill', 'command')
  }
}

function resultOf(kind: ToolKind, call: ToolCall): string {
  const { detail, toolOutput = '' } = call
  const failed = call.status === 'error' || call.toolOutputIsError
  if (kind === 'shell' && detail?.exitCode !== undefined) return `exit ${detail.exitCode}`
  const refused = failed && REFUSED.exec(toolOutput)
  if (refused) return refused[1] ? `Denied: ${firstLine(refused[1])}` : 'Denied'
  if (failed) return firstLine(call.errorMessage ?? toolOutput) || 'failed'
  switch (kind) {
    case 'edit': {
      const counts = countsOf(call)
      return counts ? `+${counts.added} −${counts.removed}` : ''
    }
    case 'read':
      return toolOutput === '' ? '' : plural(lines(toolOutput), 'line')
    case 'search':
      return /^no (files|matches)/i.test(toolOutput) ? 'no hits' : plural(lines(toolOutput), 'hit')
    case 'todo': {
      const plan = planOf(call.toolArguments)
      return `${plan.filter(step => step.state === 'done').length} of ${plan.length} done`
    }
    default:
      return ''
  }
}

export interface Step {
  text: string
  state: 'open' | 'doing' | 'done'
}

/** The steps of a to-do list or a plan, in either agent's words. */
export function planOf(args: Arguments): Step[] {
  const list = args.todos ?? args.plan ?? args.entries ?? args.steps
  if (!Array.isArray(list)) return []
  return list.flatMap(entry => {
    if (typeof entry !== 'object' || entry === null) return []
    const step = entry as Arguments
    const state = String(step.status ?? '')
    return {
      text: text(step, 'content', 'step', 'text', 'title'),
      state: /^(completed|done)$/.test(state)
        ? 'done'
        : /progress|doing|active/.test(state)
          ? 'doing'
          : 'open',
    }
  })
}

export function commandOf(args: Arguments): string {
  const { command, cmd } = args
  if (Array.isArray(command)) return shellCall(command)?.script ?? command.map(String).join(' ')
  return typeof command === 'string' ? command : typeof cmd === 'string' ? cmd : ''
}

/** `["/bin/bash", "-lc", script]` in its parts. A shell that lies in no folder of the system's may be anything. */
export function shellCall(argv: unknown[]): { shell: string; script: string } | undefined {
  const [shell, flag, script] = argv
  if (argv.length !== 3 || typeof script !== 'string' || typeof shell !== 'string') return undefined
  if (flag !== '-c' && flag !== '-lc') return undefined
  const known = /^((\/usr(\/local)?|\/opt\/homebrew)?\/bin\/)?(ba|z)?sh$/.test(shell)
  return known ? { shell: `${shell} ${flag}`, script } : undefined
}

export function text(args: Arguments, ...names: string[]): string {
  for (const name of names) {
    const value = args[name]
    if (typeof value === 'string' && value !== '') return value
  }
  return ''
}

function lines(output: string): number {
  return output.split('\n').filter(line => line.trim() !== '').length
}

function firstLine(output: string): string {
  const line =
    plain(output.replaceAll(/<\/?tool_use_error>/g, ''))
      .split('\n')
      .find(line => line.trim() !== '')
      ?.trim() ?? ''
  return line.length > 80 ? `${line.slice(0, 79)}…` : line
}
