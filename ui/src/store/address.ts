// The address of what is shown: a session, a turn in it, a file, a search. Kept behind the `#`, so that the server needs no
// route for it and no request carries it. Pure.

export type Place =
  | { kind: 'home' }
  | { kind: 'session'; sessionId: string; turnId?: string }
  /** Without a project it is the one of the session that is shown. */
  | { kind: 'file'; projectId?: string; path: string; line: number }
  | { kind: 'search'; query: string }

/** Stands where a project's id would. */
const THIS_PROJECT = '-'

export function placeOf(hash: string): Place | undefined {
  const [kind, ...rest] = hash.replace(/^#\/?/, '').split('/')
  const parts = rest.map(decode)
  if (kind === '' && rest.length === 0) return { kind: 'home' }
  if (kind === 'session' && parts[0]) {
    return { kind, sessionId: parts[0], ...(parts[1] === 'turn' && parts[2] ? { turnId: parts[2] } : {}) }
  }
  if (kind === 'file') {
    const [, path, line] = /^(.+?)(?::(\d+))?$/s.exec(parts.slice(1).join('/')) ?? []
    if (path === undefined) return undefined
    const project = parts[0] === THIS_PROJECT ? {} : { projectId: parts[0] ?? '' }
    return { kind, ...project, path, line: Number(line ?? 1) }
  }
  if (kind === 'search') return { kind, query: parts[0] ?? '' }
  return undefined
}

export function addressOf(place: Place): string {
  switch (place.kind) {
    case 'home':
      return '#/'
    case 'session': {
      const session = `#/session/${encodeURIComponent(place.sessionId)}`
      return place.turnId === undefined ? session : `${session}/turn/${encodeURIComponent(place.turnId)}`
    }
    case 'file': {
      const path = place.path.split('/').map(encodeURIComponent).join('/')
      return `#/file/${encodeURIComponent(place.projectId ?? THIS_PROJECT)}/${path}:${place.line}`
    }
    case 'search':
      return `#/search/${encodeURIComponent(place.query)}`
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
