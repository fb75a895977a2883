import { expect, test } from 'vitest'
import { chosenOption } from '../src/views/chosenOption'

const options = ['default', 'opus', 'haiku'].map(id => ({ id, name: id.toUpperCase(), description: '' }))

test.each([
  ['opus', 'OPUS'],
  ['claude-opus-5-5', 'OPUS'],
  ['claude-haiku-5-5[1m]', 'HAIKU'],
  ['claude-opusculum-1', undefined],
  ['gpt-5.4', undefined],
  [undefined, undefined],
])('the option in force for %s is %s', (chosen, expected) => {
  expect(chosenOption(options, chosen)?.name).toBe(expected)
})
