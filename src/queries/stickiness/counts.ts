import type { Table } from 'apache-arrow'
import { alias, call, field, from, groupBy, select } from '../../ast/build.ts'
import { listsAsk, type QueryContext, type QueryRun, type StatementAsk } from '../kind.ts'
import { doubles, integers } from '../vectors.ts'
import { listedStickiness } from './listed.ts'
import type { StickinessQuery } from './schema.ts'
import { activeIntervals, type StickinessUnit } from './unit.ts'

/** For each unit, the number of actors by their number of intervals less one. */
export function* countsOf(units: readonly StickinessUnit[], query: StickinessQuery, env: QueryContext): QueryRun<readonly Float64Array[]> {
  const found = new Map<StickinessUnit, Float64Array>()
  for (const unit of units) {
    const label = labelOf(unit)
    const listed = listedStickiness(unit, query, env, (counts) => void found.set(unit, counts))
    yield listsAsk(label, listed)
  }
  const asked = units.filter((unit) => !found.has(unit))
  if (asked.length > 0) {
    const tables = (yield asked.map((unit) => statementOf(unit, query))) as readonly Table[]
    for (const [i, unit] of asked.entries()) found.set(unit, readCounts(tables[i]!, unit))
  }
  return units.map((unit) => found.get(unit)!)
}

const labelOf = ({ order, period }: StickinessUnit): string => `stickiness of series ${order}, ${period} period`

const statementOf = (unit: StickinessUnit, query: StickinessQuery): StatementAsk => ({
  kind: 'statement',
  label: labelOf(unit),
  query: select({
    columns: [field('intervals'), alias(call('count'), 'actors')],
    from: from(activeIntervals(unit, query), 'actors_found'),
    groupBy: groupBy(field('intervals')),
  }),
})

function readCounts(table: Table, { size }: StickinessUnit): Float64Array {
  const counts = new Float64Array(size)
  const intervals = integers(table, 'intervals')
  const actors = doubles(table, 'actors')
  for (let row = 0; row < table.numRows; row++) counts[intervals[row]! - 1]! += actors[row]!
  return counts
}
