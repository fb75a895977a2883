// What a permission question shows: the command or the change as a person reads it, and every argument that is not
// wholly in there. Nothing may be approved unseen, and nothing has to be read twice. Pure.

import type { FileDiff, Question } from '../protocol'
import { kindOf, shellCall } from './describe'
import { between } from './diff'

type PermissionQuestion = Extract<Question, { kind: 'permission' }>
type Arguments = Record<string, unknown>

export interface Asked {
  /** The agent's own words on it. */
  said: string[]
  /** What runs, exactly; empty when the tool is no shell. */
  command: string
  /** The program that the command is given to, when the agent names one. */
  shell: string
  /** What changes, each line of it. */
  diffs: FileDiff[]
  /** The arguments of which something is in none of the above. */
  rest: [string, unknown][]
}

/** Above this a change is shown as the text that it is: so many lines are too many to draw. */
const MAX_DRAWN_LINES = 5_000

export function readQuestion(question: PermissionQuestion): Asked {
  const args = question.toolArguments
  const told = (question.detail?.diffs ?? []).filter(diff => !diff.truncated)
  const isEdit = kindOf(question.toolName, question.detail, args) === 'edit'
  const run = runIn(question)
  const change = isEdit ? changeIn(args, told) : undefined
  const shown = new Set([...(question.bookkeeping ?? []), ...(run?.names ?? []), ...(change?.names ?? [])])
  const diffs = [...(change?.diffs ?? []), ...told.filter(diff => !change?.diffs.includes(diff))]
  const others = Object.entries(args).filter(([name]) => !shown.has(name))
  const said = saidIn(question, run?.command ?? '', diffs, others)
  const words = ['description', 'reason']
  return {
    said,
    command: run?.command ?? '',
    shell: run?.shell ?? '',
    diffs,
    rest: others.filter(([name, value]) => !(words.includes(name) && said.includes(value as string))),
  }
}

/** The command, if this is a shell: the first argument that is one. Another beside it stays among the rest. */
function runIn(question: PermissionQuestion) {
  const args = question.toolArguments
  if (kindOf(question.toolName, question.detail, args) !== 'shell') return undefined
  for (const name of ['command', 'cmd']) {
    const value = args[name]
    if (typeof value === 'string' && value !== '') return { names: [name], command: value, shell: '' }
    if (!Array.isArray(value)) continue
    const call = shellCall(value)
    if (call) return { names: [name], command: call.script, shell: call.shell }
    // With a space in an argument, a line would not say where the argument ends.
    if (value.every(word => typeof word === 'string' && /^[\w@%+=:,./-]+$/.test(word))) {
      return { names: [name], command: value.join(' '), shell: '' }
    }
  }
  return undefined
}

interface Proposal {
  path: string
  old: string
  now: string
}

/** What an edit's arguments would change, and the names of those that its diffs show to the last letter. */
function changeIn(args: Arguments, told: FileDiff[]): { names: string[]; diffs: FileDiff[] } | undefined {
  if (isObject(args.changes) && showsChanges(args.changes, told)) return { names: ['changes'], diffs: told }
  const pathName = ['file_path', 'path', 'notebook_path'].find(
    name => isText(args[name]) && args[name] !== '',
  )
  if (!pathName) return undefined
  const path = args[pathName] as string
  const [proposals, names] = proposalsIn(args, path)
  const diffs = proposals.map(proposal => {
    const drawn = told.find(diff => shows(diff, proposal)) ?? draw(proposal)
    return drawn && shows(drawn, proposal) ? drawn : undefined
  })
  if (diffs.length === 0 || diffs.some(diff => diff === undefined)) return undefined
  const unset = args.replace_all === false ? ['replace_all'] : []
  return { names: [pathName, ...names, ...unset], diffs: diffs.filter(diff => diff !== undefined) }
}

