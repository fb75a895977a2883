// Keep or undo, in words: the branch, what can be done with all that is listed, and with what is committed.

import { createSignal, For, Match, Show, Switch } from 'solid-js'
import type { ChangesStore } from '../../store/changes'
import { countOf, type KeepStore, pathsOf, revertOf } from '../../store/keep'
import { visible } from '../../text/escape'
import { plural } from '../../text/format'
import { Icon } from '../Icon'
import { Menu, type MenuEntry } from '../Menu'
import '../../styles/keep.css'

/** The entry that makes a branch; no branch's name begins with a space. */
const NEW = ' new'

export function KeepBar(props: { keep: KeepStore; changes: ChangesStore; onCommit(): void }) {
  return (
    <Show when={props.keep.isRepository()}>
      <Switch>
        <Match when={!props.keep.isTrusted()}>
          <p class="keep-note">
            This folder is not trusted: its changes can be read, and nothing of it is staged, reverted or
            committed from here.
          </p>
        </Match>
        <Match when={props.keep.error()}>
          {error => <p class="keep-note failed-text">git cannot be asked: {error()}</p>}
        </Match>
        <Match when={props.keep.status()}>
          <Acts {...props} />
          <Unfinished keep={props.keep} />
        </Match>
      </Switch>
    </Show>
  )
}

function Acts(props: { keep: KeepStore; changes: ChangesStore; onCommit(): void }) {
  const { keep, changes } = props
  const files = () => changes.all()
  const toStage = () => files().filter(file => keep.of(file)?.unstaged)
  const toUnstage = () => files().filter(file => keep.of(file)?.staged)
  const toRevert = () => files().filter(file => !keep.of(file)?.conflicted)
  const revert = () => (toRevert().length > 0 ? revertOf(changes, toRevert()) : undefined)
  const revertName = () => {
    const { kind } = changes.scope()
    return kind === 'turn' ? 'Revert this turn' : kind === 'session' ? 'Revert this session' : 'Revert all'
  }
  const ahead = () => keep.status()?.ahead ?? 0
  return (
    <div class="keep-bar" role="toolbar" aria-label="Keep or undo">
      <Branches keep={keep} />
      <Show when={toStage().length > 0}>
        <Word
          name="Stage all"
          keep={keep}
          onPress={() => keep.stage(countOf(toStage()), { paths: pathsOf(toStage()) })}
        />
      </Show>
      <Show when={toUnstage().length > 0}>
        <Word
          name="Unstage all"
          keep={keep}
          onPress={() => keep.unstage(countOf(toUnstage()), { paths: pathsOf(toUnstage()) })}
        />
      </Show>
      <Show when={revert()}>
        {params => (
          <Word name={revertName()} keep={keep} onPress={() => keep.revert(countOf(toRevert()), params())} />
        )}
      </Show>
      <span class="spacer" />
      <Word
        name={ahead() > 0 ? `Push ${plural(ahead(), 'commit')}` : 'Push'}
        keep={keep}
        onPress={() => keep.push()}
      />
      <Word name="Pull request" keep={keep} onPress={() => keep.pullRequest()} />
      <button
        type="button"
        class="button small"
        classList={{ primary: keep.nStaged() > 0 }}
        disabled={keep.busy()}
        onClick={() => props.onCommit()}
      >
        {keep.nStaged() > 0 ? `Commit ${plural(keep.nStaged(), 'file')}…` : 'Commit…'}
      </button>
    </div>
  )
}

/** A word that does something. */
export function Word(props: { name: string; label?: string; keep: KeepStore; onPress(): unknown }) {
  return (
    <button
      type="button"
      class="link-button small-text keep-word"
      aria-label={props.label}
      disabled={props.keep.busy()}
      onClick={() => void props.onPress()}
    >
      {props.name}
    </button>
  )
}

/** What git is in the middle of, and what waits for a person there. */
function Unfinished(props: { keep: KeepStore }) {
  const inProgress = () => props.keep.status()?.inProgress
  const conflicts = () => props.keep.conflicts()
  return (
    <Show when={inProgress() !== undefined || conflicts().length > 0}>
      <p class="keep-note needs" role="status">
        <Icon name="alert" size={14} />
        <span>
          {inProgress() === undefined ? '' : `A ${inProgress()} is not finished. `}
          <Show when={conflicts().length > 0} fallback={'No file is in conflict any more.'}>
            {conflicts().length === 1 ? 'In conflict: ' : `${conflicts().length} files are in conflict: `}
            <For each={conflicts().slice(0, 8)}>
              {(file, at) => (
                <>
                  {at() > 0 ? ', ' : ''}
                  <code>{visible(file.path)}</code>
                </>
              )}
            </For>
            . Settle what is marked in them and stage them; they cannot be reverted from here.
          </Show>
        </span>
      </p>
    </Show>
  )
}

function Branches(props: { keep: KeepStore }) {
  const [making, setMaking] = createSignal(false)
  const [name, setName] = createSignal('')
  const status = () => props.keep.status()
  const here = () => status()?.branch ?? (status()?.head ? `at ${status()?.head?.slice(0, 9)}` : 'no branch')
  const entries = (): MenuEntry[] => [
    ...(status()?.branches ?? []).map(branch => ({
      id: branch,
      name: branch,
      chosen: branch === status()?.branch,
    })),
    { id: NEW, name: 'New branch…' },
  ]
  const choose = (id: string) => {
    if (id === NEW) setMaking(true)
    else if (id !== status()?.branch) void props.keep.switchTo({ branch: id, create: false })
  }
  const make = async (event: Event) => {
    event.preventDefault()
    if (await props.keep.switchTo({ branch: name().trim(), create: true })) {
      setMaking(false)
      setName('')
    }
  }
  return (
    <Show
      when={making()}
      fallback={
        <Menu
          label={`Branch: ${here()}`}
          class="button small keep-branch"
          button={
            <>
              <span class="ellipsis">{here()}</span> <Icon name="chevron-down" size={12} />
            </>
          }
          entries={entries()}
          onChoose={choose}
        />
      }
    >
      <form class="keep-new" onSubmit={event => void make(event)}>
        <input
          class="input"
          aria-label="Name of the new branch"
          placeholder="new-branch"
          spellcheck={false}
          autocapitalize="off"
          ref={field => queueMicrotask(() => field.focus())}
          value={name()}
          onInput={event => setName(event.currentTarget.value)}
          onKeyDown={event => {
            if (event.key !== 'Escape') return
            event.preventDefault()
            setMaking(false)
          }}
        />
        <button type="submit" class="button small" disabled={name().trim() === '' || props.keep.busy()}>
          Create
        </button>
        <button type="button" class="button small" onClick={() => setMaking(false)}>
          Cancel
        </button>
      </form>
    </Show>
  )
}
