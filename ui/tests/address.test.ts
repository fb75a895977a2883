// An address leads to where it was made.

import { expect, it } from 'vitest'
import { addressOf, type Place, placeOf } from '../src/store/address'

it('reads every address that it writes', () => {
  const places: Place[] = [
    { kind: 'home' },
    { kind: 'session', sessionId: 'a/b #?%' },
    { kind: 'session', sessionId: 's', turnId: 't:1' },
    { kind: 'search', query: 'a / b' },
    { kind: 'file', projectId: 'p', path: 'src/a b.ts', line: 12 },
    { kind: 'file', path: '/absolute/x:y.ts', line: 1 },
  ]
  for (const place of places) expect(placeOf(addressOf(place))).toEqual(place)
})

it('knows nothing of other fragments', () => {
  expect(placeOf('#enter=00ff')).toBeUndefined()
  expect(placeOf('#/session/')).toBeUndefined()
  expect(placeOf('#/session/%E0%A4%A')).toEqual({ kind: 'session', sessionId: '%E0%A4%A' })
})