function proposalsIn(args: Arguments, path: string): [Proposal[], string[]] {
  const { old_string, new_string, content, edits } = args
  if (isText(old_string) && isText(new_string)) {
    return [[{ path, old: old_string, now: new_string }], ['old_string', 'new_string']]
  }
  if (isText(content)) return [[{ path, old: '', now: content }], ['content']]
  if (!Array.isArray(edits)) return [[], []]
  const proposals = edits.map(edit => {
    if (!isObject(edit)) return undefined
    const { old_string: old, new_string: now, replace_all: all, ...more } = edit
    const plain = isText(old) && isText(now) && (all ?? false) === false && Object.keys(more).length === 0
    return plain ? { path, old, now } : undefined
  })
  return proposals.every(proposal => proposal !== undefined) ? [proposals, ['edits']] : [[], []]
}

function draw(proposal: Proposal): FileDiff | undefined {
  const diff = between(proposal.path, proposal.old, proposal.now, Number.POSITIVE_INFINITY)
  const lines = diff.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0)
  return lines <= MAX_DRAWN_LINES ? diff : undefined
}

/** Whether a diff has every line of both texts. A newline at the end of both, or of the only one, is not drawn. */
function shows(diff: FileDiff, { path, old, now }: Proposal): boolean {
  const same = (lines: string, text: string) => lines === text || `${lines}\n` === text
  const alike = old === '' || now === '' || old.endsWith('\n') === now.endsWith('\n')
  return diff.path === path && alike && same(side(diff, 'removed'), old) && same(side(diff, 'added'), now)
}

/** The old or the new text of a diff, as far as it is drawn. */
function side(diff: FileDiff, kind: 'removed' | 'added'): string {
  const lines = diff.hunks
    .flatMap(hunk => hunk.lines)
    .filter(line => line.kind === 'context' || line.kind === kind)
  return lines.map(line => line.spans.map(span => span.text).join('')).join('\n')
}

/** Whether diffs show what Codex sends as `changes`, file by file. */
function showsChanges(changes: Arguments, told: FileDiff[]): boolean {
  const files = Object.entries(changes)
  return (
    files.length > 0 &&
    files.every(([path, change]) => {
      if (!isObject(change)) return false
      const diffs = told.filter(diff => diff.path === path)
      const both = (kind: 'removed' | 'added') => diffs.map(diff => side(diff, kind)).join('\n')
      const { type, content, unified_diff: patch, move_path: moved, ...more } = change
      if (diffs.length === 0 || (moved ?? null) !== null || Object.keys(more).length > 0) return false
      if (type === 'add' && isText(content) && patch === undefined) {
        return diffs.length === 1 && diffs.every(diff => shows(diff, { path, old: '', now: content }))
      }
      if (type === 'delete' && isText(content) && patch === undefined) {
        return diffs.length === 1 && diffs.every(diff => shows(diff, { path, old: content, now: '' }))
      }
      if (type !== 'update' || !isText(patch) || content !== undefined) return false
      const lines = patch
        .replace(/\n$/, '')
        .split('\n')
        .filter(line => !line.startsWith('@@'))
      const of = (sign: string) =>
        lines
          .filter(line => line.startsWith(' ') || line.startsWith(sign))
          .map(line => line.slice(1))
          .join('\n')
      return (
        lines.every(line => /^[ +-]/.test(line)) && of('-') === both('removed') && of('+') === both('added')
      )
    })
  )
}

/** What the agent says of it, without what only repeats the beginning of something that is shown anyway. */
function saidIn(
  question: PermissionQuestion,
  command: string,
  diffs: FileDiff[],
  others: [string, unknown][],
): string[] {
  const beside = others
    .filter(([name]) => name !== 'description' && name !== 'reason')
    .map(([, value]) => value)
  const shown = [question.toolName, command, ...diffs.map(diff => diff.path), ...beside].filter(isText)
  const { description = '', detail } = question
  return [...new Set([description, detail?.title ?? ''])].filter(words => {
    const beginning = words.replace(/…$/, '')
    const named = diffs.some(
      diff => words.endsWith(` ${diff.path}`) && !words.slice(0, -diff.path.length - 1).includes(' '),
    )
    return words !== '' && !named && !shown.some(text => text.startsWith(beginning))
  })
}

const isText = (value: unknown): value is string => typeof value === 'string'

function isObject(value: unknown): value is Arguments {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
