import { expect, test } from 'vitest'
import type { Comment } from '../src/protocol'
import { anchorOf, messageOf } from '../src/store/commentText'
import { parsePatch } from '../src/views/changes/patch'

const comment = (more: Partial<Comment> = {}): Comment => ({
  commentId: 'c',
  path: 'src/a.ts',
  side: 'after',
  firstLine: 2,
  lastLine: 3,
  quote: 'two\nthree',
  text: 'why both?\n',
  state: 'open',
  ...more,
})

test('comments are one message with path, lines and the quoted text', () => {
  expect(
    messageOf([
      comment(),
      comment({ side: 'before', firstLine: 7, lastLine: 7, quote: 'x', text: 'keep it' }),
    ]),
  ).toBe(
    [
      '2 comments on your changes:',
      '',
      'src/a.ts:2-3',
      '> two',
      '> three',
      '',
      'why both?',
      '',
      'src/a.ts:7 (before the change)',
      '> x',
      '',
      'keep it',
    ].join('\n'),
  )
  expect(messageOf([comment()])).toMatch(/^A comment on your changes:\n\nsrc\/a\.ts:2-3\n/)
})

test('a comment stands below its lines, moves with them, and says when they changed', () => {
  const at = (patch: string, of = comment()) => anchorOf(parsePatch(patch), of)
  expect(at('@@ -1,1 +1,3 @@\n one\n+two\n+three\n')).toEqual({ at: 2, changed: false })
  expect(at('@@ -1,1 +1,5 @@\n one\n+new\n+newer\n+two\n+three\n')).toEqual({ at: 4, changed: false })
  expect(at('@@ -1,1 +1,3 @@\n one\n+two\n+THREE\n')).toEqual({ at: 2, changed: true })
  expect(at('@@ -90,1 +90,1 @@\n-x\n+y\n')).toBeUndefined()
  const before = comment({ side: 'before', firstLine: 2, lastLine: 2, quote: 'gone' })
  expect(at('@@ -1,3 +1,2 @@\n one\n-gone\n two\n', before)).toEqual({ at: 1, changed: false })
})
