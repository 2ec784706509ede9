import type { SeriesValue } from '../../../core/folds/series/accumulators.ts'
import { type Series, type SeriesPart, seriesFold } from '../../../core/folds/series/fold.ts'
import type { Listed } from '../../../core/lists/project-lists.ts'
import { call, literal } from '../../../language/ast/build.ts'
import type { Expr } from '../../../language/ast/nodes.ts'
import type { SumState } from '../../../lib/numbers/sums.ts'
import type { Micros } from '../../../lib/time/zone.ts'
import { type ListedFolds, type ListFold, listFold, type QueryContext } from '../../kind.ts'
import { ownerOf } from '../../lists/column-owners.ts'
import { type AskedBits, type AskedColumn, AskedColumns, askedBits, bitsOf, combinationTexts, placed } from '../../lists/listed-columns.ts'
import { type Refusal, refuse } from '../../refusals.ts'
import { allOf } from '../../series/series-condition.ts'
import type { GroupedEvents } from './grouped.ts'
import type { Measure } from './measures.ts'
import { mostCells, type RowColumns } from './rows.ts'
import { type Range, textOfMicros } from './times.ts'

/** Between the keys of an event in their common text. A key that has it refuses the lists. */
const between = '\u0001'
const isKey = '1'
const isNull = '0'

/** A column of the lists with the texts of some keys. */
interface Split {
  readonly column: AskedColumn
  /** Indexes of the keys. */
  readonly keys: readonly number[]
}

/** What a fold has found. */
export interface Found {
  readonly part: NonNullable<SeriesPart>
  /** Of the keys, by split and code. */
  readonly texts: readonly (readonly string[])[]
}

/** Counts the events of each group: how many they are, and each measure. */
export class Counting {
  private readonly columns = new AskedColumns()
  private readonly splits: readonly Split[]
  private readonly edges: Float64Array | null
  /** Events may be outside of all intervals, since the statement does not say when they begin or end. */
  private readonly isOpen: boolean

  /** `edges`: the beginnings of the intervals, and the end of the last one. */
  constructor(
    private readonly grouped: GroupedEvents,
    private readonly range: Range,
    edges: readonly Micros[] | null,
    private readonly env: QueryContext,
  ) {
    this.edges = edges && Float64Array.from(edges)
    this.isOpen = edges !== null && (range.from === null || range.to === null)
    this.splits = this.splitsOf(grouped.keys)
  }

  folds(): Pick<ListedFolds, 'names' | 'columns' | 'folds'> {
    const { measures, condition } = this.grouped
    const all: readonly Measure[] = [{ value: { kind: 'events' }, condition: null }, ...measures]
    const counted = all.map((measure) => ({
      bits: askedBits(
        [{ condition: measure.condition ? allOf(condition, measure.condition) : condition, bits: 1 }],
        this.columns,
        this.env,
      ),
      number: measure.value.kind === 'numbers' ? this.columns.numbers(measure.value.number) : null,
      measure,
    }))
    return {
      names: [...new Set(counted.flatMap(({ bits }) => bits.names))],
      columns: this.columns.asks,
      folds: [
        ...counted.map(({ bits, number, measure }) => this.fold(bits, number, measure, this.edges)),
        ...(this.isOpen ? [this.fold(counted[0]!.bits, null, counted[0]!.measure, null)] : []),
      ],
    }
  }

