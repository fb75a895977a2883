// Which of the offered options is in force.

import type { NamedOption } from '../protocol'

/**
 * The option that is in force. An agent offers a model by a short name and may tell it by its full one, e.g. `opus`
 * and `claude-opus-5-5`. Where nothing was chosen yet, what the agent calls its default is.
 */
export function chosenOption(options: NamedOption[], chosen: string | undefined): NamedOption | undefined {
  if (chosen === undefined) return options.find(option => option.id === 'default')
  const words = chosen.split(/[^a-z0-9]+/i)
  return options.find(option => option.id === chosen) ?? options.find(option => words.includes(option.id))
}
