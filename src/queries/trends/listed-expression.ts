import type { Table } from 'apache-arrow'
import { alias, field, from, groupBy, select } from '../../language/ast/build.ts'
import type { Expr, Query } from '../../language/ast/nodes.ts'
import { columnValues } from '../answers/rows.ts'
import { integers } from '../answers/vectors.ts'
import { folded, type ListedFold, type QueryRun } from '../kind.ts'
import { listedActors } from '../lists/listed-actors.ts'
import { Refusal, refuse } from '../refusals.ts'
import { everyEvent, hasNumber, type Measure, type MeasuredExpression, measureField, measuresOf } from './expression-measures.ts'
import { type Group, toNumber } from './groups.ts'

// A series whose number is an expression: one fold for each aggregate, and one statement over their results.

/** Cells that one statement computes. */
const mostCells = 50_000

/** The groups of the unit. `check`: the statement that must compile. `listed`: the fold of a part. */
export function* foldExpression(
  expr: Expr,
  check: () => Query,
  label: string,
  listed: (measure: Measure) => ListedFold<readonly Group[]>,
): QueryRun<readonly Group[] | Refusal> {
  const measured = measuresOf(expr)
  if (measured instanceof Refusal) return measured
  let statement: Query | undefined = check()
  function* groupsOf(measure: Measure): QueryRun<readonly Group[] | Refusal> {
    const found = yield* folded(label, { ...listed(measure), check: statement })
    statement = undefined
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
