// Which files come first when a name is looked for: source, then tests, then what is no text. Pure.

const TEST = /(^|\/)(tests?|__tests__|spec)\/|[._-](test|spec)\.\w+$|(^|\/)test_[^/]*$/i
const NO_TEXT = /\.(png|jpe?g|gif|webp|ico|svg|bmp|pdf|zip|gz|woff2?|ttf|mp[34]|wasm|lock)$/i

function rank(path: string, query: string): number {
  // Who writes "test" or ".png" wants just that.
  if (NO_TEXT.test(path)) return NO_TEXT.test(query) ? 0 : 2
  return TEST.test(path) && !/test|spec/i.test(query) ? 1 : 0
}

/** Puts them in order; those of one rank stay in the server's. `pathOf` tells the file of an entry. */
export function ranked<T>(entries: T[], query: string, pathOf: (entry: T) => string): T[] {
  return entries
    .map((entry, index) => ({ entry, index, rank: rank(pathOf(entry), query) }))
    .sort((a, b) => a.rank - b.rank || a.index - b.index)
    .map(({ entry }) => entry)
}
