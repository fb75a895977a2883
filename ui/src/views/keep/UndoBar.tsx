// The last thing that was done and can be undone, and what git said of it; it is there again when the page is.

import { Show } from 'solid-js'
import type { KeepStore } from '../../store/keep'
import { relativeTime } from '../../text/format'
import { Icon } from '../Icon'
import { Menu } from '../Menu'

export function UndoBar(props: { keep: KeepStore; now(): number }) {
  const { keep } = props
  const when = (at: number) => relativeTime(new Date(at).toISOString(), props.now())
  const earlier = () => keep.acts().slice(1)
  const words = (what: string) => what.slice(0, 1).toUpperCase() + what.slice(1)
  return (
    <>
      <Show when={keep.said()}>
        {said => (
          <section class="keep-said" classList={{ failed: said().failed }} aria-label="What git said">
            <div class="keep-said-head" role="status">
              <strong>{said().title}</strong>
              <Show when={said().link}>
                {link => (
                  <a href={link().url} target="_blank" rel="noreferrer">
                    {link().name}
                  </a>
                )}
              </Show>
              <span class="spacer" />
              <button
                type="button"
                class="icon-button"
                aria-label="Dismiss what git said"
                onClick={() => keep.setSaid(undefined)}
              >
                <Icon name="close" size={14} />
              </button>
            </div>
            <Show when={said().text}>
              <pre tabIndex={0}>{said().text}</pre>
            </Show>
          </section>
        )}
      </Show>
      <Show when={keep.newest()}>
        {act => (
          <div class="undo-bar">
            <span class="ellipsis">{words(act().what)}</span>
            <span class="quiet small-text">{when(act().at)}</span>
            <button
              type="button"
              class="button small"
              title="u"
              aria-label={`Undo: ${act().what}`}
              disabled={keep.busy()}
              onClick={() => void keep.undo(act())}
            >
              Undo
            </button>
            <Show when={earlier().length > 0}>
              <Menu
                label="Undo something earlier"
                class="link-button small-text"
                align="end"
                upward
                button="Earlier"
                entries={earlier().map(act => ({
                  id: act.act,
                  name: words(act.what),
                  description: when(act.at),
                }))}
                onChoose={id => void keep.undo(keep.acts().find(act => act.act === id))}
              />
            </Show>
          </div>
        )}
      </Show>
    </>
  )
}
