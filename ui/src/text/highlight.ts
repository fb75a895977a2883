// Code colours, loaded when the first visible block asks for them, one language at a time.

import type { HLJSApi, LanguageFn } from 'highlight.js'

/** Longer code is shown without colours: highlighting it would hold up the page. */
const MAX_CHARS = 40_000

const LANGUAGES: Record<string, () => Promise<{ default: LanguageFn }>> = {
  bash: () => import('highlight.js/lib/languages/bash'),
  c: () => import('highlight.js/lib/languages/c'),
  cpp: () => import('highlight.js/lib/languages/cpp'),
  csharp: () => import('highlight.js/lib/languages/csharp'),
  css: () => import('highlight.js/lib/languages/css'),
  diff: () => import('highlight.js/lib/languages/diff'),
  go: () => import('highlight.js/lib/languages/go'),
  ini: () => import('highlight.js/lib/languages/ini'),
  java: () => import('highlight.js/lib/languages/java'),
  javascript: () => import('highlight.js/lib/languages/javascript'),
  json: () => import('highlight.js/lib/languages/json'),
  kotlin: () => import('highlight.js/lib/languages/kotlin'),
  markdown: () => import('highlight.js/lib/languages/markdown'),
  php: () => import('highlight.js/lib/languages/php'),
  python: () => import('highlight.js/lib/languages/python'),
  ruby: () => import('highlight.js/lib/languages/ruby'),
  rust: () => import('highlight.js/lib/languages/rust'),
  sql: () => import('highlight.js/lib/languages/sql'),
  swift: () => import('highlight.js/lib/languages/swift'),
  typescript: () => import('highlight.js/lib/languages/typescript'),
  xml: () => import('highlight.js/lib/languages/xml'),
  yaml: () => import('highlight.js/lib/languages/yaml'),
}

const ALIASES: Record<string, string> = {
  sh: 'bash',
  shell: 'bash',
  zsh: 'bash',
  console: 'bash',
  'c++': 'cpp',
  h: 'c',
  cs: 'csharp',
  patch: 'diff',
  golang: 'go',
  toml: 'ini',
  js: 'javascript',
  jsx: 'javascript',
  mjs: 'javascript',
  jsonc: 'json',
  kt: 'kotlin',
  md: 'markdown',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  ts: 'typescript',
  tsx: 'typescript',
  html: 'xml',
  svg: 'xml',
  vue: 'xml',
  yml: 'yaml',
}

let core: Promise<HLJSApi> | undefined
const loading = new Map<string, Promise<void>>()

export function languageOf(name: string): string | undefined {
  const lower = name.toLowerCase()
  const language = ALIASES[lower] ?? lower
  return language in LANGUAGES ? language : undefined
}

/** The code as highlighted HTML (all text escaped by the highlighter), or undefined when it stays plain. */
export async function highlight(
  text: string,
  languageName: string,
  most = MAX_CHARS,
): Promise<string | undefined> {
  const language = languageOf(languageName)
  if (language === undefined || text.length > most) return undefined
  core ??= import('highlight.js/lib/core').then(module => module.default)
  const hljs = await core
  let ready = loading.get(language)
  if (!ready) {
    ready = (LANGUAGES[language]?.() ?? Promise.reject(new Error('unknown language'))).then(module =>
      hljs.registerLanguage(language, module.default),
    )
    loading.set(language, ready)
  }
  await ready
  return hljs.highlight(text, { language, ignoreIllegals: true }).value
}
