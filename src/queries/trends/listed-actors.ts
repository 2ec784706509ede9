import { type EventCounts, type EventCountsParams, eventCountsFold } from '../../core/folds/event-counts.ts'
import type { Query } from '../../language/ast/nodes.ts'
import { type ListedFold, listFold, type QueryContext } from '../kind.ts'
import { listedActors } from '../lists/listed-actors.ts'
import { type AskedColumn, AskedColumns, askedBits, bitsOf, groupActors } from '../lists/listed-columns.ts'
import { refuse } from '../refusals.ts'
import type { Breakdown } from '../series/breakdown.ts'
import { groupText } from './breakdown.ts'
import { conditionsOf } from './listed.ts'
import type { TrendsQuery } from './schema.ts'
import { actorOf, isFirstTime, type Times, type Unit } from './unit.ts'
import type { ValueOfPoint } from './value-of-point.ts'

/** To list an actor that was found takes as long as to find it among this many events by a statement. */
const eventsPerActor = 30
const fewActors = 1000

/** What a point of a chart counts. */
export interface CountedPoint {
  readonly unit: Unit
  readonly query: TrendsQuery
  readonly breakdown: Breakdown
  /** Of the events; of first events, those of the first one. */
  readonly times: Times
  readonly value: ValueOfPoint
}

/** The actors of a point over the lists of the core. */
export function listedActorsOf({ unit, query, breakdown, times, value }: CountedPoint, env: QueryContext): ListedFold<Query> {
  const { group } = actorOf(unit)
  const columns = new AskedColumns({ hasPersons: group === null })
  const actors = group === null ? null : groupActors(group, columns)
  const isFirst = isFirstTime(unit)
  // Of first events, all are looked at, and the value is that of the first one.
  const counted = isFirst ? 4 : 1
  const conditions = conditionsOf(unit, query, env)
  const last = conditions.at(-1)!
  const bits = askedBits(isFirst ? [...conditions, { ...last, bits: counted }] : conditions, columns, env)
  const flags = valueFlags(value, breakdown, columns, env).map((flag) => ({ ...flag, bits: counted }))
  return {
    names: bits.names,
    columns: columns.asks,
    actors,
    fold: listFold<EventCountsParams, EventCounts, Query>({
      fold: eventCountsFold,
      params: (listed) => ({
        matching: {
          from: isFirst ? Number.NEGATIVE_INFINITY : times.from,
          to: isFirst ? unit.range.to : times.to,
          scope: null,
          bits: bitsOf({ ...bits, flags: [...bits.flags, ...flags] }, listed),
          further: null,
          takesAll: false,
        },
        firstSince: isFirst ? unit.range.firstEvent : null,
        ...times,
        counted,
      }),
      *take({ person, count }, listed) {
        if (person.length > Math.max(fewActors, listed.lists.events / eventsPerActor)) return refuse('many-actors')
        const keys = actors && listed.columns[actors.column]!.texts
        yield
        return listedActors(
          Array.from(person, (number) => (keys ? keys[number]! : number)),
          {},
          { event_count: count },
        )
      },
    }),
  }
}

/** Columns of the chart say which events have the value. */
function valueFlags(value: ValueOfPoint, breakdown: Breakdown, columns: AskedColumns, env: QueryContext): readonly AskedColumn[] {
  if (value.kind === 'all') return []
  const isPlain = value.kind === 'values' && breakdown.parts.every(({ binCount }) => binCount === null)
  if (!isPlain || (value.isNot && breakdown.parts.length > 1)) return [columns.flag(value.condition)]
  const codes = breakdown.parts.map((part) => columns.codes(groupText(part, null, breakdown, env)))
  return codes.flatMap((column, i) => {
    const texts = value.lists.map((list) => list[i]).filter((text) => text !== undefined)
    return texts.length === value.lists.length ? [columns.among(column, texts, value.isNot)] : []
  })
}
