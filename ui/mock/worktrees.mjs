// Worktrees and several tries of the stand-in server: what the page asks, answered from a small world of its own.

import { short } from './recorded.mjs'
import { MockSession } from './session.mjs'

const BASE = '5e1f0c9d2b7a'
const MAIN = '/home/ada/code/api'
const FOLDER = '/home/ada/.local/share/chartroom/worktrees/api-1f2e3d4c5b'

const nameOf = branch => branch.replace(/[^A-Za-z0-9._-]/g, '-')

/** Adds a worktree of the first project, with a session if it has a title. */
export function addWorktree(state, branch, { title, cliType = 'claude-code', minutes = 3, preparing } = {}) {
  const name = nameOf(branch)
  const projectId = `p-${name}`
  const project = {
    projectId,
    path: `${FOLDER}/${name}`,
    name,
    trusted: true,
    worktree: { name, branch, repository: MAIN },
  }
  state.projects.push(project)
  state.git ??= { branch: 'main', branches: ['main', 'release'], staged: new Map(), ahead: 0 }
  state.preparing = { ...state.preparing, ...(preparing && { [name]: preparing }) }
  if (title === undefined) return project
  const sessionId = `s-${name}`
  const lastActivity = new Date(Date.now() - minutes * 60_000).toISOString()
  const session = new MockSession({ sessionId, cliType, projectId, title, lastActivity })
  const { entries, turns } = short(sessionId, title, 'Done: it retries once, and the tests pass.')
  session.remember(entries, turns)
  state.sessions.set(sessionId, session)
  return project
}

/** Tries of one message by Claude and Codex, which have both ended. */
export function addTries(state, { test = ['npm', 'test'] } = {}) {
  const message = 'make the login retry once, and say in the log that it did'
  const one = (branch, cliType, more) => {
    const { path } = addWorktree(state, branch, { title: message, cliType })
    const name = nameOf(branch)
    return { name, branch, cliType, state: 'open', path, sessionId: `s-${name}`, durationMs: 0, ...more }
  }
  const passed = {
    command: test,
    state: 'passed',
    output: '✓ retries once (12 ms)\n✓ gives up after that (8 ms)\n\n2 passed',
    durationMs: 4200,
  }
  const failed = {
    command: test,
    state: 'failed',
    output:
      '✓ retries once (14 ms)\n✗ gives up after that\n  expected 2 calls, got 3\n\nexited with status 1',
    durationMs: 3900,
  }
  const tries = [
    one('try/login-retry-1', 'claude-code', {
      durationMs: 74_000,
      costUsd: 0.21,
      tokens: 61_200,
      size: { files: 3, added: 41, removed: 6 },
      test: passed,
    }),
    one('try/login-retry-2', 'codex', {
      durationMs: 51_000,
      tokens: 48_900,
      size: { files: 5, added: 112, removed: 30 },
      test: failed,
    }),
  ]
  const created = { triesId: 't1', projectId: 'p-api', message, createdAt: new Date().toISOString() }
  state.tries = [{ ...created, onto: 'main', test, tries }]
}

