import { expect, test } from 'vitest'
import type { TeamServer } from '../src/protocol'
import { lastTrouble, serverState } from '../src/text/teamServer'

const NOW = Date.parse('2026-01-01T00:10:00Z')
const server: TeamServer = { address: 'http://m:19530', version: 'Milvus 2.6', latencyMs: 1234 }

test('a server that answers is told with its latency', () => {
  expect(serverState(server)).toBe('Milvus 2.6, 1,234 ms')
  expect(lastTrouble(server, NOW)).toBeUndefined()
})

test('the last trouble is told with its age', () => {
  const troubled = { ...server, lastTrouble: { text: 'no answer within 2 s', at: '2026-01-01T00:00:00Z' } }
  expect(lastTrouble(troubled, NOW)).toMatch(/10.*: no answer within 2 s$/)
})

test('a server that does not answer is told with the reason of now', () => {
  const silent = {
    address: server.address,
    latencyMs: 2000,
    trouble: 'connection refused',
    lastTrouble: { text: 'connection refused', at: '2026-01-01T00:09:59Z' },
  }
  expect(serverState(silent)).toBe('does not answer; the own index does')
  expect(lastTrouble(silent, NOW)).toBe('connection refused')
})
