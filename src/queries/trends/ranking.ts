import type { Breakdown } from '../series/breakdown.ts'
import { nullValue, otherValue } from '../series/breakdown-values.ts'
import type { Group } from './groups.ts'

/** Ordinary values first, then no value, Other last; within that by total, descending, then by the values as texts. */
const classOf = ({ parts }: Group): number => (parts.includes(otherValue) ? 2 : parts.includes(nullValue) ? 1 : 0)

const totalOf = ({ data }: Pick<Group, 'data'>): number => data.reduce((sum, value) => sum + value, 0)

function compareTexts(a: readonly string[], b: readonly string[]): number {
  const i = a.findIndex((part, k) => part !== b[k])
  return i < 0 ? 0 : a[i]! < b[i]! ? -1 : 1
}

export const rankGroups = (groups: readonly Group[]): Group[] =>
  groups
    .map((group) => ({ group, rank: classOf(group), total: totalOf(group) }))
    .sort((a, b) => a.rank - b.rank || b.total - a.total || compareTexts(a.group.parts, b.group.parts))
    .map(({ group }) => group)

/** The first values by rank, and the sum of all others. */
export function limitGroups(groups: readonly Group[], { limit }: Pick<Breakdown, 'limit'>): Group[] {
  const ranked = rankGroups(groups)
  if (ranked.length <= limit) return ranked
  const rest = ranked.slice(limit)
  const data = rest[0]!.data.map((_, i) => rest.reduce((sum, group) => sum + group.data[i]!, 0))
  return [...ranked.slice(0, limit), { parts: rest[0]!.parts.map(() => otherValue), data }]
}
