import type { Query } from '../language/ast/nodes.ts'
import { BoundedCache } from '../lib/memory/bounded-cache.ts'
import { own } from '../lib/own.ts'
import { queryOf } from './origin.ts'

// Views of a project: saved statements that can be read as tables.

export type Views = Readonly<Record<string, string>>

/** Trees do not depend on the project, so projects with the same view share one. */
const trees = new BoundedCache<string, Query>(200)

/** The tree of a view's statement. An error in it names the view. */
export function viewTree(views: Views, name: string): Query | undefined {
  const text = own(views, name)
  if (text === undefined) return undefined
  const key = `${name}\n${text}`
  const known = trees.get(key)
  if (known) return known
  const tree = queryOf(text, `views__${name}`, {})
  trees.set(key, tree)
  trees.trim()
  return tree
}

/** The statements of the views that a text may name, and of those that they may name. */
export function viewsNamedIn(text: string, views: Views): string[] {
  const found = new Map<string, string>()
  const texts = [text]
  for (let at = texts.pop(); at !== undefined; at = texts.pop())
    for (const [name, statement] of Object.entries(views))
      if (!found.has(name) && at.includes(name)) {
        found.set(name, statement)
        texts.push(statement)
      }
  return [...found.values()]
}
