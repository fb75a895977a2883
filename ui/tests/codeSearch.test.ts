import { describe, expect, it } from 'vitest'
import type { SearchCodebaseResponse } from '../src/protocol'
import { foundOf } from '../src/store/codeSearch'

const answer = (patch: Partial<SearchCodebaseResponse>): SearchCodebaseResponse => ({
  status: 'ok',
  path: '/p',
  query: 'retry',
  scope: 'mixed',
  groupBy: 'symbol',
  limit: 8,
  resultMode: 'grouped',
  results: [],
  ...patch,
})

describe('code search', () => {
  it('tells a symbol by its name and a passage by its file', () => {
    const group = {
      kind: 'group' as const,
      groupId: 'g',
      file: 'src/login.ts',
      span: { startLine: 18, endLine: 24 },
      language: 'typescript',
      symbolId: 's',
      symbolLabel: 'function login',
      score: 1,
      indexedAt: null,
      stalenessBucket: 'fresh' as const,
      collapsedChunkCount: 1,
      callGraphHint: { supported: false } as never,
      preview: '\n  export async function login() {\n}',
      previewLine: 18,
    }
    expect(foundOf(answer({ results: [group, { ...group, symbolLabel: null }] }))).toEqual({
      kind: 'hits',
      hits: [
        { name: 'function login', place: 'src/login.ts:18', line: 'export async function login() {' },
        { name: 'src/login.ts', place: 'src/login.ts:18', line: 'export async function login() {' },
      ],
    })
  })

  it('says why there is nothing', () => {
    expect(foundOf(answer({ status: 'not_indexed' }))).toEqual({ kind: 'not-indexed' })
    expect(foundOf(answer({ status: 'not_ready' }))).toEqual({
      kind: 'wait',
      why: 'The code is being indexed.',
    })
    expect(foundOf(answer({ status: 'requires_reindex', message: 'run it again' }))).toEqual({
      kind: 'wait',
      why: 'run it again',
    })
  })
})
