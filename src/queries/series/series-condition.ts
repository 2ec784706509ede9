import { and, equals, field, literal, or } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import { actionCondition, compileFilters, testAccountCondition } from '../filters/property-filters.ts'
import type { QueryContext } from '../kind.ts'
import type { SeriesNode } from './series.ts'

/** Without the conditions that are always true. */
export const allOf = (...conditions: readonly Expr[]): Expr => and(...conditions.filter((c) => !(c.kind === 'literal' && c.value === true)))

export const isMissing = (node: SeriesNode, env: QueryContext): boolean => node.kind === 'ActionsNode' && !env.action(node.id)

/** Whether an event matches the node, without its filters. A removed action matches nothing. */
export function nodeMatch(node: SeriesNode, env: QueryContext, path: string): Expr {
  switch (node.kind) {
    case 'EventsNode':
      return node.event == null ? literal(true) : equals(field('event'), literal(node.event))
    case 'ActionsNode': {
      const action = env.action(node.id)
      return action ? actionCondition(action, env) : literal(false)
    }
    case 'GroupNode': {
      const parts = node.nodes.map((part, i) => nodeCondition(part, env, `${path}__nodes__${i}`))
      return node.operator === 'OR' ? or(...parts) : and(...parts)
    }
  }
}

/** `path` is the path of the node in the request, for messages: `series__0`. */
export const nodeFilters = (node: SeriesNode, env: QueryContext, path: string): Expr =>
  allOf(
    ...(['properties', 'fixedProperties'] as const).map((name) =>
      node[name] ? compileFilters(node[name], 'event', env, `${path}__${name}`) : literal(true),
    ),
  )

export const nodeCondition = (node: SeriesNode, env: QueryContext, path: string): Expr =>
  allOf(nodeMatch(node, env, path), nodeFilters(node, env, path))

/** The filters for all series of a query: its own and the project's for test accounts. */
export const queryFilters = (
  query: { readonly properties?: unknown; readonly filterTestAccounts?: boolean | null },
  env: QueryContext,
): Expr =>
  allOf(
    query.properties ? compileFilters(query.properties, 'event', env) : literal(true),
    query.filterTestAccounts ? testAccountCondition(env) : literal(true),
  )

/** The name of a series; null for all events. */
export function nodeName(node: SeriesNode, env: QueryContext): string | null {
  switch (node.kind) {
    case 'EventsNode':
      return node.event ?? null
    case 'ActionsNode':
      return env.action(node.id)?.name ?? null
    case 'GroupNode':
      return (
        node.custom_name ??
        node.name ??
        node.nodes
          .filter((part) => !isMissing(part, env))
          .map((part) => nodeName(part, env) ?? 'All events')
          .join(node.operator === 'OR' ? ', ' : ' & ')
      )
  }
}
