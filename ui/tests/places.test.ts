// Places in text: what can be clicked, and what only looks like it.

import { expect, it } from 'vitest'
import { blockHtml } from '../src/text/markdown'
import { partsOf } from '../src/text/places'

const placesIn = (text: string) => partsOf(text).flatMap(part => (part.href ? [part.href] : []))

it('finds files with a line', () => {
  expect(placesIn('see src/a.ts:2, ./lib/b.rs:10:5 and (main.go:7).')).toEqual([
    '#/file/-/src/a.ts:2',
    '#/file/-/lib/b.rs:10',
    '#/file/-/main.go:7',
  ])
  expect(placesIn('/home/you/p/src/a.ts:3')).toEqual(['#/file/-//home/you/p/src/a.ts:3'])
  expect(
    partsOf('at a.ts:1!')
      .map(part => part.text)
      .join(''),
  ).toBe('at a.ts:1!')
})

it('takes no address, time or version for one', () => {
  for (const text of ['http://a.example/x.ts:2', 'example.com:443', '12:30', 'v1.2:3', 'a.ts', 'x@b.ts:1y']) {
    expect(placesIn(text), text).toEqual([])
  }
})

it('makes links of them in replies, in code and beside it', () => {
  const html = blockHtml(
    { kind: 'html', raw: 'In `src/a.ts:2` and src/b.ts:3, not in https://x.example/c.ts:4.' },
    false,
  )
  expect(html).toContain('<a href="#/file/-/src/a.ts:2"')
  expect(html).toContain('<a href="#/file/-/src/b.ts:3"')
  expect(html).not.toContain('#/file/-/c.ts')
  expect(html).not.toContain('//x.example/c.ts:4" class')
})

it('lets no reply write such a link itself', () => {
  const html = blockHtml(
    { kind: 'html', raw: '[x](#/file/-/etc/passwd:1) <a href="#/file/-/a.ts:1">y</a>' },
    false,
  )
  expect(html).not.toContain('<a ')
})
