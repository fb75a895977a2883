// One session: the list of rows, then what waits for the person, the queue, the composer.
//
// One virtual list, anchored at the bottom: it follows what is new until the reader scrolls up, then a pill
// counts what came since.

import { createEffect, createSignal, Match, on, onCleanup, onMount, Show, Switch } from 'solid-js'
import { Virtualizer, type VirtualizerHandle } from 'virtua/solid'
import { useConversations } from '../store/owners'
import type { Session } from '../store/session'
import { Activity, Blank } from './Activity'
import { Composer } from './Composer'
import { createEarlier, Earlier } from './Earlier'
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

function Rows(props: { session: Session }) {
  const conversations = useConversations()
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
    goingUp = false
  }
  const fromEnd = () => (scroller ? scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight : 0)
  const letGo = () => {
    if (!following()) return
    setSeen(props.session.rows().length)
    setFollowing(false)
  }
  /** Takes the end up again if, once all has been measured, the list still stands there. */
  const takeUpSoon = () =>
    setTimeout(() => {
      if (fromEnd() < NEAR_END_PX && performance.now() - lastMove >= WHEEL_MS) setFollowing(true)
    }, WHEEL_MS)
  // A wheel that turns up lets go before the list has moved: text that comes in within the same frame would pull it
  // back to the end, and the turn of the wheel would be lost. If it moved something else, the end is taken up again.
  const onWheel = (event: WheelEvent) => {
    hand()
    if (event.deltaY >= 0 || !scroller || scroller.scrollHeight <= scroller.clientHeight) return
    letGo()
    takeUpSoon()
  }
  // Who opens something in a row reads that row: it stays where it is, and what it opens grows below it.
  const onClick = (event: MouseEvent) => {
    if (!(event.target as Element).closest('[aria-expanded], .fold-button')) return
    letGo()
    takeUpSoon()
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

  const earliness = createEarlier(conversations, props.session, added => setSeen(seen => seen + added))
  // The top is the conversation's, not that of the rows that are here; another move of the reader's ends the way up.
  let goingUp = false
  const toTop = async () => {
    letGo()
    goingUp = true
    handle()?.scrollToIndex(0)
    let came = true
    while (came && goingUp && props.session.earlier() !== undefined) came = await earliness.load()
    if (goingUp) handle()?.scrollToIndex(0)
    goingUp = false
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
          if (event.key === 'Home') void toTop()
        }}
        onScroll={onScroll}
        on:click={{ handleEvent: onClick, capture: true }}
      >
        <div ref={inner}>
          <Show when={props.session.earlier() !== undefined}>
            <Earlier earliness={earliness} reading={!following()} />
          </Show>
          <Virtualizer
            ref={setHandle}
            data={props.session.rows()}
            scrollRef={scroller as HTMLElement}
            bufferSize={600}
            shift={earliness.growing()}
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
