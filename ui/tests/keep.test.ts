// Hunks as patches, which of them are staged, and the message in an agent's answer.

import { describe, expect, it } from 'vitest'
import { messageIn, question } from '../src/store/proposal'
import { patchOf, stagedHunks } from '../src/views/changes/hunks'
import { parsePatch } from '../src/views/changes/patch'
import { rowsOf } from '../src/views/changes/rows'

const FIRST = '@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n'
const SECOND = '@@ -20,2 +20,3 @@ fn f()\n twenty\n+new\n more\n'

describe('hunks', () => {
  it('are what git wrote, one by one', () => {
    expect(parsePatch(FIRST + SECOND).hunks).toEqual([
      { from: 0, text: FIRST },
      { from: 4, text: SECOND },
    ])
  })
  it('are a patch of their file, and names that would end early are quoted', () => {
    const hunks = parsePatch(FIRST).hunks
    expect(patchOf('src/a.ts', hunks)).toBe(`--- a/src/a.ts\n+++ b/src/a.ts\n${FIRST}`)
    expect(patchOf('a b', hunks)).toContain('--- a/a b\t\n')
    expect(patchOf('a"\n', hunks)).toContain('--- "a/a\\"\\012"\n')
  })
  it('without a newline at the end of the file stay so', () => {
    const text = '@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file'
    expect(patchOf('a', parsePatch(text).hunks)).toBe(`--- a/a\n+++ b/a\n${text}\n`)
  })
  it('are staged, or not, or a part of them is', () => {
    const both = parsePatch(FIRST + SECOND)
    const check = (staged: string) => stagedHunks(both, parsePatch(staged))
    expect(check(FIRST)).toEqual(['all', 'none'])
    expect(check('@@ -20,2 +20,3 @@\n twenty\n+new\n more\n')).toEqual(['none', 'all'])
    expect(check(FIRST.replace('zwei', 'deux'))).toEqual(['none', 'none'])
    const two = parsePatch('@@ -1,3 +1,3 @@\n-one\n+eins\n two\n-three\n+drei\n')
    expect(stagedHunks(two, parsePatch('@@ -1,3 +1,3 @@\n-one\n+eins\n two\n three\n'))).toEqual(['part'])
  })
  it('have a row of their own where something can be done with them', () => {
    const kinds = (hasHunks: boolean) =>
      rowsOf(parsePatch(FIRST + SECOND), false, new Map(), hasHunks).rows.flatMap(row =>
        row.kind === 'gap' ? [row.hunk] : [],
      )
    expect(kinds(true)).toEqual([0, 1])
    expect(kinds(false)).toEqual([undefined])
  })
})

describe('a proposed message', () => {
  it('is what stands in the code block, or all of the answer', () => {
    const check = (answer: string, message: string) => expect(messageIn(answer)).toBe(message)
    check('```\nfix the login\n\nbecause\n```', 'fix the login\n\nbecause')
    check('Here it is:\n\n```text\nfix the login\n```\nShall I commit?', 'fix the login')
    check('  fix the login\n', 'fix the login')
    check('````\na ``` b\n````', 'a ``` b')
  })
  it('is asked for with the names of some files', () => {
    const files = Array.from({ length: 50 }, (_, n) => ({ path: `f${n}` }))
    expect(question(files)).toContain('- f39\n- and 10 more')
  })
})
