// Markdown in blocks. A finished block never changes; only the last one is read again while a reply streams.
//
// Raw HTML in a reply is shown as text, links other than http(s) and mailto are shown as text, images are shown
// as links: nothing a model writes can run, load or lead anywhere by itself. DOMPurify checks the result again. Places of
// files, which we link ourselves, lead to a view of this page.

import DOMPurify from 'dompurify'
import { Marked, type Token, type Tokens } from 'marked'
import remend from 'remend'
import { addressOfPlace, FIRST_PLACE, nextPlace, partsOf } from './places'

export type Block =
  | { kind: 'code'; raw: string; language: string; text: string }
  | { kind: 'html'; raw: string }

const marked = new Marked({
  extensions: [
    {
      name: 'place',
      level: 'inline',
      start: nextPlace,
      tokenizer(source) {
        const match = FIRST_PLACE.exec(source)
        const href = match && addressOfPlace(match[1] ?? '', match[2] ?? '1')
        return match && href ? { type: 'place', raw: match[0], href } : undefined
      },
      renderer: ({ raw, href }) => placeLink(href, escapeHtml(raw)),
    },
  ],
  gfm: true,
  breaks: false,
  renderer: {
    html: ({ text }) => escapeHtml(text),
    link({ href, title, tokens }: Tokens.Link) {
      const inner = this.parser.parseInline(tokens)
      if (isSafeLink(href)) return anchor(href, inner, title)
      return isPlainPath(href) ? inner : `${inner} (${escapeHtml(href)})`
    },
    image({ href, text }: Tokens.Image) {
      const label = escapeHtml(text || href)
      return isSafeLink(href) ? anchor(href, label) : label
    },
    codespan({ text }) {
      const code = `<code>${escapeHtml(text)}</code>`
      const [place, ...more] = partsOf(text)
      return place?.href && more.length === 0 ? placeLink(place.href, code) : code
    },
    // A checkbox of a task list, as a sign: an input would be in the way of the keyboard.
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
    listitem(item) {
      const inner = this.parser.parse(item.tokens)
      return item.task ? `<li class="task">${inner}</li>\n` : `<li>${inner}</li>\n`
    },
  },
})

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}

/** A link out of the page: in a tab of its own that learns nothing about this one. */
function anchor(href: string, inner: string, title?: string | null): string {
  const named = title ? ` title="${escapeHtml(title)}"` : ''
  return `<a href="${escapeHtml(href)}"${named} target="_blank" rel="noopener noreferrer">${inner}</a>`
}

function placeLink(href: string, inner: string): string {
  return `<a href="${escapeHtml(href)}" class="place">${inner}</a>`
}

function isSafeLink(href: string): boolean {
  return /^(https?:\/\/|mailto:)/i.test(href)
}

function isPlainPath(href: string): boolean {
  return /^[\w./#@-]*$/.test(href)
}

const TAGS =
  'a b blockquote br code del em h1 h2 h3 h4 h5 h6 hr i li ol p pre s strong sub sup table tbody td th thead tr ul'

// Configured once: reading the lists again for every block would be a quarter of a long reply's work.
const purify = DOMPurify()
purify.setConfig({
  ALLOWED_TAGS: TAGS.split(' '),
  ALLOWED_ATTR: ['href', 'target', 'rel', 'title', 'start', 'align', 'class'],
  ALLOWED_URI_REGEXP: /^(?:https?:\/\/|mailto:|#\/file\/)/i,
  // These are no addresses; without this they would have to look like one, and a link would lead away from the page.
  ADD_URI_SAFE_ATTR: ['target', 'rel', 'start', 'align'],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
})

// Of classes there is ours only.
purify.addHook('uponSanitizeAttribute', (_node, attribute) => {
  if (attribute.attrName === 'class') attribute.keepAttr = ['task', 'place'].includes(attribute.attrValue)
})

/** The block as HTML that is safe to show. `open` closes what a streaming block has not closed yet. */
export function blockHtml(block: Block & { kind: 'html' }, open: boolean): string {
  const source = open ? remend(block.raw) : block.raw
  return purify.sanitize(marked.parse(source, { async: false }))
}

/** Splits a text that grows into blocks, reading only its end again. */
export class MarkdownBlocks {
  private text = ''
  private blocks: Block[] = []
  /** Where each block begins in `text`. */
  private starts: number[] = []

  /** Takes the text so far and returns its blocks; those that did not change keep their identity. */
  update(text: string): Block[] {
    if (text === this.text) return this.blocks
    // Only the last two blocks can still change: a paragraph may become a heading, a list may go on.
    const keep = text.startsWith(this.text) ? Math.max(0, this.blocks.length - 2) : 0
    const from = keep > 0 ? (this.starts[keep] ?? 0) : 0
    const before = this.blocks
    const blocks = before.slice(0, keep)
    const starts = this.starts.slice(0, keep)
    let at = from
    for (const token of marked.lexer(text.slice(from))) {
      if (token.type !== 'space') {
        const old = before[blocks.length]
        blocks.push(old && old.raw === token.raw ? old : blockOf(token))
        starts.push(at)
      }
      at += token.raw.length
    }
    this.text = text
    this.blocks = blocks
    this.starts = starts
    return blocks
  }
}

/** How many blocks are laid out and painted as one. */
const SECTION = 24

/** The blocks in sections; a section whose blocks did not change keeps its identity. */
export function sectionsOf(blocks: Block[], before: Block[][]): Block[][] {
  const sections: Block[][] = []
  for (let from = 0; from < blocks.length; from += SECTION) {
    const section = blocks.slice(from, from + SECTION)
    const old = before[sections.length]
    const same = old?.length === section.length && section.every((block, at) => block === old[at])
    sections.push(same && old ? old : section)
  }
  return sections
}

function blockOf(token: Token): Block {
  if (token.type !== 'code') return { kind: 'html', raw: token.raw }
  const { lang, text } = token as Tokens.Code
  return { kind: 'code', raw: token.raw, language: (lang ?? '').split(/\s/)[0] ?? '', text }
}
