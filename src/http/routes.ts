import { resources } from './registry.ts'
import type { Resource, Row } from './resource.ts'

/** All rows of one path. */
export interface Route {
  readonly path: string
  readonly resource: Resource
  readonly rows: ReadonlyMap<string, Row>
}

const join = (a: string, b: string) => `${a}/${b}`.replace(/\/+/g, '/').replace(/\/$/, '')
const form = (path: string) => path.replace(/:\w+/g, '~')

/** Paths with a word in a place come before paths with a parameter there. */
export const routesOf = (all: readonly Resource[]): Route[] => {
  const routes = new Map<string, { path: string; resource: Resource; rows: Map<string, Row> }>()
  for (const resource of all)
    for (const row of resource.rows) {
      const path = join(resource.path, row.path)
      const place = routes.get(path) ?? { path, resource, rows: new Map<string, Row>() }
      if (place.rows.has(row.method)) throw new TypeError(`${row.method} ${path} is declared twice`)
      place.rows.set(row.method, row)
      routes.set(path, place)
    }
  return [...routes.values()].sort((a, b) => (form(a.path) < form(b.path) ? -1 : 1))
}

export const places: readonly Route[] = routesOf(resources)
