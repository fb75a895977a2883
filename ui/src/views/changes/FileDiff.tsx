// One changed file: what it is called and was called, its mode, and its lines, its image or what can be said of it.

import { createMemo, createResource, createSignal, Match, onCleanup, Show, Switch } from 'solid-js'
import * as api from '../../api'
import * as git from '../../gitApi'
import type { ChangedFile, Comment } from '../../protocol'
import type { ChangesStore } from '../../store/changes'
import type { ReviewStore } from '../../store/comments'
import { type Anchor, anchorOf } from '../../store/commentText'
import { type KeepStore, pathsOf, revertOf } from '../../store/keep'
import type { Session } from '../../store/session'
import { settled } from '../../store/settled'
import { visible } from '../../text/escape'
import { CommentCard, CommentField } from '../comments/CommentCard'
import { Icon } from '../Icon'
import { Counts } from '../items/Diff'
import { Word } from '../keep/KeepBar'
import { DiffRows, type DiffRowsHandle, type Selection } from './DiffRows'
import { patchOf, type Staged, stagedHunks } from './hunks'
import { ImageDiff, isImage } from './ImageDiff'
import { parsePatch, textOf } from './patch'
import { toldAbout } from './toldAbout'

/** Lines around a change, and so many that they are the whole file. */
const [NEAR, WHOLE] = [3, 1_000_000]
/** The card in which a comment is written. */
const DRAFT = 'draft'
const MODES: Record<string, string> = {
  '100644': 'a file',
  '100755': 'a program',
  '120000': 'a link',
  '160000': 'a submodule',
}

export interface FileDiffHandle {
  /** Goes to the next or the last change; false when there is none. */
  step(by: number): boolean
  toggleWhole(): void
  /** Opens the field for a comment on the chosen lines. */
  comment(): void
}

