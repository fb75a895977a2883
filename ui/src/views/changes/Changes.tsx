// What was changed: the files of a scope on one side, what differs in one of them on the other.
//
// Keys, while the focus is here: j and k go through the files, n and p through the changes and on to the next file, s puts
// both sides beside each other, w shows the whole file, c comments on the chosen lines, v marks the file as viewed and goes
// on, u undoes what was done last.

import { createEffect, createSignal, Match, on, onCleanup, Show, Switch } from 'solid-js'
import { looked } from '../../gitApi'
import { createChanges, type Scope, scopeName } from '../../store/changes'
import { createReview } from '../../store/comments'
import { createKeep } from '../../store/keep'
import { useConversations, useDesk, useNotices, useSessions, useTabs } from '../../store/owners'
import { backTo } from '../../store/rewound'
import { diffView, setDiffView } from '../../store/settings'
import { plural } from '../../text/format'
import { CommentTray } from '../comments/CommentTray'
import type { DeskTabProps } from '../desk/tabs'
import { Icon } from '../Icon'
import { Counts } from '../items/Diff'
import { CommitForm } from '../keep/CommitForm'
import { KeepBar } from '../keep/KeepBar'
import { UndoBar } from '../keep/UndoBar'
import { Menu, type MenuEntry } from '../Menu'
import { FileDiff, type FileDiffHandle } from './FileDiff'
import { FileList } from './FileList'
import '../../styles/changes.css'

export default function Changes(props: DeskTabProps) {
  const desk = useDesk()
  const store = createChanges(props.session)
  const review = createReview(props.session.sessionId, {
    conversations: useConversations(),
    notices: useNotices(),
  })
  const [notices, sessions, tabs] = [useNotices(), useSessions(), useTabs()]
  const keep = createKeep(
    store,
    () => props.project,
    act => void backTo({ notices, sessions, tabs }, act),
  )
  const [committing, setCommitting] = createSignal(false)
  const [now, setNow] = createSignal(Date.now())
  const clock = setInterval(() => setNow(Date.now()), 30_000)
  createEffect(on(keep.newest, () => setNow(Date.now())))
  // What was on the screen when the view is left is what was looked at.
  const leave = () => store.isReady() && void looked(props.session.sessionId).catch(() => {})
  window.addEventListener('pagehide', leave)
  onCleanup(() => {
    clearInterval(clock)
    window.removeEventListener('pagehide', leave)
    leave()
  })
  let diff: FileDiffHandle | undefined
  let root: HTMLDivElement | undefined

  createEffect(
    on(desk.place, place => {
      if (place?.turn !== undefined) store.setScope({ kind: 'turn', turn: place.turn })
      if (place?.path !== undefined) store.choose(place.path)
    }),
  )
  const onKey = (event: KeyboardEvent) => {
    const target = event.target as Element
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest('input, textarea, [role=menu]'))
      return
    if (event.key === 'j') store.step(1)
    else if (event.key === 'k') store.step(-1)
    else if (event.key === 'n') diff?.step(1) || store.step(1)
    else if (event.key === 'p') diff?.step(-1) || store.step(-1)
    else if (event.key === 's') setDiffView(view => (view === 'split' ? 'unified' : 'split'))
    else if (event.key === 'w') diff?.toggleWhole()
    else if (event.key === 'c') diff?.comment()
    else if (event.key === 'v') markViewed()
    else if (event.key === 'u') void keep.undo()
    else return
    event.preventDefault()
  }
  const markViewed = () => {
    const file = store.shown()
    if (!file) return
    const viewed = !review.isViewed(file)
    void review.setViewed(file, viewed)
    if (viewed) store.step(1)
  }
  const sum = (of: 'added' | 'removed') => store.all().reduce((sum, file) => sum + file[of], 0)
  return (
    <div
      class="changes"
      classList={{ reading: store.chosen() !== undefined && store.shown() !== undefined }}
      role="group"
      aria-label="Changes"
      tabIndex={-1}
      ref={root}
      onKeyDown={onKey}
    >
      <header class="changes-head">
        <ScopeMenu
          scope={store.scope()}
          looked={store.scopes()?.lookedAt !== undefined}
          branches={store.scopes()?.branches ?? []}
          branch={store.scopes()?.branch}
          isRepository={store.scopes()?.repository ?? false}
          onChoose={store.setScope}
        />
        <Show when={store.isReady()}>
          <span class="quiet small-text">{plural(store.all().length, 'file')}</span>
          <Show when={store.isCounted()}>
            <Counts added={sum('added')} removed={sum('removed')} />
          </Show>
        </Show>
        <span class="spacer" />
        <button
          type="button"
          class="link-button small-text"
          aria-pressed={diffView() === 'split'}
          title="s"
          onClick={() => setDiffView(view => (view === 'split' ? 'unified' : 'split'))}
        >
          Side by side
        </button>
        <button
          type="button"
          class="icon-button"
          aria-label="Look at the files again"
          title="Look at the files again"
          onClick={keep.lookAgain}
        >
          <Icon name="refresh" size={14} />
        </button>
      </header>
      <KeepBar keep={keep} changes={store} onCommit={() => setCommitting(true)} />
      <Switch>
        <Match when={store.error()}>{message => <p class="quiet pad">{message()}</p>}</Match>
        <Match when={!store.isReady()}>
          <p class="quiet pad">Looking at the files…</p>
        </Match>
        <Match when={store.all().length === 0}>
          <p class="quiet pad">
            {store.scope().kind === 'uncommitted'
              ? 'Everything is committed.'
              : 'No file differs: nothing was changed, or it was changed back.'}
          </p>
        </Match>
        <Match when={true}>
          <div class="changes-body">
            <FileList store={store} review={review} keep={keep} />
            <Show when={store.shown()} fallback={<p class="quiet pad">No file has this name.</p>}>
              {file => (
                <FileDiff
                  session={props.session}
                  file={file()}
                  root={props.project.path}
                  review={review}
                  keep={keep}
                  changes={store}
                  onBack={() => store.choose(undefined)}
                  ref={handle => {
                    diff = handle
                  }}
                />
              )}
            </Show>
          </div>
        </Match>
      </Switch>
      <UndoBar keep={keep} now={now} />
      <Show when={committing() && keep.isTrusted()}>
        <CommitForm
          keep={keep}
          changes={store}
          onClose={() => {
            setCommitting(false)
            root?.focus()
          }}
        />
      </Show>
      <CommentTray
        review={review}
        isWorking={props.session.state().state === 'working'}
        onShow={store.choose}
      />
    </div>
  )
}

