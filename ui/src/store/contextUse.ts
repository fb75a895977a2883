// What fills an agent's context window, as the inspector shows it. Pure.

import type { ContextResponse, ContextUse } from '../protocol'
import { count } from '../text/format'

/** An answer, or why there is none. */
export type ContextAnswer = ContextResponse | { status: 'failed'; message: string }

export interface Part {
  name: string
  tokens: number
  /** Of what is in use, 0 to 1. */
  share: number
}

/** The parts that hold anything, in the agent's own order. */
export function partsOf(context: ContextUse): Part[] {
  const sum = context.categories.reduce((total, category) => total + category.tokens, 0)
  // The agent estimates the parts and may know the whole better: no bar is longer than its track.
  const whole = Math.max(1, sum, context.totalTokens)
  return context.categories
    .filter(category => category.tokens > 0)
    .map(category => ({ ...category, share: category.tokens / whole }))
}

/** One line below the parts. */
export function summaryOf({ totalTokens, maxTokens, reservedTokens }: ContextUse): string {
  const use = `${count(totalTokens)} of ${count(maxTokens)} in use`
  return reservedTokens > 0 ? `${use}; ${count(reservedTokens)} are kept free to sum it up` : use
}

/** Why there is nothing to show, in words; nothing when there is. */
export function whyNot(answer: ContextAnswer): string | undefined {
  switch (answer.status) {
    case 'known':
      return partsOf(answer.context).length === 0 ? 'Nothing yet.' : undefined
    case 'not_told':
      return 'This agent does not tell.'
    case 'not_running':
      return 'Only a running agent can tell; a message starts it.'
    case 'failed':
      return `The agent did not say: ${answer.message}.`
  }
}
