import { describe, expect, it } from 'vitest'
import { highest, pageTitle } from '../src/store/attention'
import { closeTab, moveTab, NO_TABS, neighbour, openTab, readTabs } from '../src/store/tabs'

const abc = { open: ['a', 'b', 'c'], active: 'b' }

describe('tabs', () => {
  it('open at the end and show what was opened; an open one is only shown', () => {
    expect(openTab(NO_TABS, 'a')).toEqual({ open: ['a'], active: 'a' })
    expect(openTab(abc, 'a')).toEqual({ open: ['a', 'b', 'c'], active: 'a' })
  })

  it('close towards the right neighbour, else the left', () => {
    expect(closeTab(abc, 'b')).toEqual({ open: ['a', 'c'], active: 'c' })
    expect(closeTab({ open: ['a', 'b'], active: 'b' }, 'b')).toEqual({ open: ['a'], active: 'a' })
    expect(closeTab({ open: ['a'], active: 'a' }, 'a')).toEqual({ open: [], active: undefined })
    expect(closeTab(abc, 'a')).toEqual({ open: ['b', 'c'], active: 'b' })
    expect(closeTab(abc, 'x')).toEqual(abc)
  })

  it('move to a place', () => {
    expect(moveTab(abc, 'a', 2).open).toEqual(['b', 'c', 'a'])
    expect(moveTab(abc, 'c', 0).open).toEqual(['c', 'a', 'b'])
    expect(moveTab(abc, 'b', 99).open).toEqual(['a', 'c', 'b'])
    expect(moveTab(abc, 'b', -1).open).toEqual(['b', 'a', 'c'])
    expect(moveTab(abc, 'x', 0)).toEqual(abc)
  })

  it('step around the ends', () => {
    expect(neighbour({ ...abc, active: 'c' }, 1)).toBe('a')
    expect(neighbour({ ...abc, active: 'a' }, -1)).toBe('c')
    expect(neighbour(NO_TABS, 1)).toBeUndefined()
  })

  it('come back from storage, whatever stands there', () => {
    expect(readTabs(JSON.stringify(abc))).toEqual(abc)
    for (const broken of [null, '', '{', '[]', '{"open":3}', 'null'])
      expect(readTabs(broken)).toEqual(NO_TABS)
    expect(readTabs('{"open":["a","a",4],"active":"z"}')).toEqual({ open: ['a'], active: 'a' })
  })
})

describe('the title and the icon', () => {
  it('carry the highest state of all tabs', () => {
    expect(highest([])).toBe('open')
    expect(highest(['open', 'working'])).toBe('working')
    expect(highest(['working', 'needs_you', 'dead'])).toBe('needs_you')
    expect(highest(['working', 'dead'])).toBe('dead')
    expect(pageTitle('needs_you', 'fix login')).toBe('● needs you: fix login · Chartroom')
    expect(pageTitle('open', undefined)).toBe('Chartroom')
  })
})
