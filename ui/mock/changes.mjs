// What the stand-in server says of changed files: a handful of each kind, or as many as a story wants.

import { noteAct } from './keep.mjs'
import { freshId, MockSession } from './session.mjs'

const version = (id, mode = '100644') => ({ id, mode })
const file = (path, status, added, removed, more = {}) => ({
  path,
  status,
  added,
  removed,
  binary: false,
  ...(status === 'added' || status === 'untracked' ? {} : { before: version(`before ${path}`) }),
  ...(status === 'deleted' ? {} : { after: version(`after ${path}`) }),
  ...more,
})

export const FILES = [
  file('docs/picture.png', 'modified', 0, 0, { binary: true }),
  file('scripts/run.sh', 'modified', 0, 0, {
    before: version('same'),
    after: version('same', '100755'),
  }),
  file('src/login.ts', 'modified', 3, 2),
  file('src/names.ts', 'renamed', 0, 0, {
    from: 'src/keys.ts',
    before: version('keys'),
    after: version('keys'),
  }),
  file('src/old.ts', 'deleted', 0, 2),
  file('tests/login.test.ts', 'untracked', 4, 0),
]

const LOGIN = [
  '@@ -1,9 +1,10 @@',
  " import { renewKey } from './keys'",
  ' ',
  '-const retries = 0',
  '+const retries = 1',
  ' ',
  ' /** Signs in. */',
  ' export async function login(name: string, secret: string) {',
  '-  return await ask(name, secret)',
  '+  const answer = await ask(name, secret, { retries })',
  '+  return answer',
  ' }',
  ' ',
  '@@ -40,3 +41,3 @@ export function logout() {',
  '   clear()',
  '   renewKey()',
  ' }',
]

const PATCHES = {
  'after src/login.ts': LOGIN,
  'before src/old.ts': ['@@ -1,2 +0,0 @@', '-export const old = true', '-export const older = true'],
  'after tests/login.test.ts': [
    '@@ -0,0 +1,4 @@',
    "+test('retries once', async () => {",
    '+  await login("a", "b")',
    '+  expect(asked).toBe(2)',
    '+})',
  ],
}

/** A square of one colour, as PNG. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** Answers a route below `/api/session/{id}/changes`; bytes are an image. `state.changes` stands for the files. */
export function answerChanges(state, what, url) {
  if (what === 'scopes') {
    return {
      turns: state.turns ?? [],
      repository: true,
      branch: 'work',
      branches: ['main', 'work'],
      ...(state.lookedAt && { lookedAt: state.lookedAt }),
    }
  }
  if (what === 'looked') {
    state.lookedAt = Date.now()
    return {}
  }
  if (what === 'content') return PNG
  if (what === 'file') {
    const [before, after] = ['before', 'after'].map(side => url.searchParams.get(side))
    const lines = state.patches?.[after] ?? PATCHES[after] ?? PATCHES[before] ?? []
    const whole = Number(url.searchParams.get('context')) > 3 && after === 'after src/login.ts'
    return { patch: `${(whole ? wholeOf(lines) : lines).join('\n')}\n` }
  }
  const scope = url.searchParams.get('scope')
  const files = state.changes ?? (scope === 'turn' || scope === 'looked' ? FILES.slice(2, 3) : FILES)
  const head = scope === 'turn' ? 'c2' : 'working tree'
  // As the real server does: very many files are told before their lines are counted.
  if (url.searchParams.get('quick') === 'true' && files.length > 500) {
    return {
      base: 'c1',
      head,
      files: files.map(file => ({ ...file, added: 0, removed: 0 })),
      uncounted: true,
    }
  }
  return { base: 'c1', head, files }
}

function wholeOf(lines) {
  const cut = lines.findLastIndex(line => line.startsWith('@@'))
  const between = Array.from({ length: 30 }, (_, n) => ` // line ${n + 10} between`)
  return [...lines.slice(0, cut), ...between, ...lines.slice(cut + 1)]
}

/** Goes back, undoes that, or forks: a new session like the old one, and always the same files. */
export function answerRewind(state, sessionId, what, body) {
  const files = {
    checkpoint: 'c0',
    written: ['src/login.ts'],
    removed: ['tests/login.test.ts'],
    conflicts: ['src/routes.ts'],
  }
  if (what === 'restore') return { ...files, checkpoint: body.checkpoint, undo: 'c9', conflicts: [] }
  const { summary } = state.sessions.get(sessionId)
  const cannot = summary.cliType === 'codex' ? 'Codex cannot go back in a conversation' : undefined
  const make = () => {
    const session = new MockSession({
      ...summary,
      sessionId: freshId('s-fork'),
      title: `${summary.title} again`,
    })
    state.sessions.set(session.id, session)
    return session.id
  }
  if (what === 'fork') {
    return { session: make(), ...(cannot && { cannot: `${cannot}: the new session was handed it as text` }) }
  }
  const made = body.conversation && !cannot && !body.dryRun ? make() : undefined
  if (!body.dryRun) {
    noteAct(state, 'went back to before a message', {
      rewound: sessionId,
      ...(made && { archived: sessionId, made }),
    })
    if (made) summary.archived = true
  }
  return {
    ...(body.files && { files: body.dryRun ? files : { ...files, undo: 'c8' } }),
    ...(body.conversation && cannot && { cannot }),
    ...(made && { session: made }),
  }
}

/** Keeps comments and what was viewed, as the real server does. */
export function answerReview(state, sessionId, method, parts, body) {
  state.reviews ??= new Map()
  const review = state.reviews.get(sessionId) ?? { comments: [], viewed: {} }
  state.reviews.set(sessionId, review)
  const at = id => review.comments.findIndex(comment => comment.commentId === id)
  if (method === 'DELETE') review.comments.splice(at(parts[1]), 1)
  else if (parts[0] === 'comment' && at(body.commentId) >= 0) review.comments[at(body.commentId)] = body
  else if (parts[0] === 'comment') review.comments.push(body)
  else if (parts[0] === 'viewed' && body.content !== undefined) review.viewed[body.path] = body.content
  else if (parts[0] === 'viewed') delete review.viewed[body.path]
  return review
}