  /** The rows of the groups. `all`: their events; `others`: the measures, and if intervals are open, all events of the groups. */
  rows([all, ...others]: readonly Found[]): RowColumns | Refusal {
    const { grouped, splits } = this
    const measured = others.slice(0, grouped.measures.length)
    if (this.isOpen && eventsOf(all!) !== eventsOf(others.at(-1)!)) return refuse('statement-without-fold', 'times so far from now')
    const { texts } = all!
    const groups = measured.map(({ part }) => new Map(part.combinations.map((combination, group) => [combination, group])))
    const buckets = this.edges ? this.edges.length - 1 : 1
    const counts = all!.part.state as Float64Array
    const keys: (string | null)[][] = grouped.keys.map(() => [])
    const measures = grouped.measures.map(({ value }) => ({ isNumber: value.kind === 'numbers', values: [] as (number | null)[] }))
    const times: string[] = []
    let rows = 0
    const mostRows = mostCells / (keys.length + measures.length + 1)
    const addRow = (combination: number, bucket: number): Refusal | null => {
      for (const [i, { keys: indexes }] of splits.entries()) {
        const parts = combinationTexts(combination, texts)[i]!.split(between)
        if (parts.length !== indexes.length) return refuse('statement-without-fold', 'such texts')
        for (const [at, index] of indexes.entries()) keys[index]!.push(parts[at] === isNull ? null : parts[at]!.slice(isKey.length))
      }
      for (const [i, measure] of measures.entries()) {
        const group = groups[i]!.get(combination)
        const cell = group === undefined ? null : group * buckets + bucket
        const value = numberAt(measured[i]!.part.state, cell, grouped.measures[i]!)
        if (value !== null && !Number.isFinite(value)) return refuse('statement-without-fold', 'numbers that are not finite')
        measure.values.push(value)
      }
      if (this.edges) times.push(textOfMicros(this.edges[bucket]!))
      return ++rows > mostRows ? refuse('many-values') : null
    }
    if (grouped.keys.length === 0 && !this.edges) {
      const refusal = addRow(0, 0) // there is a row, even without events
      return refusal ?? { rows, keys, measures, times: null }
    }
    for (const [group, combination] of all!.part.combinations.entries())
      for (let bucket = 0; bucket < buckets; bucket++) {
        if (counts[group * buckets + bucket] === 0) continue
        const refusal = addRow(combination, bucket)
        if (refusal) return refusal
      }
    return { rows, keys, measures, times: this.edges && times }
  }

  private fold(bits: AskedBits, number: AskedColumn | null, { value }: Measure, edges: Float64Array | null): ListFold {
    const { range, splits } = this
    const counted = (listed: Listed): SeriesValue =>
      value.kind === 'numbers' ? { kind: 'numbers', number: placed(number!, listed), reduction: value.reduction } : { kind: value.kind }
    return listFold<Series, SeriesPart, Found>({
      fold: seriesFold,
      params: (listed) => ({
        matching: {
          from: range.from ?? Number.NEGATIVE_INFINITY,
          to: range.to ?? Number.POSITIVE_INFINITY,
          scope: null,
          bits: bitsOf(bits, listed),
          further: null,
          takesAll: false,
        },
        edges,
        splits: splits.map(({ column }) => placed(column, listed)),
        value: counted(listed),
      }),
      *take(part, { columns }) {
        return part ? { part, texts: splits.map(({ column }) => [...columns[column.index]!.texts]) } : refuse('many-values')
      },
    })
  }

  /** Keys of events have one column together, those of others one each. */
  private splitsOf(keys: readonly Expr[]): readonly Split[] {
    const indexes = keys.map((_, i) => i)
    const isOfEvent = indexes.filter((i) => ownerOf(keys[i]!) === 'event')
    const parts = [...(isOfEvent.length > 0 ? [isOfEvent] : []), ...indexes.filter((i) => !isOfEvent.includes(i)).map((i) => [i])]
    return parts.map((of) => ({ column: this.columns.codes(together(of.map((i) => keys[i]!))), keys: of }))
  }
}

const eventsOf = ({ part }: Found): number => (part.state as Float64Array).reduce((sum, count) => sum + count, 0)

const textOf = (key: Expr): Expr => call('if', call('isNull', key), literal(isNull), call('concat', literal(isKey), key))

const together = (keys: readonly Expr[]): Expr =>
  keys.length === 1
    ? textOf(keys[0]!)
    : call('concat', ...keys.flatMap((key, i) => (i === 0 ? [textOf(key)] : [literal(between), textOf(key)])))

/** Null: the events of the cell have no number. */
function numberAt(state: unknown, cell: number | null, { value }: Measure): number | null {
  if (value.kind !== 'numbers') return cell === null ? 0 : ((state as Float64Array)[cell] ?? 0)
  if (cell === null) return null
  if (value.reduction === 'min' || value.reduction === 'max') {
    const extreme = (state as Float64Array)[cell]
    return extreme === undefined || Number.isNaN(extreme) ? null : extreme
  }
  const { sums, lost, counts } = state as SumState
  const count = counts[cell] ?? 0
  if (count === 0) return null
  const sum = sums[cell]! + lost[cell]!
  return value.reduction === 'sum' ? sum : sum / count
}
