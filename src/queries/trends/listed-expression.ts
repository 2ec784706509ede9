import type { Table } from 'apache-arrow'
import { alias, field, from, groupBy, select } from '../../ast/build.ts'
import type { Query } from '../../ast/nodes.ts'
import type { Breakdown } from '../breakdown.ts'
import { folded, type QueryContext, type QueryRun } from '../kind.ts'
import { listedActors } from '../listed-actors.ts'
import { eventExprOf } from '../origin.ts'
import { Refusal, refuse } from '../refusals.ts'
import { columnValues } from '../rows.ts'
import { integers } from '../vectors.ts'
import { everyEvent, hasNumber, type Measure, type MeasuredExpression, measureField, measuresOf } from './expression-measures.ts'
import { type Group, toNumber } from './groups.ts'
import type { Bins } from './histogram.ts'
import { listedUnit } from './listed.ts'
import { contextOf, planUnit } from './plan.ts'
import type { TrendsQuery } from './schema.ts'
import { pathOf, type Unit } from './unit.ts'

// A series whose number is an expression: one fold for each aggregate, and one statement over their results.

/** Cells that one statement computes. */
const mostCells = 50_000

/** The groups of the unit. */
export function* foldExpression(
  unit: Unit,
  query: TrendsQuery,
  env: QueryContext,
  breakdown: Breakdown,
  bins: readonly (Bins | null)[],
  label: string,
): QueryRun<readonly Group[] | Refusal> {
  const measured = measuresOf(eventExprOf(unit.node.math_hogql ?? 'count()', `${pathOf(unit)}__math_hogql`, env))
  if (measured instanceof Refusal) return measured
  // What the engine refuses, it refuses as a statement.
  let check: Query | undefined = planUnit(contextOf(unit, query, env, breakdown, bins)).query
  function* groupsOf(measure: Measure): QueryRun<readonly Group[] | Refusal> {
    const found = yield* folded(label, { ...listedUnit(unit, query, breakdown, bins, env, measure), check })
    check = undefined
    return found
  }
  const { measures, isPlain } = measured
  const [first] = measures as [Measure]
  if (isPlain && first.condition.kind === 'literal') return yield* groupsOf(first)
  const all = yield* groupsOf(everyEvent)
  if (all instanceof Refusal) return all
  const found: (readonly Group[])[] = []
  const numbered: (readonly Group[] | null)[] = []
  for (const measure of measures) {
    const groups = yield* groupsOf(measure)
    if (groups instanceof Refusal) return groups
    found.push(groups)
    const numbers = isPlain ? null : hasNumber(measure)
    const counts = numbers && (yield* groupsOf(numbers))
    if (counts instanceof Refusal) return counts
    numbered.push(counts)
  }
  if (isPlain) return all.map(({ parts, data }) => ({ parts, data: valuesOf(found[0]!, parts, data.length) }))
  const cells = cellsOf(all)
  if (cells.length > mostCells) return refuse('expression-too-large')
  const texts = measures.map((_, i) => textsOf(cells, all, found[i]!, numbered[i]!))
  return withValues(all, cells, yield* computed(measured, cells, texts, label))
}

const keyOf = (parts: readonly string[]): string => JSON.stringify(parts)

function valuesOf(groups: readonly Group[], parts: readonly string[], size: number): readonly number[] {
  const key = keyOf(parts)
  return groups.find((group) => keyOf(group.parts) === key)?.data ?? new Array<number>(size).fill(0)
}

interface Cell {
  readonly group: number
  readonly bucket: number
}
/** Those with events. */
const cellsOf = (all: readonly Group[]): readonly Cell[] =>
  all.flatMap(({ data }, group) => data.flatMap((count, bucket) => (count > 0 ? [{ group, bucket }] : [])))

function textsOf(cells: readonly Cell[], all: readonly Group[], groups: readonly Group[], numbered: readonly Group[] | null): string[] {
  const dataOf = (found: readonly Group[]) => {
    const byKey = new Map(found.map(({ parts, data }) => [keyOf(parts), data]))
    return all.map(({ parts }) => byKey.get(keyOf(parts)))
  }
  const [values, counts] = [dataOf(groups), numbered && dataOf(numbered)]
  return cells.map(({ group, bucket }) => (counts && !counts[group]?.[bucket] ? '' : String(values[group]?.[bucket] ?? 0)))
}

/** By number of the cell. */
function* computed(
  { overCells }: MeasuredExpression,
  cells: readonly Cell[],
  texts: readonly (readonly string[])[],
  label: string,
): QueryRun<ReadonlyMap<number, number>> {
  const columns = Object.fromEntries(texts.map((values, i) => [measureField(i), values]))
  const query = select({
    columns: [field('actor'), alias(overCells, 'value')],
    from: from(listedActors([...cells.keys()], columns), 'cells'),
    groupBy: groupBy(field('actor')),
  })
  const table = (yield { kind: 'statement', query, label: `expression of ${label}` }) as Table
  const numbers = integers(table, 'actor')
  const values = columnValues(table.getChild('value')!, 'UTC').map(toNumber)
  return new Map(values.map((value, row) => [numbers[row]!, value]))
}

function withValues(all: readonly Group[], cells: readonly Cell[], values: ReadonlyMap<number, number>): readonly Group[] {
  const groups = all.map(({ parts, data }) => ({ parts, data: new Array<number>(data.length).fill(0) }))
  for (const [i, { group, bucket }] of cells.entries()) groups[group]!.data[bucket] = values.get(i) ?? 0
  return groups
}
