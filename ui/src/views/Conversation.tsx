// One session: the list of rows, then what waits for the person, the queue, the composer.
//
// One virtual list, anchored at the bottom: it follows what is new until the reader scrolls up, then a pill
// counts what came since.

import { createEffect, createSignal, Match, on, onCleanup, onMount, Show, Switch } from 'solid-js'
import { Virtualizer, type VirtualizerHandle } from 'virtua/solid'
import { useConversations, useIntents, useSessions } from '../store/owners'
import type { Session } from '../store/session'
import { Activity, Blank } from './Activity'
import { Composer } from './Composer'
import { createEarlier, Earlier } from './Earlier'
import { FindBar } from './FindBar'
import { Icon } from './Icon'
import { Item } from './items/Item'
import { TurnEnd } from './items/TurnEnd'
import { agentName } from './marks'
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
  const [rows, setRows] = createSignal<RowsHandle | undefined>()
  const intents = useIntents()
  const sessions = useSessions()
  return (
    <main class="conversation">
      <h1 class="visually-hidden">{sessions.titleOf(props.session.sessionId)}</h1>
      <Announcement session={props.session} />
      <Show when={intents.finding()}>
        <FindBar session={props.session} onShow={key => void rows()?.toRow(key)} />
      </Show>
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
          <Rows session={props.session} ref={setRows} />
        </Match>
      </Switch>
      <Show when={!failure()}>
        <div class="foot">
          <Activity session={props.session} />
          <Questions session={props.session} />
          <Queue session={props.session} />
          <Composer session={props.session} onSent={() => rows()?.toEnd()} />
        </div>
      </Show>
    </main>
  )
}

/** Tells who listens instead of looking when the agent has answered, and when it asks. */
function Announcement(props: { session: Session }) {
  const sessions = useSessions()
  const agent = () => agentName(sessions.known[props.session.sessionId]?.cliType)
  const [said, setSaid] = createSignal('')
  createEffect(
    on(
      () => props.session.state().state,
      (state, before) => {
        if (state === 'needs_you') setSaid(`${agent()} needs you`)
        else if (state === 'open' && before === 'working') setSaid(`${agent()} has answered`)
        else if (state === 'working') setSaid('')
      },
    ),
  )
  return (
    <p class="visually-hidden" aria-live="polite">
      {said()}
    </p>
  )
}

/** What the rest of the conversation asks of its rows. */
export interface RowsHandle {
  toEnd(): void
  /** Brings a row into sight; reads earlier ones until it is there. */
  toRow(key: string): Promise<void>
}

function Rows(props: { session: Session; ref(handle: RowsHandle | undefined): void }) {
  const conversations = useConversations()
  let scroller: HTMLElement | undefined
  let inner: HTMLDivElement | undefined
  const [handle, setHandle] = createSignal<VirtualizerHandle | undefined>()
  const [following, setFollowing] = createSignal(true)
  const [seen, setSeen] = createSignal(0)
  const unseen = () => (following() ? 0 : Math.max(0, props.session.rows().length - seen()))

  // Only a person's own hand lets go of the end: rows that are measured for the first time scroll too, and so does
  // text that comes in while a frame is drawn.
  let lastMove = Number.NEGATIVE_INFINITY
  let lastTop = 0
  const toEnd = () => {
    setFollowing(true)
    endOpened()
    // Whatever moves the list from here on is not the hand that moved it before.
    lastMove = Number.NEGATIVE_INFINITY
    // Not by the list's own scrollToIndex: it goes on correcting for a moment and would take the list out of the
    // reader's hand. What is measured later moves the end, and the observer below follows it.
    if (scroller) scroller.scrollTop = scroller.scrollHeight
  }
  const hand = () => {
    lastMove = performance.now()
    goingUp = false
  }
  const fromEnd = () => (scroller ? scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight : 0)
  const letGo = () => {
    if (!following()) return
    endOpened()
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
  // Who opens something in a row reads that row: it stays where it is. The end is followed on from the next thing that
  // the agent says, unless that would push the row out of sight.
  let opened: { row: Element; seq: number | undefined } | undefined
  /** What was opened has moved the end out of sight. */
  const [away, setAway] = createSignal(false)
  const endOpened = () => {
    opened = undefined
    setAway(false)
  }
  const onClick = (event: MouseEvent) => {
    const row = (event.target as Element).closest('[aria-expanded], .fold-button')
    if (row && following()) opened = { row, seq: props.session.log.seq }
  }
  const followOn = () => {
    if (!following() || !scroller) return
    if (opened) {
      const { row, seq } = opened
      if (seq === props.session.log.seq) return setAway(fromEnd() >= NEAR_END_PX)
      const top = row.getBoundingClientRect().top - scroller.getBoundingClientRect().top
      endOpened()
      if (row.isConnected && top - fromEnd() < 0) return letGo()
    }
    scroller.scrollTop = scroller.scrollHeight
  }
  const onScroll = () => {
    if (!scroller) return
    const up = scroller.scrollTop < lastTop
    lastTop = scroller.scrollTop
    const byHand = performance.now() - lastMove < HAND_MS
    if (fromEnd() < NEAR_END_PX) {
      endOpened()
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

  const toRow = async (key: string) => {
    const find = () => props.session.rows().findIndex(row => row.key === key)
    let came = true
    while (find() < 0 && came && props.session.earlier() !== undefined) came = await earliness.load()
    const index = find()
    if (index < 0) return
    letGo()
    handle()?.scrollToIndex(index, { align: 'center' })
  }
  const intents = useIntents()
  createEffect(
    on(intents.turnShown, shown => {
      if (!shown) return
      intents.showTurn(undefined)
      // The list has its first rows in the next frame.
      requestAnimationFrame(() => void toRow(`turn ${shown.turnId}`))
    }),
  )

  onMount(() => {
    props.ref({ toEnd, toRow })
    onCleanup(() => props.ref(undefined))
    toEnd()
    const follow = new ResizeObserver(followOn)
    if (inner) follow.observe(inner)
    if (scroller) follow.observe(scroller)
    onCleanup(() => follow.disconnect())
  })
  createEffect(on(props.session.rows, () => queueMicrotask(followOn), { defer: true }))

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
      <Show when={!following() || away()}>
        <button type="button" class="pill" onClick={toEnd}>
          <Icon name="down" size={14} /> {unseen() > 0 ? `${unseen()} new` : 'To the end'}
        </button>
      </Show>
    </div>
  )
}
