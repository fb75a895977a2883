import { describe, expect, it } from 'vitest'
import { ansiRuns, plain } from '../src/text/ansi'
import { visible, visibleRuns } from '../src/text/escape'
import { bytes, cost, count, duration, elapsed, relativeTime } from '../src/text/format'

const ESC = '\u001b'

describe('terminal output', () => {
  function check(text: string, expected: [string, string][]) {
    expect(ansiRuns(text).map(run => [run.text, run.classes])).toEqual(expected)
  }

  it('keeps colours and weights', () => {
    check(`a${ESC}[31mred${ESC}[0mb`, [
      ['a', ''],
      ['red', 'fg1'],
      ['b', ''],
    ])
    check(`${ESC}[1;32mok${ESC}[22m go`, [
      ['ok', 'fg2 bold'],
      [' go', 'fg2'],
    ])
    check(`${ESC}[94;41mx${ESC}[39;49my`, [
      ['x', 'fg12 bg1'],
      ['y', ''],
    ])
    check(`${ESC}[mplain`, [['plain', '']])
  })

  it('maps larger palettes to the sixteen of the theme', () => {
    check(`${ESC}[38;5;196mx`, [['x', 'fg9']])
    check(`${ESC}[38;2;10;200;30mx`, [['x', 'fg2']])
    check(`${ESC}[48;5;235mx`, [['x', 'bg0']])
    check(`${ESC}[38;5;4mx`, [['x', 'fg4']])
  })

  it('takes every other escape out', () => {
    check(`${ESC}[2K${ESC}[1Gdone${ESC}[?25h`, [['done', '']])
    check(`${ESC}]0;title\u0007text`, [['text', '']])
    check(`${ESC}]8;;javascript:alert(1)${ESC}\\link${ESC}]8;;${ESC}\\`, [['link', '']])
    check(`${ESC}(Bx${ESC}`, [['x', '']])
    check('bell\u0007 back\u0008', [['bell back', '']])
  })

  it('keeps what a progress bar wrote last', () => {
    check('10 %\r50 %\r100 %\ndone\r\n', [['100 %\ndone\n', '']])
  })

  it('is plain without them', () => {
    expect(plain(`${ESC}[31mred${ESC}[0m text`)).toBe('red text')
  })
})

describe('hidden characters', () => {
  it('are shown by name', () => {
    expect(visible('a\u202eb')).toBe('a\\u{202e}b')
    expect(visible(`${ESC}[31m`)).toBe('\\e[31m')
    expect(visible('x\ry')).toBe('x\\ry')
    expect(visible('zero\u200bwidth\ufeff')).toBe('zero\\u{200b}width\\u{feff}')
    expect(visible('\u0000\u007f\u00ad')).toBe('\\x00\\x7f\\xad')
    expect(visible('tag\u{e0041}')).toBe('tag\\u{e0041}')
    expect(visible('line\nbreak\tand tab, ümläut, 漢字, 🙂')).toBe('line\nbreak\tand tab, ümläut, 漢字, 🙂')
  })

  it('stand apart from the rest', () => {
    expect(visibleRuns('rm \u202ex')).toEqual([
      { text: 'rm ', hidden: false },
      { text: '\\u{202e}', hidden: true },
      { text: 'x', hidden: false },
    ])
  })
})

describe('numbers', () => {
  it('are as a person reads them', () => {
    expect([5, 999, 1234, 12_345, 2_500_000].map(count)).toEqual(['5', '999', '1.2k', '12k', '2.5M'])
    expect([12, 3200, 72_000, 3_700_000].map(duration)).toEqual(['12 ms', '3.2 s', '1 min 12 s', '1 h 1 min'])
    expect([-3, 12_900, 125_000, 3_700_000].map(elapsed)).toEqual(['0 s', '12 s', '2 min 5 s', '1 h 1 min'])
    expect([0, 0.004, 0.124].map(cost)).toEqual(['$0.00', '< $0.01', '$0.12'])
    expect([10, 2048, 4_200_000].map(bytes)).toEqual(['10 B', '2 KB', '4.0 MB'])
  })

  it('tell how long ago something was', () => {
    const now = Date.parse('2026-11-15T12:00:00Z')
    const ago = (iso: string) => relativeTime(iso, now)
    expect(ago('2026-11-15T11:59:40Z')).toBe('now')
    expect(ago('2026-11-15T11:45:00Z')).toBe('15m')
    expect(ago('2026-11-15T07:00:00Z')).toBe('5h')
    expect(ago('2026-11-12T12:00:00Z')).toBe('3d')
    expect(ago('2026-10-15T12:00:00Z')).toBe('4w')
    expect(ago('2026-11-15T12:00:09Z')).toBe('now')
    expect(ago('never')).toBe('')
  })
})
