import { afterEach, expect, test, vi } from 'vitest'
import * as api from '../src/api'
import type { Tries } from '../src/protocol'
import { createTries } from '../src/store/tries'

const one = (triesId: string, more: Partial<Tries> = {}): Tries => ({
  triesId,
  projectId: 'p',
  message: 'm',
  createdAt: '2026-11-17T10:00:00Z',
  test: [],
  tries: [],
  ...more,
})

afterEach(() => vi.restoreAllMocks())

test('a list that was asked for before new tries began does not take them away', async () => {
  let answer = (_: { tries: Tries[] }) => {}
  const asked = vi.spyOn(api, 'tries')
  asked.mockReturnValueOnce(
    new Promise(resolve => {
      answer = resolve
    }),
  )
  asked.mockResolvedValueOnce({ tries: [one('new')] })
  const tries = createTries()
  const read = tries.refresh('p')
  tries.put(one('new'))
  tries.pin('new')
  answer({ tries: [] })
  await read
  expect(tries.shown(undefined)?.triesId).toBe('new')
  expect(asked).toHaveBeenCalledTimes(2)
})

test('the strip is there with a session of its own, and with nothing else once one was kept', () => {
  const tries = createTries()
  const session = { name: 'a', branch: 'a', cliType: 'codex', state: 'open' as const, durationMs: 0 }
  tries.put(one('t', { tries: [{ ...session, sessionId: 's' }] }))
  expect(tries.shown('s')?.triesId).toBe('t')
  expect(tries.shown('other')).toBeUndefined()
  tries.pin('t')
  expect(tries.shown('other')?.triesId).toBe('t')
  tries.put(one('t', { kept: 'a', tries: [{ ...session, sessionId: 's' }] }))
  expect(tries.shown('s')).toBeUndefined()
})
