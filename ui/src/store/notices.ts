// What went wrong or was done, shown for a while.

import { createSignal } from 'solid-js'

export interface Notice {
  id: number
  text: string
  kind: 'info' | 'error'
  /** What can be done about it. */
  action?: { name: string; run(): void }
}

export type Notices = ReturnType<typeof createNotices>

export function createNotices() {
  const [list, setList] = createSignal<Notice[]>([])
  let nextId = 1

  const dismiss = (id: number) => setList(list => list.filter(notice => notice.id !== id))

  function notify(text: string, kind: Notice['kind'] = 'info', action?: Notice['action']): void {
    const notice: Notice = { id: nextId++, text, kind, ...(action ? { action } : {}) }
    setList(list => [...list.slice(-3), notice])
    setTimeout(() => dismiss(notice.id), kind === 'error' || action ? 9000 : 4000)
  }

  /** Runs something that may fail and tells the person when it does. */
  async function attempt<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      notify(`${what}: ${error instanceof Error ? error.message : String(error)}`, 'error')
      return undefined
    }
  }

  return { list, notify, dismiss, attempt }
}
