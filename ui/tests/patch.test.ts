import { expect, test } from 'vitest'
import { linesOf, marked } from '../src/views/changes/colours'
import { parsePatch, sideBySide, textOf } from '../src/views/changes/patch'
import { changedWords } from '../src/views/changes/words'

const print = (text: string) => {
  const { lines, gaps } = parsePatch(text)
  return lines.flatMap((line, index) => {
    const gap = gaps.get(index)
    const sign = { context: ' ', added: '+', removed: '-' }[line.kind]
    const shown = `${line.old ?? '.'} ${line.now ?? '.'} ${sign}${line.text}${line.pair === undefined ? '' : ` ~${line.pair}`}`
    return gap ? [`… ${gap.hidden} ${gap.inside}`.trimEnd(), shown] : [shown]
  })
}

test('lines have their numbers on both sides, and what is left out is counted', () => {
  expect(
    print('@@ -3,3 +3,4 @@ fn a() {\n one\n-two\n+TWO\n+three\n four\n@@ -20,2 +21,1 @@\n x\n-y\n'),
  ).toEqual([
    '… 2 fn a() {',
    '3 3  one',
    '4 . -two ~2',
    '. 4 +TWO ~1',
    '. 5 +three',
    '5 6  four',
    '… 14',
    '20 21  x',
    '21 . -y',
  ])
})

test('a new file begins with line 1 and has no gap', () => {
  expect(print('@@ -0,0 +1,2 @@\n+a\n+b\n')).toEqual(['. 1 +a', '. 2 +b'])
})

test('a line of dashes, an empty line, a carriage return and a file without a newline at its end are lines as others are', () => {
  const { lines } = parsePatch('@@ -1,3 +1,2 @@\n--- a\n \n-x\r\n+y\n\\ No newline at end of file\n')
  expect(lines.map(line => [line.kind, line.text, line.unended ?? false])).toEqual([
    ['removed', '-- a', false],
    ['context', '', false],
    ['removed', 'x', false],
    ['added', 'y', true],
  ])
})

test('two columns put what replaces a line beside it', () => {
  const { lines, changes } = parsePatch('@@ -1,4 +1,3 @@\n a\n-b\n-c\n+B\n d\n+e\n')
  expect(sideBySide(lines)).toEqual([
    { left: 0, right: 0 },
    { left: 1, right: 3 },
    { left: 2, right: undefined },
    { left: 4, right: 4 },
    { left: undefined, right: 5 },
  ])
  expect(changes).toEqual([1, 5])
  expect(textOf(lines.slice(1, 4))).toBe('B')
  expect(textOf(lines.slice(1, 3))).toBe('b\nc')
})

const words = (before: string, after: string) => {
  const found = changedWords(before, after)
  const show = (line: string, ranges: readonly (readonly [number, number])[]) =>
    [...ranges]
      .reverse()
      .reduce((text, [from, to]) => `${text.slice(0, from)}[${text.slice(from, to)}]${text.slice(to)}`, line)
  return [show(before, found.before), show(after, found.after)]
}

test('the words that differ are marked, and unlike lines are not', () => {
  expect(words('let x = 1;', 'let y = 1;')).toEqual(['let [x] = 1;', 'let [y] = 1;'])
  expect(words('call(a, b)', 'call(a, c, b)')).toEqual(['call(a, b)', 'call(a, [c, ]b)'])
  expect(words('one', 'two')).toEqual(['one', 'two'])
  expect(words('a b c d', 'a x c y')).toEqual(['a [b] c [d]', 'a [x] c [y]'])
})

test('highlighted code is taken apart into lines, and marks cut its colours', () => {
  const lines = linesOf(
    '<span class="hljs-comment">/* a\n b */</span> x &lt; <span class="hljs-string">&quot;y&quot;</span>',
  )
  expect(lines).toEqual([
    [{ text: '/* a', class: 'hljs-comment' }],
    [
      { text: ' b */', class: 'hljs-comment' },
      { text: ' x < ', class: '' },
      { text: '"y"', class: 'hljs-string' },
    ],
  ])
  expect(
    marked(
      [
        { text: 'abc', class: 'k' },
        { text: 'def', class: '' },
      ],
      [[1, 4]],
    ),
  ).toEqual([
    { text: 'a', class: 'k' },
    { text: 'bc', class: 'k', changed: true },
    { text: 'd', class: '', changed: true },
    { text: 'ef', class: '' },
  ])
})