const PLAIN: Scope[] = [{ kind: 'turn' }, { kind: 'session' }, { kind: 'looked' }, { kind: 'uncommitted' }]

function ScopeMenu(props: {
  scope: Scope
  branches: string[]
  branch: string | undefined
  isRepository: boolean
  /** Whether the person has looked before. */
  looked: boolean
  onChoose(scope: Scope): void
}) {
  const entries = (): MenuEntry[] => [
    ...PLAIN.filter(
      scope =>
        (scope.kind !== 'uncommitted' || props.isRepository) && (scope.kind !== 'looked' || props.looked),
    ).map(scope => ({
      id: scope.kind,
      name: scopeName(scope),
      chosen: props.scope.kind === scope.kind,
    })),
    ...props.branches
      .filter(name => name !== props.branch)
      .map(name => ({
        id: `branch ${name}`,
        name: `Against ${name}`,
        chosen: props.scope.kind === 'branch' && props.scope.name === name,
      })),
  ]
  const choose = (id: string) =>
    props.onChoose(
      PLAIN.find(scope => scope.kind === id) ?? { kind: 'branch', name: id.slice('branch '.length) },
    )
  return (
    <Menu
      label={`Compared: ${scopeName(props.scope)}`}
      class="button small"
      button={
        <>
          {scopeName(props.scope)} <Icon name="chevron-down" size={12} />
        </>
      }
      entries={entries()}
      onChoose={choose}
    />
  )
}
