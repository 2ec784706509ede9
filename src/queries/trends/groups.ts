import type { Table } from 'apache-arrow'
import { alias, field } from '../../language/ast/build.ts'
import type { Expr, Query } from '../../language/ast/nodes.ts'
import { allowFound } from '../answers/cells.ts'
import { columnValues } from '../answers/rows.ts'
import { codesOf, integers, TextCodes } from '../answers/vectors.ts'

/** One value of the breakdown (an empty list without one) and its numbers: per bucket, or one. */
export interface Group {
  readonly parts: readonly string[]
  readonly data: readonly number[]
}

/** A statement, and how its rows become groups. */
export interface UnitPlan {
  readonly query: Query
  readonly read: (table: Table) => Group[]
}

export const partColumn = (i: number): string => `breakdown_${i}`
export const partColumns = (parts: readonly Expr[]): Expr[] => parts.map((part, i) => alias(part, partColumn(i)))
export const partFields = (count: number): Expr[] => Array.from({ length: count }, (_, i) => field(partColumn(i)))

/** Missing and infinite values are 0 in a chart. */
export const toNumber = (value: unknown): number => {
  const number = value === null || value === undefined ? 0 : Number(value)
  return Number.isFinite(number) ? number : 0
}

/** The group numbers of the rows; null without a breakdown: all rows are one group. */
export function groupCodes(
  answer: Table,
  partCount: number,
): { readonly codes: Int32Array | null; readonly groups: readonly (readonly string[])[] } {
  if (partCount === 0) return { codes: null, groups: [[]] }
  const words = Array.from({ length: partCount }, () => new TextCodes())
  const columns = words.map((codes, i) => codesOf(answer, partColumn(i), codes))
  const numbers = new Map<string, number>()
  const groups: string[][] = []
  const codes = new Int32Array(answer.numRows)
  for (let row = 0; row < codes.length; row++) {
    const key = columns.map((column) => column[row]).join()
    let group = numbers.get(key)
    if (group === undefined) {
      group = groups.length
      numbers.set(key, group)
      groups.push(words.map((word, i) => word.values[columns[i]![row]!]!))
    }
    codes[row] = group
  }
  return { codes, groups }
}

/** Rows of (bucket, breakdown…, value). Without a bucket column every group has one number. */
export function readGroups(answer: Table, partCount: number, size: number): Group[] {
  if (answer.numRows === 0) return []
  const buckets = answer.getChild('bucket') && integers(answer, 'bucket')
  const values = columnValues(answer.getChild('value')!, 'UTC')
  const { codes, groups } = groupCodes(answer, partCount)
  allowFound(groups.length, size)
  const data = groups.map(() => new Array<number>(size).fill(0))
  values.forEach((value, row) => {
    const bucket = buckets ? buckets[row]! : 0
    if (bucket >= 0 && bucket < size) data[codes ? codes[row]! : 0]![bucket] = toNumber(value)
  })
  return groups.map((parts, i) => ({ parts, data: data[i]! }))
}
