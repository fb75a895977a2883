import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { enter, keyHeaders, keyProtocols, pageKey } from '../src/key'

const fetched = vi.fn<typeof fetch>()

beforeEach(() => {
  localStorage.clear()
  fetched.mockReset()
  vi.stubGlobal('fetch', fetched)
  history.replaceState(null, '', '/')
})

afterEach(() => {
  vi.unstubAllGlobals()
})

it('sends nothing while it has no key', async () => {
  await enter()
  expect(fetched).not.toHaveBeenCalled()
  expect([keyHeaders(), keyProtocols()]).toEqual([{}, []])
})

it('leaves a link that is refused out of the address too', async () => {
  history.replaceState(null, '', '/#enter=0abc')
  fetched.mockResolvedValue(new Response('{}', { status: 401 }))
  await enter()
  expect([location.hash, pageKey()]).toEqual(['', undefined])
})

it('buys its key with the code of the address, which has left it before', async () => {
  history.replaceState(null, '', '/#enter=0abc')
  fetched.mockImplementation(async (path, init) => {
    expect([path, init?.method, init?.body]).toEqual(['/api/enter', 'POST', '{"code":"0abc"}'])
    expect(location.hash).toBe('')
    return new Response('{"key":"1def"}')
  })
  await enter()
  expect(keyHeaders()).toEqual({ 'x-chartroom-key': '1def' })
  expect(keyProtocols()).toEqual(['chartroom', 'chartroom.key.1def'])
})

it('uses the key that another tab has got since', () => {
  localStorage.setItem('chartroom.key', 'newer')
  expect(pageKey()).toBe('newer')
})
