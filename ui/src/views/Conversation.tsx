// One session: the list of rows, then what waits for the person, the queue, the composer.
//
// One virtual list, anchored at the bottom: it follows what is new until the reader scrolls up, then a pill
// counts what came since.

import { createEffect, createSignal, Match, on, onCleanup, onMount, Show, Switch } from 'solid-js'
import { Virtualizer, type VirtualizerHandle } from 'virtua/solid'
import { useApp } from '../store/app'
import type { Session } from '../store/session'
import { Composer } from './Composer'
import { Icon } from './Icon'
import { Item } from './items/Item'
import { TurnEnd } from './items/TurnEnd'
import { Questions } from './Questions'
import { Queue } from './Queue'
import { SessionFailure } from './screens'

/** How far from the end still counts as reading the end. */
const NEAR_END_PX = 40
/** How long a wheel, a finger or a key goes on moving the list. */
const HAND_MS = 1000
/** How long a wheel may take to move the list at all. */
const WHEEL_MS = 200

export function Conversation(props: { session: Session }) {
  const failure = () => (props.session.rows().length === 0 ? props.session.failure() : undefined)
  return (
    <main class="conversation">
      <Switch>
        <Match when={failure()}>
          {message => <SessionFailure session={props.session} message={message()} />}
        </Match>
        <Match when={props.session.rows().length === 0}>
          <div class="rows-empty">
            <Blank session={props.session} />
          </div>
        </Match>
        <Match when={true}>
          <Rows session={props.session} />
        </Match>
      </Switch>
      <Show when={!failure()}>
        <div class="foot">
          <Activity session={props.session} />
          <Questions session={props.session} />
          <Queue session={props.session} />
          <Composer session={props.session} />
        </div>
      </Show>
    </main>
  )
}

function Blank(props: { session: Session }) {
  const app = useApp()
  const waiting = () => props.session.state().state === 'loading' && !props.session.filled()
  return (
    <Show when={!waiting()} fallback={<p class="quiet">Opening…</p>}>
      <h1>New session</h1>
      <p class="quiet">
        in <code>{app.projectOf(props.session.sessionId)?.path ?? 'this project'}</code>
      </p>
      <p class="quiet">
        Say what should be done. <kbd>/</kbd> gives commands, <kbd>@</kbd> names a file, an image can be
        pasted.
      </p>
    </Show>
  )
}

/** What the agent is doing, or why it has ended. */
function Activity(props: { session: Session }) {
  const state = () => props.session.state()
  return (
    <div class="activity" role="status">
      <Switch>
        <Match when={state().state === 'dead'}>
          <span class="failed-text">
            The agent has ended{state().note ? `: ${state().note}` : '.'} Send a message to start it again.
          </span>
        </Match>
        <Match when={state().note}>{note => <span class="quiet">{note()}</span>}</Match>
        <Match when={state().state === 'working'}>
          <span class="quiet working-line">
            <span class="dot working" /> Working{' '}
            <span class="by-keys">
              · <kbd>Esc</kbd> <kbd>Esc</kbd> stops
            </span>
          </span>
        </Match>
      </Switch>
    </div>
  )
}

function Rows(props: { session: Session }) {
  const app = useApp()
  let scroller: HTMLElement | undefined
  let inner: HTMLDivElement | undefined
  const [handle, setHandle] = createSignal<VirtualizerHandle | undefined>()
  const [following, setFollowing] = createSignal(true)
  const [seen, setSeen] = createSignal(0)
  const unseen = () => (following() ? 0 : Math.max(0, props.session.rows().length - seen()))

  const toEnd = () => {
    setFollowing(true)
    // Not by the list's own scrollToIndex: it goes on correcting for a moment and would take the list out of the
    // reader's hand. What is measured later moves the end, and the observer below follows it.
    if (scroller) scroller.scrollTop = scroller.scrollHeight
  }
  // Only a person's own hand lets go of the end: rows that are measured for the first time scroll too, and so does
  // text that comes in while a frame is drawn.
  let lastMove = Number.NEGATIVE_INFINITY
  let lastTop = 0
  const hand = () => {
    lastMove = performance.now()
  }
  const fromEnd = () => (scroller ? scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight : 0)
  const letGo = () => {
    if (!following()) return
    setSeen(props.session.rows().length)
    setFollowing(false)
  }
  // A wheel that turns up lets go before the list has moved: text that comes in within the same frame would pull it
  // back to the end, and the turn of the wheel would be lost. If it moved something else, the end is taken up again.
  const onWheel = (event: WheelEvent) => {
    hand()
    if (event.deltaY >= 0 || !scroller || scroller.scrollHeight <= scroller.clientHeight) return
    letGo()
    setTimeout(() => {
      if (fromEnd() < NEAR_END_PX && performance.now() - lastMove >= WHEEL_MS) setFollowing(true)
    }, WHEEL_MS)
  }
  const onScroll = () => {
    if (!scroller) return
    const up = scroller.scrollTop < lastTop
    lastTop = scroller.scrollTop
    const byHand = performance.now() - lastMove < HAND_MS
    if (fromEnd() < NEAR_END_PX) {
      // The first step up is still near the end.
      if (!up || !byHand) setFollowing(true)
    } else if (up && byHand) letGo()
  }

  // Older rows come in above: the list then keeps its place from the end.
  const [growingUp, setGrowingUp] = createSignal(false)
  const earlier = async () => {
    setFollowing(false)
    setGrowingUp(true)
    await app.loadEarlier(props.session)
    requestAnimationFrame(() => setGrowingUp(false))
  }

  onMount(() => {
    toEnd()
    const follow = new ResizeObserver(() => {
      if (following() && scroller) scroller.scrollTop = scroller.scrollHeight
    })
    if (inner) follow.observe(inner)
    if (scroller) follow.observe(scroller)
    onCleanup(() => follow.disconnect())
  })
  createEffect(on(props.session.rows, () => following() && queueMicrotask(toEnd), { defer: true }))

  return (
    <div class="rows-frame">
      <section
        class="rows"
        aria-label="Conversation"
        tabIndex={0}
        ref={scroller}
        onWheel={onWheel}
        onTouchMove={hand}
        onPointerDown={hand}
        onPointerMove={event => event.buttons > 0 && hand()}
        onKeyDown={event => {
          hand()
          if (event.key === 'End') toEnd()
          if (event.key === 'Home') handle()?.scrollToIndex(0)
        }}
        onScroll={onScroll}
      >
        <div ref={inner}>
          <Show when={props.session.earlier() !== undefined}>
            <button type="button" class="earlier button small" onClick={() => void earlier()}>
              Earlier messages
            </button>
          </Show>
          <Virtualizer
            ref={setHandle}
            data={props.session.rows()}
            scrollRef={scroller as HTMLElement}
            bufferSize={600}
            shift={growingUp()}
          >
            {(row, index) => (
              <div class="row-item" data-key={row.key}>
                {row.kind === 'item' ? (
                  <Item session={props.session} itemId={row.itemId} index={index} />
                ) : (
                  <TurnEnd session={props.session} turnId={row.turnId} />
                )}
              </div>
            )}
          </Virtualizer>
        </div>
      </section>
      <Show when={!following()}>
        <button type="button" class="pill" onClick={toEnd}>
          <Icon name="down" size={14} /> {unseen() > 0 ? `${unseen()} new` : 'To the end'}
        </button>
      </Show>
    </div>
  )
}
