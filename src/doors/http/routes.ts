import { resources } from './registry.ts'
import type { Resource, Row } from './resource.ts'

/** One path, with a row per method. */
export interface Route {
  readonly path: string
  readonly resource: Resource
  readonly rows: ReadonlyMap<string, Row>
}

const join = (a: string, b: string) => `${a}/${b}`.replace(/\/+/g, '/').replace(/\/$/, '')
const form = (path: string) => path.replace(/:\w+/g, '~')

/** Paths with a fixed segment come before paths with a parameter at the same position. */
const routesOf = (all: readonly Resource[]): Route[] => {
  const byPath = new Map<string, { path: string; resource: Resource; rows: Map<string, Row> }>()
  for (const resource of all)
    for (const row of resource.rows) {
      const path = join(resource.path, row.path)
      const route = byPath.get(path) ?? { path, resource, rows: new Map<string, Row>() }
      if (route.rows.has(row.method)) throw new TypeError(`${row.method} ${path} is declared twice`)
      route.rows.set(row.method, row)
      byPath.set(path, route)
    }
  return [...byPath.values()].sort((a, b) => (form(a.path) < form(b.path) ? -1 : 1))
}

export const routes: readonly Route[] = routesOf(resources)
