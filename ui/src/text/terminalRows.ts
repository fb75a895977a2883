// A row of a terminal as runs of text with classes, which the page's policy allows where inline styles are not.

import type { IBufferCell, IBufferLine } from '@xterm/headless'
import { nearest, paletteColour, type Run } from './ansi'

/** The runs of a row; the cell of the cursor, if it is in this row, is a run of its own. */
export function runsOf(line: IBufferLine | undefined, columns: number, cursor?: number): Run[] {
  const runs: Run[] = []
  if (!line) return runs
  const push = (text: string, classes: string, joins: boolean) => {
    const last = runs[runs.length - 1]
    if (joins && last && last.classes === classes) last.text += text
    else runs.push({ text, classes })
  }
  const end = Math.max(lastCell(line, columns), cursor ?? -1)
  let cell: IBufferCell | undefined
  for (let x = 0; x <= end; x++) {
    cell = line.getCell(x, cell)
    // The second half of a wide character.
    if (!cell || cell.getWidth() === 0) continue
    const text = cell.getChars() || ' '
    const classes = classesOf(cell)
    if (x === cursor) push(text, `${classes} cursor`.trim(), false)
    // A font may draw a wide character less wide than two others.
    else if (cell.getWidth() === 2) push(text, `${classes} wide`.trim(), false)
    else push(text, classes, true)
  }
  return runs
}

/** The last cell that shows something. */
function lastCell(line: IBufferLine, columns: number): number {
  let cell: IBufferCell | undefined
  for (let x = Math.min(line.length, columns) - 1; x >= 0; x--) {
    cell = line.getCell(x, cell)
    if (cell && (cell.getChars() !== '' || !cell.isBgDefault() || cell.isInverse())) return x
  }
  return -1
}

function classesOf(cell: IBufferCell): string {
  let fg = cell.isFgDefault() ? undefined : sixteen(cell.isFgRGB(), cell.getFgColor())
  let bg = cell.isBgDefault() ? undefined : sixteen(cell.isBgRGB(), cell.getBgColor())
  if (cell.isInverse()) [fg, bg] = [bg ?? 0, fg ?? 7]
  const classes: string[] = []
  if (fg !== undefined) classes.push(`fg${fg}`)
  if (bg !== undefined) classes.push(`bg${bg}`)
  if (cell.isBold()) classes.push('bold')
  if (cell.isDim()) classes.push('dim')
  if (cell.isItalic()) classes.push('italic')
  if (cell.isUnderline()) classes.push('underline')
  if (cell.isInvisible()) classes.push('unseen')
  return classes.join(' ')
}

function sixteen(rgb: boolean, colour: number): number {
  return rgb ? nearest(colour >> 16, (colour >> 8) & 0xff, colour & 0xff) : paletteColour(colour)
}
