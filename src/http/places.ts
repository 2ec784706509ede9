import { resources } from './registry.ts'
import type { Resource, Row } from './resource.ts'

/** All rows of one path. */
export interface Place {
  readonly path: string
  readonly resource: Resource
  readonly rows: ReadonlyMap<string, Row>
}

const join = (a: string, b: string) => `${a}/${b}`.replace(/\/+/g, '/').replace(/\/$/, '')
const form = (path: string) => path.replace(/:\w+/g, '~')

/** Paths with a word in a place come before paths with a parameter there. */
export const placesOf = (all: readonly Resource[]): Place[] => {
  const places = new Map<string, { path: string; resource: Resource; rows: Map<string, Row> }>()
  for (const resource of all)
    for (const row of resource.rows) {
      const path = join(resource.path, row.path)
      const place = places.get(path) ?? { path, resource, rows: new Map<string, Row>() }
      if (place.rows.has(row.method)) throw new TypeError(`${row.method} ${path} is declared twice`)
      place.rows.set(row.method, row)
      places.set(path, place)
    }
  return [...places.values()].sort((a, b) => (form(a.path) < form(b.path) ? -1 : 1))
}

export const places: readonly Place[] = placesOf(resources)
