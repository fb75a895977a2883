// Highlighted code, line by line: a colour that goes over a line's end is opened again in the next one.

const TAG = /<span class="[^"]*">|<\/span>|\n/g

/** The lines of what the highlighter made, each whole by itself. */
export function htmlLines(html: string): string[] {
  const lines: string[] = []
  const open: string[] = []
  let line = ''
  let at = 0
  for (const match of html.matchAll(TAG)) {
    line += html.slice(at, match.index)
    at = match.index + match[0].length
    if (match[0] === '\n') {
      lines.push(line + '</span>'.repeat(open.length))
      line = open.join('')
    } else {
      line += match[0]
      if (match[0] === '</span>') open.pop()
      else open.push(match[0])
    }
  }
  lines.push(line + html.slice(at))
  return lines
}

/** The word around a place of a line, and its column in characters, from 1; `undefined` between words. */
export function wordAt(line: string, offset: number): { word: string; column: number } | undefined {
  for (const match of line.matchAll(/[\p{L}\p{N}_$]+/gu)) {
    if (match.index > offset) return undefined
    if (offset <= match.index + match[0].length) {
      return { word: match[0], column: [...line.slice(0, match.index)].length + 1 }
    }
  }
  return undefined
}
