import { expect, test } from 'vitest'
import { chosenOption } from '../src/views/chosenOption'

const options = ['default', 'opus', 'haiku'].map(id => ({ id, name: id.toUpperCase(), description: '' }))

test.each([
  ['opus', 'OPUS'],
  ['claude-opus-5-5', 'OPUS'],
  ['claude-haiku-5-5[1m]', 'HAIKU'],
  ['claude-opusculum-1', undefined],
  ['gpt-5.4', undefined],
  [undefined, 'DEFAULT'],
])('the option in force for %s is %s', (chosen, expected) => {
  expect(chosenOption(options, chosen)?.name).toBe(expected)
})

test('without a default, nothing is said to be in force until it is told', () => {
  expect(chosenOption(options.slice(1), undefined)).toBeUndefined()
})
