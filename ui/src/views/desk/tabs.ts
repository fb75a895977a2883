// The tabs of the desk, the panel beside the conversation.
//
// To add one: a line below. `load` imports a file whose default export is a component with `DeskTabProps`; it and the
// styles that it imports are a chunk of their own, read when the tab is first shown. `key` is the letter that opens and
// closes it with Ctrl and Shift; the palette lists the tab by itself. From anywhere: `useDesk().show('changes', { … })`,
// which the component reads as `useDesk().place()`. Escape closes the desk unless the tab has used the key itself
// (`preventDefault`), and letters that are typed in a tab stay there.

import type { Component } from 'solid-js'
import type { Project } from '../../protocol'
import type { Session } from '../../store/session'

export interface DeskTabProps {
  /** The session whose conversation is shown beside it: a tab is made anew for another session. */
  session: Session
  project: Project
}

export interface DeskTab {
  id: string
  label: string
  /** The letter with Ctrl and Shift, upper case. */
  key?: string
  load(): Promise<{ default: Component<DeskTabProps> }>
}

export const DESK_TABS: DeskTab[] = [
  { id: 'changes', label: 'Changes', key: 'D', load: () => import('../changes/Changes') },
  { id: 'file', label: 'File', key: 'E', load: () => import('../files/FileView') },
  { id: 'terminal', label: 'Terminal', key: 'X', load: () => import('../terminal/Terminals') },
]
