// What a resource has, without waiting: reading one that is under way would take the whole panel away until it is there.

import type { Resource } from 'solid-js'

export function settled<T>(resource: Resource<T>): T | undefined {
  return resource.state === 'ready' || resource.state === 'refreshing' ? resource.latest : undefined
}
