import { describe, expect, it } from 'vitest'
import { commandsFor, complete, triggerAt } from '../src/views/completion'

const COMMANDS = ['compact', 'clear', 'review', '/pre:view'].map(name => ({
  id: name,
  name,
  description: '',
}))

describe('completion', () => {
  it('begins with a slash at the very start, or an at sign at the start of a word', () => {
    expect(triggerAt('/co', 3)).toEqual({ kind: 'command', query: 'co', start: 0 })
    expect(triggerAt('see @src/lo', 11)).toEqual({ kind: 'file', query: 'src/lo', start: 4 })
    expect(triggerAt('@', 1)).toEqual({ kind: 'file', query: '', start: 0 })
    for (const text of ['a /co', 'mail@host', '/co x', 'see @a b', '']) {
      expect(triggerAt(text, text.length)).toBeUndefined()
    }
  })

  it('offers commands that begin with the word first', () => {
    expect(commandsFor('re', COMMANDS).map(offer => offer.insert)).toEqual(['/review ', '/pre:view '])
    expect(commandsFor('', COMMANDS).length).toBe(4)
    expect(commandsFor('zzz', COMMANDS)).toEqual([])
  })

  it('replaces the word and puts the caret behind it', () => {
    expect(complete('see @lo now', 7, { kind: 'file', query: 'lo', start: 4 }, '@src/login.ts ')).toEqual([
      'see @src/login.ts now',
      18,
    ])
  })
})
