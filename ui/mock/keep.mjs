// The stand-in's repository: what is staged, a hook that may refuse, branches, and what can be undone.

import { FILES } from './changes.mjs'
import { freshId } from './session.mjs'

const repositoryOf = state => {
  state.git ??= { branch: 'work', branches: ['main', 'work'], staged: new Map(), ahead: 0 }
  return state.git
}
const changed = state => state.changes ?? FILES

/** Remembers something that can be undone. */
export function noteAct(state, what, more = {}) {
  state.acts ??= []
  state.acts.unshift({ act: freshId('act'), at: Date.now(), what, ...more })
}

/** Answers a route below `/api/project/{id}/git`. `state.git.hook` is what a hook says that refuses. */
export function answerGit(state, what, body, url) {
  const git = repositoryOf(state)
  const { staged } = git
  if (what === undefined) {
    const files = changed(state).map(file => ({
      path: file.path,
      staged: staged.has(file.path),
      unstaged: staged.get(file.path) !== 'all',
      untracked: file.status === 'untracked',
      conflicted: (git.conflicts ?? []).includes(file.path),
    }))
    const { branch, branches, ahead, inProgress } = git
    return {
      branch,
      head: 'c0ffee00c0ffee',
      ahead,
      behind: 0,
      files,
      branches,
      ...(inProgress && { inProgress }),
    }
  }
  git.asked = [...(git.asked ?? []), [what, body]]
  if (what === 'staged') return { patch: staged.get(url.searchParams.get('path'))?.patch ?? '' }
  if (what === 'stage' || what === 'unstage') {
    for (const path of body.paths ?? []) {
      if (what === 'stage') staged.set(path, 'all')
      else staged.delete(path)
    }
    if (body.patch !== undefined) {
      const path = /^\+\+\+ b\/(.*)$/m.exec(body.patch)[1]
      const patch = body.patch.slice(body.patch.indexOf('@@'))
      if (what === 'stage') staged.set(path, { patch })
      else staged.delete(path)
    }
    return { done: true }
  }
  if (what === 'revert') {
    if (git.refuses) return { done: false, reason: git.refuses }
    const before = changed(state)
    state.changes = body.patch === undefined ? before.filter(file => !body.paths.includes(file.path)) : before
    noteAct(state, body.patch === undefined ? `reverted ${body.paths.at(-1)}` : 'reverted a part of a file', {
      before,
    })
    return { done: true, undo: 'c9' }
  }
  if (what === 'commit') {
    if (git.hook !== undefined) return { committed: false, output: git.hook, undo: 'c9' }
    const before = changed(state)
    state.changes = before.filter(file => !body.all && staged.get(file.path) !== 'all')
    staged.clear()
    git.ahead += 1
    noteAct(state, `committed “${body.message}”`, { before })
    return { committed: true, commit: 'decade00decade', before: 'c0ffee00', output: 'the hook is content' }
  }
  if (what === 'switch') {
    if (body.create) git.branches = [...git.branches, body.branch].sort()
    git.branch = body.branch
    return { done: true, output: '' }
  }
  if (what === 'push') {
    if (git.pushFails) return { done: false, output: git.pushFails }
    git.ahead = 0
    return { done: true, output: 'work -> work' }
  }
  return { made: false, url: 'https://forge.example/compare/work', output: 'gh is not installed' }
}

/** Answers `/api/session/{id}/undo`. */
export function answerUndo(state, method, body) {
  const told = ({ before: _, ...act }) => act
  if (method === 'GET') return { acts: (state.acts ?? []).map(told) }
  const act = state.acts.find(act => act.act === body.act)
  state.acts = state.acts.filter(other => other !== act)
  if (act.before) state.changes = act.before
  const archived = act.archived && state.sessions.get(act.archived)
  if (archived) archived.summary.archived = false
  return {
    done: true,
    undone: told(act),
    files: { checkpoint: 'c0', written: [], removed: [], conflicts: [] },
  }
}
