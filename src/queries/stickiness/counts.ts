import type { Table } from 'apache-arrow'
import { alias, call, field, from, groupBy, select } from '../../language/ast/build.ts'
import type { Query } from '../../language/ast/nodes.ts'
import { doubles, integers } from '../answers/vectors.ts'
import { alongAll, type QueryContext, type QueryRun } from '../kind.ts'
import { listedStickiness } from './listed.ts'
import type { StickinessQuery } from './schema.ts'
import { activeIntervals, type StickinessUnit } from './unit.ts'

/** For each unit, the number of actors by their number of intervals less one. */
export const countsOf = (units: readonly StickinessUnit[], query: StickinessQuery, env: QueryContext): QueryRun<readonly Float64Array[]> =>
  alongAll(
    units.map((unit) => ({
      label: `stickiness of series ${unit.order}, ${unit.period} period`,
      lists: () => listedStickiness(unit, query, env),
      statement: () => ({ query: statementOf(unit, query), read: (table: Table) => readCounts(table, unit) }),
    })),
  )

const statementOf = (unit: StickinessUnit, query: StickinessQuery): Query =>
  select({
    columns: [field('intervals'), alias(call('count'), 'actors')],
    from: from(activeIntervals(unit, query), 'actors_found'),
    groupBy: groupBy(field('intervals')),
  })

function readCounts(table: Table, { size }: StickinessUnit): Float64Array {
  const counts = new Float64Array(size)
  const intervals = integers(table, 'intervals')
  const actors = doubles(table, 'actors')
  for (let row = 0; row < table.numRows; row++) counts[intervals[row]! - 1]! += actors[row]!
  return counts
}
