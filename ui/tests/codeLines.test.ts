import { expect, test } from 'vitest'
import { htmlLines, wordAt } from '../src/text/codeLines'

test('a colour that goes over lines is closed and opened again', () => {
  const html = '<span class="hljs-comment">/* a\nb */</span> x\n<span class="k">if</span>'
  expect(htmlLines(html)).toEqual([
    '<span class="hljs-comment">/* a</span>',
    '<span class="hljs-comment">b */</span> x',
    '<span class="k">if</span>',
  ])
})

test('nested colours keep their order, and escaped text is left as it is', () => {
  expect(htmlLines('<span class="a">1<span class="b">&lt;\n2</span>3\n</span>4')).toEqual([
    '<span class="a">1<span class="b">&lt;</span></span>',
    '<span class="a"><span class="b">2</span>3</span>',
    '<span class="a"></span>4',
  ])
  expect(htmlLines('')).toEqual([''])
})

test('a word is found by its place, and its column counts characters', () => {
  expect(wordAt('let total = 𝒳 + größe;', 5)).toEqual({ word: 'total', column: 5 })
  expect(wordAt('a = 😀 größe', 9)).toEqual({ word: 'größe', column: 7 })
  expect(wordAt('a + b', 2)).toBeUndefined()
  expect(wordAt('', 0)).toBeUndefined()
})