/** Answers a request below a project, or nothing if it is about something else. */
export async function answerWorktrees(state, { parts, route, url, body }) {
  const [, , projectId, what, id, act] = parts
  const force = url.searchParams.get('force') === 'true' || body.force === true
  if (what === 'worktree' && id === undefined && route.startsWith('GET')) return { worktrees: listed(state) }
  if (what === 'worktree' && id === undefined) return made(state, body)
  if (what === 'worktree' && act === 'bring') {
    return state.conflicts
      ? {
          brought: false,
          before: BASE,
          conflicts: state.conflicts,
          reason: 'both sides have changed the same places',
        }
      : { brought: true, before: BASE, conflicts: [], undo: '0123456789ab' }
  }
  if (what === 'worktree') return removed(state, id, force)
  if (what !== 'tries') return undefined
  const own = (state.tries ?? []).filter(tries => tries.projectId === projectId)
  if (id === undefined && route.startsWith('GET')) return { tries: own }
  if (id === undefined) return begun(state, projectId, body)
  const tries = own.find(tries => tries.triesId === id)
  if (act === 'test') {
    for (const one of tries.tries)
      one.test = { command: tries.test, state: 'passed', output: '2 passed', durationMs: 900 }
    return tries
  }
  if (act === 'keep') {
    if (state.conflicts) {
      const brought = {
        brought: false,
        conflicts: state.conflicts,
        reason: 'both sides have changed the same places',
      }
      return { done: false, brought, others: [] }
    }
    const others = ended(state, tries, one => one.name !== body.name, force)
    if (force) tries.kept = body.name
    return {
      done: force,
      others,
      ...(force && { brought: { brought: true, conflicts: [], undo: '0123456789ab' } }),
    }
  }
  if (route.startsWith('DELETE')) {
    const others = ended(state, tries, () => true, force)
    if (force) state.tries = state.tries.filter(other => other !== tries)
    return { done: force, others }
  }
  return tries
}

const worktrees = state => state.projects.filter(project => project.worktree && !project.missing)
const listed = state =>
  worktrees(state).map(({ path, worktree }) => ({
    ...worktree,
    path,
    base: BASE,
    ...(state.preparing?.[worktree.name] && { preparing: state.preparing[worktree.name] }),
  }))

/** The set-up says a line at a time, as long as `state.setUp` has one. */
async function made(state, { branch }) {
  const { name, path } = addWorktree(state, branch).worktree
  const project = state.projects.find(project => project.worktree?.name === name)
  const command = ['npm', 'ci']
  const { lines = [], ok = true } = state.setUp ?? {}
  let output = ''
  for (const line of lines) {
    output += `${line}\n`
    state.preparing = { ...state.preparing, [name]: { command, state: 'running', output } }
    await state.setUp.go?.(line)
  }
  const ran = lines.length > 0
  if (ran) state.preparing[name] = { command, state: ok ? 'passed' : 'failed', output, durationMs: 1300 }
  const told = { name, branch, base: BASE, repository: MAIN, path: path ?? project.path, copied: [] }
  return { ...told, ...(ran && { setup: { command, ok, output } }) }
}

function removed(state, name, force) {
  const lost = state.lost ?? { uncommitted: [], commits: [] }
  const isLost = lost.uncommitted.length + lost.commits.length > 0
  if (isLost && !force) return { removed: false, ...lost, commit: BASE }
  const project = state.projects.find(project => project.worktree?.name === name)
  project.missing = true
  project.worktree.removed = true
  for (const session of state.sessions.values()) {
    if (session.summary.projectId === project.projectId) session.summary.archived = true
  }
  return { removed: true, ...lost, commit: BASE, ...(isLost && { undo: '0123456789ab' }) }
}

function ended(state, tries, isOther, force) {
  return tries.tries.filter(isOther).map(one => {
    state.lost = { uncommitted: ['src/login.ts', 'src/log.ts'], commits: [] }
    const answer = removed(state, one.name, force)
    state.lost = undefined
    if (force) Object.assign(one, { state: 'removed', removed: answer })
    return { name: one.name, ...answer }
  })
}

function begun(state, projectId, { message, agents }) {
  const tries = agents.map(({ cliType }, at) => {
    const branch = `try/new-${at + 1}`
    const { path } = addWorktree(state, branch, { title: message, cliType, minutes: 0 })
    const name = nameOf(branch)
    return { name, branch, cliType, state: 'open', path, sessionId: `s-${name}`, durationMs: 900 }
  })
  const all = {
    triesId: 't-new',
    projectId,
    message,
    createdAt: new Date().toISOString(),
    onto: 'main',
    test: [],
    tries,
  }
  state.tries = [all, ...(state.tries ?? [])]
  return all
}
