import { describe, expect, it } from 'vitest'
import type { ContextUse } from '../src/protocol'
import { partsOf, summaryOf, whyNot } from '../src/store/contextUse'

const use = (totalTokens: number, ...parts: [string, number][]): ContextUse => ({
  totalTokens,
  maxTokens: 200_000,
  reservedTokens: 33_000,
  categories: parts.map(([name, tokens]) => ({ name, tokens })),
})

describe('what fills the context', () => {
  const share = (context: ContextUse) =>
    partsOf(context).map(part => `${part.name} ${Math.round(part.share * 100)} %`)

  it('is told in the agent’s order, as shares of what is in use, without what is empty', () => {
    const context = use(4000, ['System prompt', 1000], ['Skills', 0], ['Messages', 2000])
    expect(share(context)).toEqual(['System prompt 25 %', 'Messages 50 %'])
  })

  it('never has a bar longer than its track, whatever the agent estimates', () => {
    expect(share(use(1000, ['Messages', 3000], ['Tools', 1000]))).toEqual(['Messages 75 %', 'Tools 25 %'])
    expect(share(use(0))).toEqual([])
  })

  it('sums up in one line', () => {
    expect(summaryOf(use(2449))).toBe('2.4k of 200k in use; 33k are kept free to sum it up')
    expect(summaryOf({ ...use(2449), reservedTokens: 0 })).toBe('2.4k of 200k in use')
  })

  it('says why there is nothing', () => {
    expect(whyNot({ status: 'known', context: use(10, ['Messages', 10]) })).toBeUndefined()
    expect(whyNot({ status: 'known', context: use(0, ['Messages', 0]) })).toBe('Nothing yet.')
    expect(whyNot({ status: 'not_told' })).toBe('This agent does not tell.')
    expect(whyNot({ status: 'not_running' })).toBe('Only a running agent can tell; a message starts it.')
    expect(whyNot({ status: 'failed', message: 'it crashed' })).toBe('The agent did not say: it crashed.')
  })
})
