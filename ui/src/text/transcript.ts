// A whole conversation as Markdown: for the clipboard and for paper.

import type { Upsert } from '../protocol'
import type { SessionLog } from '../store/log'

/** What was said and done, in order; `agent` is the name that the agent's words stand under. */
export function transcript(log: SessionLog, title: string, agent: string): string {
  const parts = [`# ${title}`]
  let speaker = ''
  const say = (who: string, text: string) => {
    if (who !== speaker) parts.push(`## ${who}`)
    speaker = who
    parts.push(text)
  }
  for (const item of log.items.values()) {
    if (item.type === 'message') {
      if (item.content.trim() !== '') {
        say(item.origin === 'user' ? 'You' : item.origin === 'agent' ? agent : 'System', item.content.trim())
      }
    } else if (item.type === 'tool_call') say(agent, toolText(item))
  }
  return `${parts.join('\n\n')}\n`
}

function toolText(call: Extract<Upsert, { type: 'tool_call' }>): string {
  const { command, file_path: path, pattern } = call.toolArguments as Record<string, unknown>
  const subject = [command, path, pattern].find(value => typeof value === 'string') as string | undefined
  const head = `**${call.toolName}**${subject === undefined || subject.includes('\n') ? '' : ` \`${subject}\``}`
  const body = subject?.includes('\n') ? fenced(subject) : ''
  const output = call.toolOutput?.trim() ? fenced(call.toolOutput.trim()) : ''
  return [head, body, output].filter(Boolean).join('\n\n')
}

/** A fence that nothing in the text ends. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}
