// Several tries beside each other: state, cost, time, tests and size of each, its changes on a click, and "keep this one".

import { createEffect, createMemo, createSignal, For, on, onCleanup, Show } from 'solid-js'
import * as api from '../../api'
import type { EndTriesResponse, Tries, Try } from '../../protocol'
import {
  useConversations,
  useDesk,
  useLists,
  useNotices,
  useProjects,
  useTabs,
  useTries,
} from '../../store/owners'
import { visible } from '../../text/escape'
import { cost, count, duration, plural } from '../../text/format'
import { Icon } from '../Icon'
import { AgentMark, agentName } from '../marks'
import { lossOf, names, runWords } from '../worktrees/names'
import { RunOutput } from '../worktrees/RunOutput'
import '../../styles/worktrees.css'
import '../../styles/tries.css'

/** How often it is asked how they stand, while something goes on. */
const ASK_EVERY_MS = 1500

const STATES: Record<Try['state'], string> = {
  making: 'being made',
  failed: 'did not begin',
  open: 'done',
  working: 'works',
  needs_you: 'needs you',
  dead: 'ended',
  removed: 'removed',
}

/** What was asked for and needs a second word. */
type Asked = { what: 'keep'; one: Try; answer: EndTriesResponse } | { what: 'drop'; answer: EndTriesResponse }

