// Terminal output as runs of text with classes: colours and weights shown, every other escape taken out.
//
// Runs become text nodes; no HTML and no inline style is made, which the page's policy forbids. Colours of the
// 256 and true-colour palettes map to the nearest of the sixteen that the theme defines, so contrast holds.

export interface Run {
  text: string
  classes: string
}

interface Style {
  fg: number | undefined
  bg: number | undefined
  bold: boolean
  dim: boolean
  italic: boolean
  underline: boolean
  inverse: boolean
}

const PLAIN: Style = {
  fg: undefined,
  bg: undefined,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  inverse: false,
}

// CSI; OSC and the other string sequences up to BEL or ST; two-character escapes.
const ESCAPE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are made of them
  /\u001b\[([0-9;:?<=>]*)[ -/]*([@-~])|\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\|$)|\u001b[ -/]*[0-~]|\u001b/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal would act on, not show
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/g

export function ansiRuns(text: string): Run[] {
  const runs: Run[] = []
  let style = PLAIN
  let at = 0
  const source = overwrite(text)
  const push = (piece: string) => {
    const shown = piece.replace(CONTROL, '')
    if (shown === '') return
    const classes = classesOf(style)
    const last = runs[runs.length - 1]
    if (last && last.classes === classes) last.text += shown
    else runs.push({ text: shown, classes })
  }
  for (const match of source.matchAll(ESCAPE)) {
    push(source.slice(at, match.index))
    at = match.index + match[0].length
    if (match[2] === 'm') style = select(style, match[1] ?? '')
  }
  push(source.slice(at))
  return runs
}

/** The text without any escape. */
export function plain(text: string): string {
  return overwrite(text).replace(ESCAPE, '').replace(CONTROL, '')
}

/** A carriage return writes over its line, as progress bars do: only what stands last is kept. */
function overwrite(text: string): string {
  if (!text.includes('\r')) return text
  return text
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map(line => {
      const trimmed = line.endsWith('\r') ? line.slice(0, -1) : line
      return trimmed.slice(trimmed.lastIndexOf('\r') + 1)
    })
    .join('\n')
}

function select(style: Style, parameters: string): Style {
  const codes = parameters.split(/[;:]/).map(code => (code === '' ? 0 : Number(code)))
  let next = { ...style }
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] ?? 0
    if (code === 0) next = { ...PLAIN }
    else if (code === 1) next.bold = true
    else if (code === 2) next.dim = true
    else if (code === 3) next.italic = true
    else if (code === 4) next.underline = true
    else if (code === 7) next.inverse = true
    else if (code === 22) next.bold = next.dim = false
    else if (code === 23) next.italic = false
    else if (code === 24) next.underline = false
    else if (code === 27) next.inverse = false
    else if (code === 39) next.fg = undefined
    else if (code === 49) next.bg = undefined
    else if (code >= 30 && code <= 37) next.fg = code - 30
    else if (code >= 40 && code <= 47) next.bg = code - 40
    else if (code >= 90 && code <= 97) next.fg = code - 90 + 8
    else if (code >= 100 && code <= 107) next.bg = code - 100 + 8
    else if (code === 38 || code === 48) {
      const [colour, used] = extended(codes.slice(i + 1))
      if (code === 38) next.fg = colour
      else next.bg = colour
      i += used
    }
  }
  return next
}

/** `5;n` or `2;r;g;b`, as one of the sixteen, and how many codes that took. */
function extended(codes: number[]): [number | undefined, number] {
  if (codes[0] === 5) return [paletteColour(codes[1] ?? 0), 2]
  if (codes[0] === 2) return [nearest(codes[1] ?? 0, codes[2] ?? 0, codes[3] ?? 0), 4]
  return [undefined, 1]
}

/** One of 256 colours as one of the sixteen. */
export function paletteColour(index: number): number {
  if (index < 16) return index
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10
    return nearest(grey, grey, grey)
  }
  const level = (n: number) => (n === 0 ? 0 : 55 + n * 40)
  const cube = index - 16
  return nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6))
}

/** A colour as one of the sixteen. */
export function nearest(r: number, g: number, b: number): number {
  const most = Math.max(r, g, b)
  if (most - Math.min(r, g, b) < 32) return most < 64 ? 0 : most < 160 ? 8 : most < 224 ? 7 : 15
  const half = most / 2
  return (r > half ? 1 : 0) + (g > half ? 2 : 0) + (b > half ? 4 : 0) + (most > 200 ? 8 : 0)
}

function classesOf(style: Style): string {
  const { fg, bg } = style.inverse ? { fg: style.bg ?? 0, bg: style.fg ?? 7 } : style
  const classes: string[] = []
  if (fg !== undefined) classes.push(`fg${fg}`)
  if (bg !== undefined) classes.push(`bg${bg}`)
  for (const name of ['bold', 'dim', 'italic', 'underline'] as const) if (style[name]) classes.push(name)
  return classes.join(' ')
}
