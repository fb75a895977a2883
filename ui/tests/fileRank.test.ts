// Source comes before tests, tests before pictures; whoever asks for a test or a picture gets it first.

import { expect, it } from 'vitest'
import { ranked } from '../src/store/fileRank'

const FILES = ['docs/login.png', 'tests/login.ts', 'src/login.test.ts', 'src/login.ts', 'test_login.py']
const order = (query: string) => ranked(FILES, query, path => path)

it('puts source before tests and tests before pictures', () => {
  expect(order('login')).toEqual([
    'src/login.ts',
    'tests/login.ts',
    'src/login.test.ts',
    'test_login.py',
    'docs/login.png',
  ])
})

it('leaves tests where they are when tests are asked for', () => {
  expect(order('login test')[0]).toBe('tests/login.ts')
  expect(order('login.png')[0]).toBe('docs/login.png')
})
