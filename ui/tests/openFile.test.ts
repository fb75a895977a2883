import { expect, test } from 'vitest'
import { fileTrail } from '../src/store/openFile'

test('each session has a way back of its own, without the same place twice', () => {
  const [one, other] = [fileTrail('one'), fileTrail('other')]
  expect([one.at(), one.canGoBack()]).toEqual([undefined, false])
  one.go({ path: 'a.ts', line: 1 })
  one.go({ path: 'b.ts', line: 7 })
  one.go({ path: 'b.ts', line: 7 })
  expect([one.at()?.path, other.at()]).toEqual(['b.ts', undefined])
  one.back()
  expect([one.at(), one.canGoBack()]).toEqual([{ path: 'a.ts', line: 1 }, false])
  one.back()
  expect(one.at()?.path).toBe('a.ts')
  expect(fileTrail('one')).toBe(one)
})

test('the way back is bounded', () => {
  const trail = fileTrail('long')
  for (let line = 1; line <= 80; line++) trail.go({ path: 'a.ts', line })
  let n_back = 0
  while (trail.canGoBack()) {
    trail.back()
    n_back++
  }
  expect([n_back, trail.at()?.line]).toEqual([49, 31])
})
