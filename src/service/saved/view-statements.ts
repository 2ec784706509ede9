import { QueryError } from '../../errors/errors.ts'
import type { Query } from '../../language/ast/nodes.ts'
import { walk } from '../../language/ast/walk.ts'
import { parseQuery } from '../../language/parser/parse.ts'
import { BoundedCache } from '../../lib/memory/bounded-cache.ts'

// What the statement of a view is about, from its text.

/** The statement, or the error in it. */
export function viewStatement(text: string): Query {
  try {
    const query = parseQuery(text)
    walk(query, (node) => {
      if (node.kind !== 'placeholder') return
      const message = `A view cannot have placeholders, but this one has {${node.chain.join('.')}}. Put {filters} and variables into the statement that reads the view`
      throw new QueryError('invalid-query', { message }, node.span)
    })
    return query
  } catch (error) {
    throw error instanceof QueryError ? error.with({ source: text, attr: 'query__query' }) : error
  }
}

const known = new BoundedCache<string, ReadonlySet<string>>(2000)

/** The names of the tables and views that a statement reads; names of its WITH are among them when a table could be meant too. */
export function tablesRead(text: string): ReadonlySet<string> {
  const before = known.get(text)
  if (before) return before
  const found = namesIn(parseQuery(text))
  known.set(text, found)
  known.trim()
  return found
}

function namesIn(query: Query): ReadonlySet<string> {
  const found = new Set<string>()
  walk(query, (node) => {
    if (node.kind === 'table' && node.args === null && node.chain.length === 1) found.add(node.chain[0]!)
  })
  return found
}

/** For each view, the views that it reads. */
export type Reads = ReadonlyMap<string, ReadonlySet<string>>

export const readsOf = (views: Readonly<Record<string, string>>): Reads => {
  const names = Object.keys(views)
  return new Map(
    names.map((name) => {
      const read = tablesRead(views[name]!)
      return [name, new Set(names.filter((other) => read.has(other)))]
    }),
  )
}

/** A view that is read by itself through others, as `a → b → a`; null: there is none. */
export function cycleIn(reads: Reads): string | null {
  const done = new Set<string>()
  const visit = (name: string, road: readonly string[]): string | null => {
    if (road.includes(name)) return [...road.slice(road.indexOf(name)), name].join(' → ')
    if (done.has(name)) return null
    for (const next of reads.get(name) ?? []) {
      const found = visit(next, [...road, name])
      if (found) return found
    }
    done.add(name)
    return null
  }
  for (const name of reads.keys()) {
    const found = visit(name, [])
    if (found) return found
  }
  return null
}

/** The views that read one of these, directly or through others, each after those that it reads. */
export function readersOf(names: readonly string[], reads: Reads): string[] {
  const affected = new Set(names)
  for (let before = -1; before !== affected.size; ) {
    before = affected.size
    for (const [name, read] of reads) if ([...read].some((one) => affected.has(one))) affected.add(name)
  }
  const ordered: string[] = []
  const add = (name: string) => {
    if (!affected.has(name) || ordered.includes(name)) return
    for (const one of reads.get(name) ?? []) if (one !== name) add(one)
    ordered.push(name)
  }
  for (const name of affected) add(name)
  return ordered
}
