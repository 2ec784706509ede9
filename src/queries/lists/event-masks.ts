import type { Expr, Literal } from '../../language/ast/nodes.ts'
import type { QueryContext } from '../kind.ts'

// Conditions on the names of events, as bits per name.

/** The names of events that meet a condition. */
export type EventNames = 'all' | ReadonlySet<string>

/** What the names of events say. */
export interface EventMasks {
  /** By number of the name, the bits of the conditions that it meets; names behind the end meet those of `others`. */
  readonly byEvent: Int32Array
  readonly others: number
  /** Names that were asked for. */
  readonly names: readonly string[]
}

export function eventMasks(parts: readonly { readonly names: EventNames; readonly bits: number }[], env: QueryContext): EventMasks {
  const byId = new Map<number, number>()
  const asked = new Set<string>()
  let others = 0
  for (const { names, bits } of parts) {
    if (names === 'all') others |= bits
    else
      for (const name of names) {
        asked.add(name)
        const id = env.eventId(name)
        if (id !== undefined) byId.set(id, (byId.get(id) ?? 0) | bits)
      }
  }
  const byEvent = new Int32Array(Math.max(-1, ...byId.keys()) + 1).fill(others)
  for (const [id, bits] of byId) byEvent[id] = bits | others
  return { byEvent, others, names: [...asked] }
}

/** Null when the condition is on more than names. */
function namesOf(condition: Expr): EventNames | null {
  if (condition.kind === 'literal') return condition.value === true ? 'all' : condition.value === false ? new Set() : null
  if (condition.kind === 'in') {
    const { expr, set, not, cohort } = condition
    const isPlain = isEvent(expr) && !not && !cohort && 'items' in set && set.kind === 'tuple'
    return isPlain && set.items.every(isText) ? new Set(set.items.map((item) => (item as Literal).value as string)) : null
  }
  if (condition.kind !== 'call') return null
  const { name, args } = condition
  if (name === 'equals') return isEvent(args[0]!) && isText(args[1]!) ? new Set([(args[1] as Literal).value as string]) : null
  if (name !== 'and' && name !== 'or') return null
  const all = args.map(namesOf)
  if (all.includes(null)) return null
  return (all as EventNames[]).reduce(name === 'and' ? both : either)
}

/** Names outside of which no event meets a condition, and whether all events with these names do. */
export function namesWithin(condition: Expr): { readonly among: EventNames; readonly isAll: boolean } {
  const names = namesOf(condition)
  if (names !== null) return { among: names, isAll: true }
  if (condition.kind !== 'call' || (condition.name !== 'and' && condition.name !== 'or')) return { among: 'all', isAll: false }
  const parts = condition.args.map((part) => namesWithin(part).among)
  return { among: parts.reduce(condition.name === 'and' ? both : either), isAll: false }
}

const isEvent = (expr: Expr) => expr.kind === 'field' && expr.chain.length === 1 && expr.chain[0] === 'event'
const isText = (expr: Expr) => expr.kind === 'literal' && typeof expr.value === 'string'
export const both = (a: EventNames, b: EventNames): EventNames =>
  a === 'all' ? b : b === 'all' ? a : new Set([...a].filter((name) => b.has(name)))
const either = (a: EventNames, b: EventNames): EventNames => (a === 'all' || b === 'all' ? 'all' : new Set([...a, ...b]))
