// What went wrong or was done, shown for a while.

import { createSignal } from 'solid-js'

export interface Notice {
  id: number
  text: string
  kind: 'info' | 'error'
  /** What can be done about it. */
  action?: { name: string; run(): void }
  /** Is called when a person puts it away. */
  dismissed?(): void
}

export type Notices = ReturnType<typeof createNotices>

export function createNotices() {
  const [list, setList] = createSignal<Notice[]>([])
  let nextId = 1

  const dismiss = (id: number) => setList(list => list.filter(notice => notice.id !== id))

  /** What can only be undone from here is `lasting`: it stays until it is dismissed. */
  function notify(
    text: string,
    kind: Notice['kind'] = 'info',
    action?: Notice['action'],
    lasting = false,
    dismissed?: () => void,
  ): void {
    const notice: Notice = {
      id: nextId++,
      text,
      kind,
      ...(action ? { action } : {}),
      ...(dismissed ? { dismissed } : {}),
    }
    setList(list => [...list.slice(-3), notice])
    if (!lasting) setTimeout(() => dismiss(notice.id), kind === 'error' || action ? 9000 : 4000)
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