export default function TriesStrip(props: { triesId: string }) {
  const conversations = useConversations()
  const desk = useDesk()
  const lists = useLists()
  const notices = useNotices()
  const projects = useProjects()
  const tabs = useTabs()
  const tries = useTries()
  const shown = createMemo(() => {
    const all = projects.list.flatMap(project => tries.open(project.projectId))
    return all.find(one => one.triesId === props.triesId)
  })
  const [asked, setAsked] = createSignal<Asked | undefined>()
  const [output, setOutput] = createSignal<{ name: string; what: 'test' | 'preparing' } | undefined>()
  const [busy, setBusy] = createSignal(false)

  /** One question at a time: an older answer that comes after a newer one would stay. */
  let isAsking = false
  let askAgain = false
  const refresh = async () => {
    askAgain = true
    if (isAsking) return
    isAsking = true
    while (askAgain) {
      askAgain = false
      const of = shown()
      const now = of && (await api.oneTries(of.projectId, of.triesId).catch(() => undefined))
      if (now) tries.put(now)
    }
    isAsking = false
  }
  /** Where something may change by itself. */
  const goesOn = () =>
    shown()?.tries.some(
      one =>
        one.state === 'making' ||
        one.state === 'working' ||
        one.test?.state === 'running' ||
        one.preparing?.state === 'running',
    ) === true
  createEffect(
    on(goesOn, goesOn => {
      if (!goesOn) return
      const clock = setInterval(() => void refresh(), ASK_EVERY_MS)
      onCleanup(() => clearInterval(clock))
    }),
  )
  // What a session says by itself comes sooner than the clock.
  const states = createMemo(() =>
    shown()
      ?.tries.map(one => (one.sessionId ? conversations.stateOf(one.sessionId) : one.state))
      .join(),
  )
  createEffect(on(states, () => void refresh(), { defer: true }))
  // The first that has begun is shown; from then on the strip is there with their sessions.
  createEffect(
    on(
      () => shown()?.tries.find(one => one.sessionId)?.sessionId,
      first => {
        if (!first) return
        // One that has not begun has no session, as nothing open is none: that is not the same one.
        const active = tabs.active()
        const isShown = active !== undefined && shown()?.tries.some(one => one.sessionId === active)
        if (!isShown) tabs.select(first)
        tries.pin(undefined)
        void lists.refresh()
      },
    ),
  )

  const attempt = async (what: string, work: () => Promise<void>) => {
    setBusy(true)
    await notices.attempt(what, work)
    setBusy(false)
  }
  const test = (of: Tries) =>
    attempt('They were not tested', async () => tries.put(await api.testTries(of.projectId, of.triesId)))
  const end = async (of: Tries, answer: EndTriesResponse, next: Asked) => {
    if (!answer.done) {
      setAsked(next)
      return
    }
    setAsked(undefined)
    const gone = new Set(answer.others.map(other => other.name))
    for (const one of of.tries) if (one.sessionId && gone.has(one.name)) tabs.close(one.sessionId)
    await lists.refresh()
    await tries.refresh(of.projectId).catch(() => {})
    const back = answer.others.flatMap(({ name, undo, commit }) => {
      const branch = of.tries.find(one => one.name === name)?.branch ?? name
      const files = undo ? `, then chartroom checkpoint restore ${undo} --force` : ''
      return [`chartroom worktree add --branch ${branch} --from ${commit.slice(0, 12)}${files}`]
    })
    const kept = next.what === 'keep' ? `Kept ${next.one.branch}: its changes are in the project. ` : ''
    const removed = `${plural(answer.others.length, 'other try', 'other tries')} removed`
    notices.notify(
      `${kept}${next.what === 'keep' ? removed : plural(answer.others.length, 'try', 'tries').concat(' removed')}; their sessions are archived. To have one back: ${back.join('; or ')}`,
      'info',
      undefined,
      true,
    )
  }
  const keep = (of: Tries, one: Try, force: boolean) =>
    attempt('It was not kept', async () => {
      const answer = await api.keepTry(of.projectId, of.triesId, { name: one.name, force })
      await end(of, answer, { what: 'keep', one, answer })
    })
  const drop = (of: Tries, force: boolean) =>
    attempt('They were not removed', async () => {
      const answer = await api.dropTries(of.projectId, of.triesId, force)
      await end(of, answer, { what: 'drop', answer })
    })
  const show = (one: Try, changes: boolean) => {
    if (!one.sessionId) return
    tabs.select(one.sessionId)
    if (changes) desk.show('changes', { scope: 'session' })
  }
  const openOutput = (of: Tries) => {
    const wanted = output()
    const one = of.tries.find(one => one.name === wanted?.name)
    const run = wanted && one?.[wanted.what]
    return run ? { run, one, label: wanted.what === 'test' ? 'Tests' : 'Set-up' } : undefined
  }
  const toggle = (name: string, what: 'test' | 'preparing') =>
    setOutput(shown => (shown?.name === name && shown.what === what ? undefined : { name, what }))

  return (
    <Show when={shown()}>
      {of => (
        <section class="tries" aria-label="Several tries">
          <header class="tries-head">
            <strong class="ellipsis" title={of().message}>
              {of().message}
            </strong>
            <span class="spacer" />
            <Show
              when={of().test.length > 0}
              fallback={
                <span class="quiet small-text no-test">
                  no tests: set <code>test</code> of <code>[tries]</code> in your config
                </span>
              }
            >
              <button
                type="button"
                class="button small"
                title={of().test.join(' ')}
                disabled={busy() || of().tries.some(one => one.test?.state === 'running')}
                onClick={() => void test(of())}
              >
                Run tests
              </button>
            </Show>
            <button
              type="button"
              class="button small"
              disabled={busy()}
              onClick={() => void drop(of(), false)}
            >
              Keep none…
            </button>
            {/* With a session of theirs the strip goes when another tab is shown. */}
            <Show when={!of().tries.some(one => one.sessionId !== undefined)}>
              <button
                type="button"
                class="icon-button"
                aria-label="Hide the tries"
                title="They stay in the sidebar"
                onClick={() => tries.pin(undefined)}
              >
                <Icon name="close" size={14} />
              </button>
            </Show>
          </header>
          <ul class="tries-columns">
            <For each={of().tries}>
              {one => (
                <li
                  class="try"
                  classList={{
                    active: one.sessionId !== undefined && tabs.active() === one.sessionId,
                    'needs-you': one.state === 'needs_you',
                  }}
                >
                  <button
                    type="button"
                    class="try-name"
                    disabled={!one.sessionId}
                    aria-current={one.sessionId && tabs.active() === one.sessionId ? 'true' : undefined}
                    title={one.branch}
                    onClick={() => show(one, false)}
                  >
                    <AgentMark cliType={one.cliType} />
                    <span class="ellipsis">{agentName(one.cliType)}</span>
                    <span class="try-state" classList={{ failure: one.state === 'failed' }}>
                      <Show when={one.state === 'working' || one.state === 'making'}>
                        <span class="spinner" />
                      </Show>
                      {STATES[one.state]}
                    </span>
                  </button>
                  <span class="branch-name ellipsis">{one.branch}</span>
                  <Show when={one.note}>
                    <p class="failure small-text">{one.note}</p>
                  </Show>
                  <p class="try-facts">
                    <Show when={one.durationMs > 0}>
                      <span>{duration(one.durationMs)}</span>
                    </Show>
                    <Show
                      when={one.costUsd !== undefined}
                      fallback={
                        <Show when={one.tokens}>{tokens => <span>{count(tokens())} tokens</span>}</Show>
                      }
                    >
                      <span>{cost(one.costUsd ?? 0)}</span>
                    </Show>
                    <Show when={one.size}>
                      {size => (
                        <button type="button" class="link-button" onClick={() => show(one, true)}>
                          {plural(size().files, 'file')} <span class="added">+{size().added}</span>{' '}
                          <span class="removed">−{size().removed}</span>
                        </button>
                      )}
                    </Show>
                    <Show when={one.test}>
                      {test => (
                        <button
                          type="button"
                          class="link-button"
                          aria-expanded={output()?.name === one.name && output()?.what === 'test'}
                          onClick={() => toggle(one.name, 'test')}
                        >
                          <span
                            classList={{
                              passed: test().state === 'passed',
                              failure: test().state === 'failed' || test().state === 'interrupted',
                            }}
                          >
                            tests {runWords(test())}
                          </span>
                        </button>
                      )}
                    </Show>
                    <Show
                      when={one.preparing && one.preparing.state !== 'passed' ? one.preparing : undefined}
                    >
                      {run => (
                        <button
                          type="button"
                          class="link-button"
                          aria-expanded={output()?.name === one.name && output()?.what === 'preparing'}
                          onClick={() => toggle(one.name, 'preparing')}
                        >
                          set-up {runWords(run())}
                        </button>
                      )}
                    </Show>
                  </p>
                  <button
                    type="button"
                    class="button small"
                    aria-label={`Keep this one: ${one.branch}`}
                    disabled={busy() || !one.sessionId || one.state === 'working' || one.state === 'making'}
                    onClick={() => void keep(of(), one, false)}
                  >
                    Keep this one
                  </button>
                </li>
              )}
            </For>
          </ul>
          <Show when={openOutput(of())}>
            {shown => (
              <RunOutput run={shown().run} label={`${shown().label} of ${shown().one?.branch ?? ''}`} />
            )}
          </Show>
          <Show when={asked()} keyed>
            {asked => <SecondWord asked={asked} of={of()} />}
          </Show>
        </section>
      )}
    </Show>
  )

  /** What would be lost, or does not fit, and what can be done about it. */
  function SecondWord(inner: { asked: Asked; of: Tries }) {
    const { asked } = inner
    const { brought, others } = asked.answer
    const lost = others.filter(other => lossOf(other) !== '')
    return (
      <div class="tries-asked" role="alert">
        <Show
          when={brought && !brought.brought ? brought : undefined}
          fallback={
            <>
              <p>This would be lost with the others:</p>
              <ul>
                <For each={lost}>
                  {other => (
                    <li>
                      <code>{other.name}</code>: {lossOf(other)}
                    </li>
                  )}
                </For>
              </ul>
              <p class="quiet small-text">
                What is not committed is recorded first, so that you can have it back.
              </p>
            </>
          }
        >
          {brought => (
            <p class="failure">
              Nothing was changed: {brought().reason}
              {brought().conflicts.length > 0 ? `: ${names(brought().conflicts.map(visible))}` : ''}
            </p>
          )}
        </Show>
        <p class="row">
          <button type="button" class="button small" onClick={() => setAsked(undefined)}>
            Cancel
          </button>
          <Show when={!brought || brought.brought}>
            <button
              type="button"
              class="button small danger"
              disabled={busy()}
              onClick={() =>
                void (asked.what === 'keep' ? keep(inner.of, asked.one, true) : drop(inner.of, true))
              }
            >
              {asked.what === 'keep'
                ? `Keep ${asked.one.branch} and remove the others`
                : 'Remove them all the same'}
            </button>
          </Show>
        </p>
      </div>
    )
  }
}
