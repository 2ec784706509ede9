import type { Table } from 'apache-arrow'
import { alias, field } from '../../ast/build.ts'
import type { Expr, Query } from '../../ast/nodes.ts'

/** One value of the breakdown (none: one empty list) and its numbers: per bucket, or one. */
export interface Group {
  readonly parts: readonly string[]
  readonly data: readonly number[]
}

/** A statement and how its answer becomes groups. */
export interface UnitPlan {
  readonly query: Query
  readonly read: (table: Table) => Group[]
}

export const partColumn = (i: number): string => `breakdown_${i}`
export const partColumns = (parts: readonly Expr[]): Expr[] => parts.map((part, i) => alias(part, partColumn(i)))
export const partFields = (count: number): Expr[] => Array.from({ length: count }, (_, i) => field(partColumn(i)))

export const groupKey = (parts: readonly string[]): string => (parts.length === 1 ? parts[0]! : JSON.stringify(parts))

/** What no engine can compute is 0 in a chart. */
export const toNumber = (value: unknown): number => {
  const number = value === null || value === undefined ? 0 : Number(value)
  return Number.isFinite(number) ? number : 0
}

/** Rows of (bucket, breakdown…, value). Without a bucket column every group has one number. */
export function readGroups(table: Table, partCount: number, size: number): Group[] {
  const buckets = table.getChild('bucket')
  const values = table.getChild('value')
  const columns = Array.from({ length: partCount }, (_, i) => table.getChild(partColumn(i)))
  const groups = new Map<string, { parts: string[]; data: number[] }>()
  for (let row = 0; row < table.numRows; row++) {
    const parts = columns.map((column) => String(column?.get(row)))
    const key = groupKey(parts)
    let group = groups.get(key)
    if (!group) {
      group = { parts, data: new Array<number>(size).fill(0) }
      groups.set(key, group)
    }
    const bucket = buckets ? Number(buckets.get(row)) : 0
    if (bucket >= 0 && bucket < size) group.data[bucket] = toNumber(values?.get(row))
  }
  return [...groups.values()]
}
