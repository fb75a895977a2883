// What was said before the first row that is there: it is fetched as the reader comes near it.

import { createEffect, createSignal, onCleanup, onMount, Show } from 'solid-js'
import type { Conversations } from '../store/conversations'
import type { Session } from '../store/session'

/** How far above the reader the next page is asked for. */
const NEAR_TOP_PX = 800

export type Earliness = ReturnType<typeof createEarlier>

/** The older pages of a session; `added` hears how many rows came in above. */
export function createEarlier(conversations: Conversations, session: Session, added: (rows: number) => void) {
  const [loading, setLoading] = createSignal(false)
  // Older rows come in above: the list then keeps its place from the end.
  const [growing, setGrowing] = createSignal(false)
  let running: Promise<boolean> | undefined

  const read = async (): Promise<boolean> => {
    const before = session.earlier()
    const first = session.rows()[0]?.key
    setLoading(true)
    setGrowing(true)
    await conversations.loadEarlier(session)
    added(
      Math.max(
        0,
        session.rows().findIndex(row => row.key === first),
      ),
    )
    requestAnimationFrame(() => setGrowing(false))
    setLoading(false)
    running = undefined
    return session.earlier() !== before
  }
  /** Reads one page; false when that did not succeed. */
  const load = (): Promise<boolean> => {
    running ??= read()
    return running
  }
  return { loading, growing, load }
}

/** Stands above the first row; `reading` is false while the reader is at the end and wants nothing of it. */
export function Earlier(props: { earliness: Earliness; reading: boolean }) {
  let button: HTMLButtonElement | undefined
  const [near, setNear] = createSignal(false)
  // A page that did not come is not asked for again until the reader asks or comes back.
  const [refused, setRefused] = createSignal(false)
  const load = async () => setRefused(!(await props.earliness.load()))
  onMount(() => {
    const root = button?.closest('.rows') ?? null
    const watch = new IntersectionObserver(
      ([entry]) => {
        setNear(entry?.isIntersecting === true)
        if (!near()) setRefused(false)
      },
      { root, rootMargin: `${NEAR_TOP_PX}px 0px 0px` },
    )
    if (button) watch.observe(button)
    onCleanup(() => watch.disconnect())
  })
  createEffect(() => {
    if (near() && props.reading && !props.earliness.loading() && !refused()) void load()
  })
  return (
    <button
      ref={button}
      type="button"
      class="earlier quiet"
      disabled={props.earliness.loading()}
      onClick={() => void load()}
    >
      <Show when={props.earliness.loading()} fallback="Earlier messages">
        <span class="spinner" /> Earlier messages…
      </Show>
    </button>
  )
}
