import { scalar } from '../../types/types.ts'
import type { Arg, Case, CellContext } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'

// `in(x, (1, 2))`: the operators `IN` and `NOT IN` as calls. NULL is equal to NULL.

function found(value: Arg, set: Arg, context: CellContext, isEqual: (a: string, b: string) => string): string {
  if (set.items) return set.items.length ? `(${set.items.map((item) => isEqual(value.sql, item.sql)).join(' OR ')})` : 'false'
  const x = context.fresh()
  return `(len(list_filter(${set.sql}, lambda ${x}: ${isEqual(x, value.sql)})) > 0)`
}

const membership = (name: 'in' | 'notIn', summary: string, cases: readonly Case[]): ScalarSpec => ({
  args: 2,
  returns: () => scalar('Bool'),
  summary,
  duckdb: ([value, set], context) => {
    const text = found(value!, set!, context, (a, b) => `${a} IS NOT DISTINCT FROM ${b}`)
    return name === 'in' ? text : `(NOT ${text})`
  },
  clickhouse: ([value, set]) => {
    const items = set!.items
    if (!items) return `${name === 'in' ? '' : 'not'}(has(${set!.sql}, ${value!.sql}))`
    const tests = items.map((item) => (item.constant === null ? `isNull(${value!.sql})` : `ifNull(equals(${value!.sql}, ${item.sql}), 0)`))
    const text = tests.length ? tests.join(' OR ') : '0'
    return name === 'in' ? `(${text})` : `not(${text})`
  },
  cases,
})

export const membershipFunctions = scalars({
  in: membership('in', 'Whether the value is in the tuple or array.', [
    ['in(1, (1, 2))', 1],
    ['2 in tuple(1, 2)', 1],
    ["'a' not in tuple('a')", 0],
    ['(1, 2) in tuple((1, 2), (3, 4))', 1],
    ['in(3, [1, 2])', 0],
    ['in(NULL, (1, NULL))', 1],
  ]),
  notIn: membership('notIn', 'Whether the value is not in the tuple or array.', [
    ['notIn(1, (1, 2))', 0],
    ['notIn(3, (1, 2))', 1],
  ]),
})
