import type { NumberKind } from '../types/property-info.ts'

// The counts of a property's values by kind, and what follows from them.

/** The kinds of values. The order is the order of the counters in the store. */
export const valueTypes = ['Numeric', 'String', 'Boolean', 'DateTime', 'Other', 'NumericString'] as const
export type ValueType = (typeof valueTypes)[number]
export type ValueCounts = Readonly<Record<ValueType, number>>

export const countAll = (counts: ValueCounts): number => valueTypes.reduce((sum, type) => sum + counts[type], 0)

/** Maximum number of counted keys per scope. */
export const keyLimit = 20_000
/** The longest key that is counted, in characters. */
export const longestKey = 400

/** How JSON numbers can be distinguished among the values. */
export function numbersOf(counts: ValueCounts): NumberKind {
  if (counts.Numeric === 0) return 'none'
  if (counts.NumericString > 0) return 'marked'
  return counts.Numeric === countAll(counts) ? 'all' : 'by-text'
}

/** How many values read as NULL as a number or a time; for Booleans, how many are numbers: texts may be true or false. */
export function countUnread(counts: ValueCounts, as: 'Numeric' | 'DateTime' | 'Boolean'): number {
  const numbers = counts.Numeric + counts.NumericString
  if (as === 'Boolean') return numbers
  return countAll(counts) - (as === 'Numeric' ? numbers : counts.DateTime)
}

/** The scopes that have reached their limit of keys. */
export function fullScopes(scopes: readonly string[]): ReadonlySet<string> {
  const counts = new Map<string, number>()
  for (const scope of scopes) counts.set(scope, (counts.get(scope) ?? 0) + 1)
  return new Set([...counts].flatMap(([scope, count]) => (count >= keyLimit ? [scope] : [])))
}
