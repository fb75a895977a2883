// The files that differ, as many as there are: only those in sight are in the page.

import { createEffect, createSignal, on, Show } from 'solid-js'
import { Virtualizer, type VirtualizerHandle } from 'virtua/solid'
import type { ChangedFile, FileStatus, StatusFile } from '../../protocol'
import type { ChangesStore } from '../../store/changes'
import type { ReviewStore } from '../../store/comments'
import type { KeepStore } from '../../store/keep'
import { visible } from '../../text/escape'
import { Icon } from '../Icon'
import { Counts } from '../items/Diff'
import { PathName } from '../PathName'

export const STATUSES: Record<FileStatus, [letter: string, word: string]> = {
  added: ['A', 'new'],
  modified: ['M', 'modified'],
  deleted: ['D', 'deleted'],
  renamed: ['R', 'renamed'],
  untracked: ['U', 'new, not tracked by git'],
}

/** From so many files on they can be searched. */
const SEARCHED_FROM = 12
const ROW_PX = 28

export function FileList(props: { store: ChangesStore; review: ReviewStore; keep: KeepStore }) {
  const [handle, setHandle] = createSignal<VirtualizerHandle | undefined>()
  let scroller: HTMLDivElement | undefined
  // A file that was chosen by its key is brought into sight.
  createEffect(
    on(
      () => props.store.shown()?.path,
      path => {
        const at = props.store.files().findIndex(file => file.path === path)
        if (at >= 0) handle()?.scrollToIndex(at, { align: 'nearest' })
      },
      { defer: true },
    ),
  )
  return (
    <nav class="changed-files" aria-label="Changed files">
      <Show when={props.store.all().length >= SEARCHED_FROM}>
        <input
          class="changed-search"
          type="search"
          aria-label="Search the changed files"
          placeholder="Search files"
          spellcheck={false}
          value={props.store.filter()}
          onInput={event => props.store.setFilter(event.currentTarget.value)}
        />
      </Show>
      <div class="changed-scroller" ref={scroller}>
        <Virtualizer
          ref={setHandle}
          data={props.store.files()}
          scrollRef={scroller as HTMLElement}
          itemSize={ROW_PX}
          bufferSize={200}
        >
          {file => (
            <FileRow
              file={file}
              isViewed={props.review.isViewed(file)}
              staged={stagedWord(props.keep.of(file))}
              isCounted={props.store.isCounted()}
              isShown={props.store.shown()?.path === file.path}
              onChoose={() => props.store.choose(file.path)}
            />
          )}
        </Virtualizer>
      </div>
    </nav>
  )
}

const stagedWord = (file: StatusFile | undefined): string | undefined =>
  file?.conflicted ? 'in conflict' : file?.staged ? (file.unstaged ? 'partly staged' : 'staged') : undefined

function FileRow(props: {
  file: ChangedFile
  isShown: boolean
  isViewed: boolean
  isCounted: boolean
  staged: string | undefined
  onChoose(): void
}) {
  const [letter, word] = STATUSES[props.file.status]
  return (
    <button
      type="button"
      class="changed-file"
      classList={{ viewed: props.isViewed }}
      aria-current={props.isShown ? 'true' : undefined}
      onClick={() => props.onChoose()}
    >
      <span class={`changed-status ${props.file.status}`} title={word}>
        {letter}
        <span class="visually-hidden">{word}</span>
      </span>
      <PathName path={visible(props.file.path)} />
      <Show when={props.isViewed}>
        <Icon name="check" size={12} />
        <span class="visually-hidden">viewed</span>
      </Show>
      <Show when={props.staged}>{word => <span class="staged-word">{word()}</span>}</Show>
      <Show when={!props.file.binary} fallback={<span class="quiet small-text">binary</span>}>
        <Show when={props.isCounted}>
          <Counts added={props.file.added} removed={props.file.removed} />
        </Show>
      </Show>
    </button>
  )
}
