// What the composer offers after `/` at the start and after `@` in a word. Pure but for reading the files.

import type { NamedOption } from '../protocol'

export interface Trigger {
  kind: 'command' | 'file'
  query: string
  /** Where the word begins in the text. */
  start: number
}

export interface Suggestion {
  insert: string
  name: string
  description: string
}

const MAX_SHOWN = 10

/** The word before the caret that asks for completion, if there is one. */
export function triggerAt(text: string, caret: number): Trigger | undefined {
  const before = text.slice(0, caret)
  const command = /^\/([\w:.-]*)$/.exec(before)
  if (command) return { kind: 'command', query: command[1] ?? '', start: 0 }
  const file = /(^|\s)@([^\s@]*)$/.exec(before)
  if (file) return { kind: 'file', query: file[2] ?? '', start: caret - (file[2] ?? '').length - 1 }
  return undefined
}

export function commandsFor(query: string, commands: NamedOption[]): Suggestion[] {
  const wanted = query.toLowerCase()
  const named = commands.map(command => ({ ...command, plain: command.name.replace(/^\//, '') }))
  const starts = named.filter(command => command.plain.toLowerCase().startsWith(wanted))
  const within = named.filter(
    command => !starts.includes(command) && command.plain.toLowerCase().includes(wanted),
  )
  return [...starts, ...within].slice(0, MAX_SHOWN).map(command => ({
    insert: `/${command.plain} `,
    name: `/${command.plain}`,
    description: command.description,
  }))
}

export function filesFor(files: string[]): Suggestion[] {
  return files.slice(0, MAX_SHOWN).map(file => ({ insert: `@${file} `, name: file, description: '' }))
}

/** The text with the trigger's word replaced, and where the caret then stands. */
export function complete(text: string, caret: number, trigger: Trigger, insert: string): [string, number] {
  const next = text.slice(0, trigger.start) + insert + text.slice(caret).replace(/^ /, '')
  return [next, trigger.start + insert.length]
}
