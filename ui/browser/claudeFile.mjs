// Writes a recorded conversation as the session file that Claude Code itself would have left on disk, for the real
// server to find and load.

import { randomUUID } from 'node:crypto'
import { mkdir, realpath, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'

const MODEL = 'claude-opus-4-8'
const VERSION = '2.1.325'

/** Puts a conversation of `mock/recorded.mjs` where `claude` keeps the project's sessions; returns its id. */
export async function writeClaudeSession({ home, project }, conversation, { minutesAgo = 60 } = {}) {
  const cwd = await realpath(project)
  const folder = path.join(home, '.claude/projects', cwd.replace(/[^A-Za-z0-9]/g, '-'))
  await mkdir(folder, { recursive: true })
  const sessionId = randomUUID()
  const file = path.join(folder, `${sessionId}.jsonl`)
  const started = Date.now() - minutesAgo * 60_000
  const about = { sessionId, cwd, started }
  const own = conversation.entries.filter(entry => entry.parentCallId === undefined)
  await writeLines(file, linesOf(own, { ...about, isSidechain: false }))
  // What a subagent did is in a file of its own, named in the result of its call.
  for (const callId of new Set(conversation.entries.map(entry => entry.parentCallId))) {
    if (callId === undefined) continue
    const inner = conversation.entries.filter(entry => entry.parentCallId === callId)
    const folderOfAgents = path.join(folder, sessionId, 'subagents')
    await mkdir(folderOfAgents, { recursive: true })
    const lines = linesOf(inner, { ...about, isSidechain: true })
    await writeLines(path.join(folderOfAgents, `agent-${agentOf(callId)}.jsonl`), lines)
  }
  await utimes(file, new Date(started), new Date(started))
  return sessionId
}

const writeLines = (file, lines) => writeFile(file, `${lines.map(line => JSON.stringify(line)).join('\n')}\n`)
const agentOf = callId => callId.replace(/[^A-Za-z0-9]/g, '-')

function linesOf(entries, { sessionId, cwd, started, isSidechain }) {
  const lines = []
  let parentUuid = null
  const add = (type, message, more = {}) => {
    const uuid = randomUUID()
    const timestamp = new Date(started - 2 * entries.length + lines.length).toISOString()
    const about = { parentUuid, isSidechain, userType: 'external', cwd, sessionId, version: VERSION }
    lines.push({ ...about, type, message, uuid, timestamp, ...more })
    parentUuid = uuid
  }
  const says = block =>
    add('assistant', {
      id: `msg_${lines.length}`,
      type: 'message',
      role: 'assistant',
      model: MODEL,
      content: [block],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 120, output_tokens: 36 },
    })
  for (const entry of entries) {
    if (entry.type === 'thinking') {
      says({ type: 'thinking', thinking: entry.content, signature: 'c2NyaXB0ZWQ=' })
    } else if (entry.type === 'message' && entry.origin === 'user') {
      add('user', { role: 'user', content: [{ type: 'text', text: entry.content }] })
    } else if (entry.type === 'message') says({ type: 'text', text: entry.content })
    else {
      const { callId: id, toolName: name, toolArguments: input, toolOutput: content } = entry
      says({ type: 'tool_use', id, name, input })
      const result = { type: 'tool_result', tool_use_id: id, content, is_error: false }
      add('user', { role: 'user', content: [result] }, { toolUseResult: resultOf(entry) })
      const told = entry.detail?.diagnostics?.text
      const hook = { hookName: `PostToolUse:${name}`, toolUseID: id, hookEvent: 'PostToolUse' }
      const attachment = { type: 'hook_additional_context', content: [told], ...hook }
      if (told !== undefined) add('attachment', undefined, { attachment })
    }
  }
  return lines
}

/** What Claude Code keeps beside a tool's text: the patch of a change, the streams of a command, the subagent. */
function resultOf({ callId, detail, toolOutput }) {
  const diff = detail?.diffs?.[0]
  if (diff) {
    const signs = { context: ' ', added: '+', removed: '-' }
    const structuredPatch = diff.hunks.map(({ oldStart, newStart, lines }) => ({
      oldStart,
      newStart,
      lines: lines.map(line => signs[line.kind] + line.spans.map(span => span.text).join('')),
    }))
    return { filePath: diff.path, structuredPatch }
  }
  if (detail?.kind === 'shell') return { stdout: toolOutput, stderr: '', interrupted: false }
  if (detail?.kind === 'subagent') return { agentId: agentOf(callId), content: toolOutput }
  return toolOutput
}
