// Small signs: which agent, which state.

import type { SessionState } from '../protocol'
import { stateName } from '../store/attention'

const MARKS: Record<string, { letter: string; name: string }> = {
  'claude-code': { letter: 'C', name: 'Claude' },
  codex: { letter: 'X', name: 'Codex' },
}

export function agentName(cliType: string | undefined): string {
  if (cliType === undefined) return 'agent'
  return MARKS[cliType]?.name ?? cliType
}

export function AgentMark(props: { cliType: string | undefined }) {
  const letter = () => MARKS[props.cliType ?? '']?.letter ?? (props.cliType?.[0] ?? '?').toUpperCase()
  return (
    <span class={`agent-mark ${props.cliType ?? ''}`} role="img" aria-label={agentName(props.cliType)}>
      {letter()}
    </span>
  )
}

/** The branch of a session that works in a worktree of its own. */
export function BranchName(props: { branch: string }) {
  return (
    <span class="branch-name ellipsis" title={`in a worktree of its own, on the branch ${props.branch}`}>
      {props.branch}
    </span>
  )
}

export function StateDot(props: { state: SessionState }) {
  return (
    <span
      class={`dot ${props.state}`}
      role="img"
      aria-label={stateName(props.state)}
      title={stateName(props.state)}
    />
  )
}

/** Something was said here that nobody has seen. */
export function UnreadDot() {
  return (
    <span class="dot unread" role="img" aria-label="finished, not seen yet" title="Finished, not seen yet" />
  )
}
