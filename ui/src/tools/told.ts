// What an agent was told about errors, line by line, with the place that a line is about. Pure.

export interface Place {
  /** From the project's root. */
  path: string
  /** From 1. */
  line: number
}

export interface ToldLine {
  text: string
  place?: Place
}

const BLOCK = /^<diagnostics file="(.*)">$/
const FINDING = /^(?:ERROR|WARNING|INFO|HINT) \[(\d+):\d+\] /

export function toldLines(told: string): ToldLine[] {
  let path: string | undefined
  return told.split('\n').map(text => {
    const block = BLOCK.exec(text)
    if (block) path = unescaped(block[1] ?? '')
    else if (text === '</diagnostics>') path = undefined
    const finding = path === undefined || block ? null : FINDING.exec(text)
    return finding && path !== undefined ? { text, place: { path, line: Number(finding[1]) } } : { text }
  })
}

function unescaped(path: string): string {
  return path
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}