export function FileDiff(props: {
  session: Session
  file: ChangedFile
  root: string
  review: ReviewStore
  keep: KeepStore
  changes: ChangesStore
  onBack(): void
  ref(handle: FileDiffHandle | undefined): void
}) {
  const [whole, setWhole] = createSignal(false)
  const [selection, setSelection] = createSignal<Selection | undefined>()
  const [draft, setDraft] = createSignal<Selection | undefined>()
  let rows: DiffRowsHandle | undefined
  // A file that is looked at again and has not changed is not drawn again.
  const wanted = createMemo(() => ({ file: props.file, context: whole() ? WHOLE : NEAR }), undefined, {
    equals: (a, b) =>
      a.context === b.context &&
      a.file.path === b.file.path &&
      a.file.before?.id === b.file.before?.id &&
      a.file.after?.id === b.file.after?.id,
  })
  const isSubmodule = () => [props.file.before, props.file.after].some(version => version?.mode === '160000')
  const hasLines = () => !props.file.binary && !isSubmodule()
  const [answer] = createResource(
    () => (hasLines() ? wanted() : undefined),
    async ({ file, context }) => {
      const { patch, truncated } = await api.filePatch(props.session.sessionId, file, context)
      setSelection(undefined)
      setDraft(undefined)
      return { file, patch: parsePatch(patch), truncated: truncated ?? false }
    },
  )
  const patch = () => {
    const shown = settled(answer)
    return shown?.file.path === props.file.path ? shown : undefined
  }
  props.ref({
    step: by => rows?.step(by) ?? false,
    toggleWhole: () => setWhole(whole => !whole),
    comment: () => {
      if (!selection()) rows?.step(1)
      setDraft(selection())
    },
  })
  onCleanup(() => props.ref(undefined))
  /** The comments on this file, by where they stand. */
  const anchored = createMemo(() => {
    const shown = patch()
    const found = new Map<string, { comment: Comment; anchor: Anchor }>()
    for (const comment of props.review.comments()) {
      const anchor = shown && comment.path === props.file.path ? anchorOf(shown.patch, comment) : undefined
      if (anchor) found.set(comment.commentId, { comment, anchor })
    }
    return found
  })
  // The rows are made anew only when a card comes, goes or moves.
  const cards = createMemo(
    () => {
      const below = new Map<number, string[]>()
      for (const [id, { anchor }] of anchored()) below.set(anchor.at, [...(below.get(anchor.at) ?? []), id])
      const at = draft()?.to
      if (at !== undefined) below.set(at, [...(below.get(at) ?? []), DRAFT])
      return below
    },
    undefined,
    { equals: (a, b) => JSON.stringify([...a]) === JSON.stringify([...b]) },
  )
  const save = (text: string) => {
    const lines = patch()?.patch.lines.slice(draft()?.from, (draft()?.to ?? -1) + 1) ?? []
    const kept = lines.filter(line => line.kind !== 'removed')
    const numbers = (kept.length > 0 ? kept.map(line => line.now) : lines.map(line => line.old)).filter(
      number => number !== undefined,
    )
    setDraft(undefined)
    void props.review.put({
      commentId: freshId(),
      path: props.file.path,
      side: kept.length > 0 ? 'after' : 'before',
      firstLine: numbers[0] ?? 1,
      lastLine: numbers.at(-1) ?? 1,
      quote: textOf(lines),
      text,
      state: 'open',
    })
  }
  const card = (id: string) => (
    <Show when={id !== DRAFT} fallback={<CommentField onSave={save} onCancel={() => setDraft(undefined)} />}>
      <Show when={anchored().get(id)}>
        {shown => (
          <CommentCard comment={shown().comment} changed={shown().anchor.changed} review={props.review} />
        )}
      </Show>
    </Show>
  )
  /** What the agent was told about the lines of this file, the last word on each. */
  const told = createMemo(() => {
    const shown = patch()
    const marks = new Map<number, string>()
    if (!shown) return marks
    const words = toldAbout(props.session, props.file.path, props.root)
    shown.patch.lines.forEach((line, at) => {
      const text = line.now === undefined ? undefined : words.get(line.now)
      if (text !== undefined) marks.set(at, text)
    })
    return marks
  })
  const isUncommitted = () => props.changes.scope().kind === 'uncommitted'
  const status = () => props.keep.of(props.file)
  /** Which hunks are staged; told only where they begin with the last commit. */
  const [stagedPatch] = createResource(
    () =>
      isUncommitted() && status()?.staged ? { path: props.file.path, of: props.keep.status() } : undefined,
    async ({ path }) => parsePatch((await git.staged(props.keep.place, path)).patch),
  )
  const staged = createMemo<Staged[]>(() => {
    const [shown, known] = [patch()?.patch, status()?.staged ? settled(stagedPatch) : undefined]
    return shown && known ? stagedHunks(shown, known) : []
  })
  const canKeep = () => props.keep.isTrusted() && props.keep.status() !== undefined
  /** A hunk of a file that came or went is the whole file. */
  const hasHunks = () =>
    canKeep() &&
    !whole() &&
    !status()?.conflicted &&
    props.file.before !== undefined &&
    props.file.after !== undefined
  const name = () => visible(props.file.path)
  const hunk = (at: number) => {
    const act = (what: 'stage' | 'unstage' | 'revert') => {
      const one = patch()?.patch.hunks[at]
      return one && props.keep[what](`A part of ${name()} is`, { patch: patchOf(props.file.path, [one]) })
    }
    const label = (what: string) => `${what} this part of ${name()}`
    const how = () => staged()[at] ?? 'none'
    const isOwnName = () => props.file.from === undefined
    return (
      <span class="hunk-acts">
        <Show when={isUncommitted() && how() === 'none' && isOwnName()}>
          <Word name="Stage" label={label('Stage')} keep={props.keep} onPress={() => act('stage')} />
        </Show>
        <Show when={how() === 'part'}>
          <span class="quiet">partly staged</span>
        </Show>
        <Show when={how() === 'all'}>
          <Word name="Unstage" label={label('Unstage')} keep={props.keep} onPress={() => act('unstage')} />
        </Show>
        <Word name="Revert" label={label('Revert')} keep={props.keep} onPress={() => act('revert')} />
      </span>
    )
  }
  /** What takes the whole file back to what the scope began with. */
  const fileRevert = () => {
    const { file } = props
    if (!canKeep() || status()?.conflicted) return undefined
    const params = revertOf(props.changes, [file])
    if (params) return params
    const hunks = patch()?.truncated ? undefined : patch()?.patch.hunks
    return hunks && hunks.length > 0 && file.status === 'modified'
      ? { patch: patchOf(file.path, hunks) }
      : undefined
  }
  const mode = () => {
    const [before, after] = [props.file.before?.mode, props.file.after?.mode]
    if (before === undefined || after === undefined || before === after) return undefined
    return `${MODES[before] ?? before} became ${MODES[after] ?? after}`
  }
  return (
    <section class="file-diff" aria-label="Difference">
      <header class="file-diff-head">
        <button
          type="button"
          class="icon-button file-back"
          aria-label="All files"
          onClick={() => props.onBack()}
        >
          <Icon name="list" />
        </button>
        <span class="file-diff-name">
          <Show when={props.file.from}>{from => <span class="quiet">{visible(from())} → </span>}</Show>
          <span>{visible(props.file.path)}</span>
        </span>
        <Show when={mode()}>{mode => <span class="quiet small-text">{mode()}</span>}</Show>
        <Show when={hasLines()}>
          <Show when={props.changes.isCounted()}>
            <Counts added={props.file.added} removed={props.file.removed} />
          </Show>
          <Show when={selection()}>
            {chosen => (
              <button type="button" class="button small" title="c" onClick={() => setDraft(chosen())}>
                Comment
              </button>
            )}
          </Show>
          <button
            type="button"
            class="link-button small-text"
            aria-pressed={whole()}
            title="w"
            onClick={() => setWhole(whole => !whole)}
          >
            Whole file
          </button>
        </Show>
        <Show when={canKeep() && status()?.unstaged}>
          <Word
            name="Stage"
            label={`Stage ${name()}`}
            keep={props.keep}
            onPress={() => props.keep.stage(`${name()} is`, { paths: pathsOf([props.file]) })}
          />
        </Show>
        <Show when={canKeep() && status()?.staged}>
          <Word
            name="Unstage"
            label={`Unstage ${name()}`}
            keep={props.keep}
            onPress={() => props.keep.unstage(`${name()} is`, { paths: pathsOf([props.file]) })}
          />
        </Show>
        <Show when={fileRevert()}>
          {params => (
            <Word
              name="Revert"
              label={`Revert ${name()}`}
              keep={props.keep}
              onPress={() => props.keep.revert(`${name()} is`, params())}
            />
          )}
        </Show>
        <label class="viewed-box" title="v">
          <input
            type="checkbox"
            checked={props.review.isViewed(props.file)}
            onChange={event => void props.review.setViewed(props.file, event.currentTarget.checked)}
          />
          Viewed
        </label>
      </header>
      <Switch>
        <Match when={isSubmodule()}>
          <p class="quiet pad">
            A submodule: it stood at {props.file.before?.id.slice(0, 12) ?? 'nothing'}, and stands at{' '}
            {props.file.after?.id.slice(0, 12) ?? 'nothing'}.
          </p>
        </Match>
        <Match when={props.file.binary && isImage(props.file.path)}>
          <ImageDiff session={props.session} file={props.file} />
        </Match>
        <Match when={props.file.binary}>
          <p class="quiet pad">A binary file: it has no lines to compare.</p>
        </Match>
        <Match when={answer.error}>
          {error => <p class="quiet pad">It cannot be shown: {(error() as Error).message}</p>}
        </Match>
        <Match when={patch()} keyed>
          {({ file, patch, truncated }) => (
            <Show
              when={patch.lines.length > 0}
              fallback={
                <p class="quiet pad">
                  {file.status === 'renamed' ? 'Only its name is another.' : 'No line differs.'}
                </p>
              }
            >
              <DiffRows
                path={file.path}
                patch={patch}
                selection={selection()}
                onSelect={setSelection}
                cards={cards()}
                card={card}
                told={told()}
                {...(hasHunks() ? { hunk } : {})}
                onWhole={whole() ? undefined : () => setWhole(true)}
                ref={handle => {
                  rows = handle
                }}
              />
              <Show when={truncated}>
                <p class="quiet small-text pad">The change is longer than is shown here.</p>
              </Show>
            </Show>
          )}
        </Match>
        <Match when={true}>
          <p class="quiet pad">Reading…</p>
        </Match>
      </Switch>
    </section>
  )
}

/** Not by `randomUUID`, which a browser has only over https or on the machine itself. */
const freshId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(12)), byte => byte.toString(16).padStart(2, '0')).join('')
