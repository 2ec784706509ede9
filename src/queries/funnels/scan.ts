import type { Table } from 'apache-arrow'
import { bytesPerEvent, EventBuckets } from '../../core/kernels/funnels/buckets.ts'
import type { ActorColumns, FunnelColumns } from '../../core/kernels/funnels/columns.ts'
import { alias, and, call, callWith, equals, field, from, groupBy, isIn, literal, or, select, table } from '../../language/ast/build.ts'
import { identities } from '../../language/ast/identity.ts'
import type { Call, Expr } from '../../language/ast/nodes.ts'
import { codesOf, doubles, integers, TextCodes, texts } from '../answers/vectors.ts'
import type { QueryContext, QueryRun, StatementAsk } from '../kind.ts'
import { eventExprOf } from '../origin.ts'
import { at, eventsTable, memberOf, person, since, until } from '../scope.ts'
import { mathFacts } from '../series/maths.ts'
import { allOf, nodeCondition, nodeMatch, queryFilters } from '../series/series-condition.ts'
import type { ResolvedRange } from '../time/dates.ts'
import type { FunnelBreakdown } from './breakdown.ts'
import type { FunnelsQuery } from './schema.ts'
import type { FunnelSettings } from './settings.ts'

// What a funnel asks of the store: for each event that matters its actor, its time, the steps it matches. In slices of actors, so that a part of the
// query's memory holds them however many there are.

const maxEventsPerSlice = 6_000_000
/** The engine also buffers the rows of a slice while they are read, and the rest of the process needs memory too. */
const shareOfMemory = 1 / 4
/** The approximate memory of a uuid's text. */
const bytesPerUuid = 80
const maxSlices = 255
/** Twice as many slices should halve the largest one. If one actor's events fill it they do not, and each slice costs a scan. */
const worthDoubling = 3 / 4
const eventsBetweenPauses = 1 << 17

export interface FunnelScan {
  readonly query: FunnelsQuery
  readonly settings: FunnelSettings
  readonly range: ResolvedRange
  readonly breakdown: FunnelBreakdown
  /** Also read the uuid of each event. */
  readonly withEvents: boolean
}

/** A trend needs steps only up to the one that it converts to. An unordered one needs all, because any of them may come first. */
export const stepsUntil = ({ settings }: FunnelScan): number => (settings.order === 'unordered' ? settings.steps : settings.to + 1)

/** The events of some actors. */
export interface Slice {
  readonly columns: ActorColumns
  /** The person's number, or the text of the group or expression, by index in the columns. */
  actor(index: number): number | string
  /** The uuid of the event at an index in the columns; with `withEvents`. */
  uuid(index: number): string
}

export type ActorKind = 'person' | 'group' | 'expression'
export const actorKindOf = (query: FunnelsQuery): ActorKind =>
  actorExpression(query) ? 'expression' : query.aggregation_group_type_index != null ? 'group' : 'person'

/** The expression that identifies the actor, if not the person or the group. */
const actorExpression = (query: FunnelsQuery): string | null => {
  const expression = query.funnelsFilter?.funnelAggregateByHogQL?.trim()
  return expression && expression !== 'person_id' ? expression : null
}

/** Breakdown values by code; code 0 is "no value". */
export class BreakdownValues {
  private readonly codes = new TextCodes()

  constructor(parts: number) {
    this.codes.code(JSON.stringify(Array.from({ length: parts }, () => '')))
  }

  code(values: readonly string[]): number {
    return this.codes.code(JSON.stringify(values))
  }

  goesBefore(a: number, b: number): boolean {
    const [x, y] = [this.parts(a), this.parts(b)]
    const index = x.findIndex((part, i) => part !== y[i])
    return index >= 0 && x[index]! < y[index]!
  }

  parts(code: number): readonly string[] {
    return JSON.parse(this.codes.values[code]!) as string[]
  }
}

/** What is read of the events, for any fold. */
export interface Reading {
  readonly actor: Expr
  /** By step, whether an event matches it. */
  readonly steps: readonly Expr[]
  readonly exclusions: readonly { readonly condition: Expr; readonly bits: number }[]
  readonly where: Expr
  /** Steps that only the actor's first event serves, and among which events it is the first. */
  readonly firstTimes: readonly { readonly step: number; readonly condition: Expr }[]
}

export function readingOf(scan: FunnelScan, cohort: number | 'all' | null, env: QueryContext): Reading {
  const { query, settings } = scan
  const actor = actorExpr(query, env)
  const steps = query.series.map((node, i) => nodeCondition(node, env, `series__${i}`))
  const exclusions = (query.funnelsFilter?.exclusions ?? []).map((exclusion, i) => ({
    condition: nodeCondition(exclusion, env, `funnelsFilter__exclusions__${i}`),
    // Standing at `from` up to the step before `to`.
    bits: bitsBetween(exclusion.funnelFromStep, exclusion.funnelToStep),
  }))
  const scope = allOf(
    since(scan.range.from),
    until(scan.range.to),
    queryFilters(query, env),
    cohort === null || cohort === 'all' ? literal(true) : memberOf(cohort),
    actorKindOf(query) === 'person' ? literal(true) : and(call('isNotNull', actor), call('notEquals', actor, literal(''))),
  )
  // A strict funnel is broken by any event, so it reads them all.
  const where = settings.order === 'strict' ? scope : allOf(scope, anyOf([...steps, ...exclusions.map((e) => e.condition)]))
  const firstTimes = query.series.flatMap((node, step) => {
    const { counts, ignoresFilters } = mathFacts(node.math)
    if (counts !== 'first events') return []
    // The first event ever may be before the range, and counts among all events of the name unless the math says otherwise.
    return [{ step, condition: ignoresFilters ? nodeMatch(node, env, `series__${step}`) : steps[step]! }]
  })
  return { actor, steps, exclusions, where, firstTimes }
}

/** Reads the events in slices and runs `each` over all of them. */
export function* eachScanned(
  scan: FunnelScan,
  reading: Reading,
  values: BreakdownValues,
  env: QueryContext,
  each: (slice: Slice) => Generator<void, void, void>,
): QueryRun<void> {
  const { query } = scan
  const { actor, steps, exclusions, where, firstTimes } = reading
  const layout = { exclusions: exclusions.length > 0, breakdown: scan.breakdown.parts.length > 0, origin: scan.withEvents }
  const bytes = bytesPerEvent(layout) + (scan.withEvents ? bytesPerUuid : 0)
  const most = Math.min(maxEventsPerSlice, Math.max(1, Math.floor(((env.memoryLimit ?? Number.POSITIVE_INFINITY) * shareOfMemory) / bytes)))
  const slices = yield* slicesOf(scan, actor, where, most)
  const columns = [
    alias(actor, 'actor'),
    alias(call('toFloat', at), 'at'),
    alias(bitmask(steps), 'steps'),
    ...(exclusions.length ? [alias(bitmaskOf(exclusions), 'excluded')] : []),
    ...scan.breakdown.parts.map((part, i) => alias(part, `value_${i}`)),
    ...(scan.withEvents ? [alias(call('toString', field('uuid')), 'event_uuid')] : []),
  ]

  for (const [slice, rows] of slices.entries()) {
    const sliced = sliceOf(sliceKey(actor, query), slice, slices.length, query)
    const codes = actorKindOf(query) === 'person' ? null : new TextCodes()
    const firsts: FirstTimes[] = []
    for (const { step, condition } of firstTimes) {
      const ask = firstTimesOf(actor, allOf(condition, until(scan.range.to), sliced))
      firsts.push({ step, byActor: firstByActor((yield ask) as Table, codes) })
    }
    const events = new EventBuckets({ rows, ...layout })
    const uuids: (string | null)[] = []
    const take = (part: Table) => {
      const read = readPart(part, scan, codes, values)
      for (const first of firsts) keepFirst(read, first)
      events.append(read)
      if (scan.withEvents) for (const uuid of texts(part, 'event_uuid')) uuids.push(uuid)
    }
    yield { ...statement('funnel events', scan, columns, allOf(where, sliced)), take }
    let unpaused = 0
    for (let bucket = 0; bucket < events.buckets; bucket++) {
      const grouped = yield* pausing(events.group(bucket))
      const name = (index: number) => (codes ? codes.values[grouped.code(index)]! : grouped.code(index))
      yield* pausing(each({ columns: grouped, actor: name, uuid: (index) => uuids[grouped.origin![index]!]! }))
      unpaused += events.sizeOf(bucket)
      if (unpaused < eventsBetweenPauses) continue
      unpaused = 0
      yield { kind: 'pause' }
    }
    events.release()
  }
}

/** Runs a loop that yields at its pauses. */
function* pausing<R>(run: Generator<void, R, void>): QueryRun<R> {
  for (;;) {
    const step = run.next()
    if (step.done) return step.value
    yield { kind: 'pause' }
  }
}

/**
 * The number of events in each slice. The store knows the total at once; only if that is too many are the matching events
 * counted, and split into slices. The number of slices is odd, because buckets use the low digits of persons.
 */
function* slicesOf(scan: FunnelScan, actor: Expr, where: Expr, most: number): QueryRun<readonly number[]> {
  let rows = 0
  for (const condition of [literal(true), where]) {
    const size = (yield statement('funnel size', scan, [alias(call('count'), 'n')], condition)) as Table
    rows = doubles(size, 'n')[0]!
    if (rows <= most) return [rows]
  }
  const { query } = scan
  const keys = select({ columns: [alias(sliceKey(actor, query), 'key')], from: eventsTable(query.samplingFactor), where })
  let best: readonly number[] = []
  for (let count = Math.min(maxSlices, Math.ceil(rows / most) | 1); ; count = Math.min(maxSlices, count * 2 + 1)) {
    const columns = Array.from({ length: count }, (_, slice) =>
      alias(callWith('count', { filter: sliceOf(field('key'), slice, count, query) }), `n_${slice}`),
    )
    const sizes = (yield { kind: 'statement', label: 'funnel slices', query: select({ columns, from: from(keys) }) }) as Table
    const found = columns.map((_, slice) => doubles(sizes, `n_${slice}`)[0]!)
    if (best.length && Math.max(...found) > worthDoubling * Math.max(...best)) return best
    if (count === maxSlices || Math.max(...found) <= most) return found
    best = found
  }
}

const statement = (label: string, { query }: FunnelScan, columns: readonly Expr[], where: Expr): StatementAsk => ({
  kind: 'statement',
  label,
  query: select({ columns, from: eventsTable(query.samplingFactor), where }),
})

export const firstTimesOf = (actor: Expr, where: Expr): StatementAsk => ({
  kind: 'statement',
  label: 'first times',
  query: select({
    columns: [alias(actor, 'actor'), alias(call('min', at), 'first')],
    from: table('events'),
    where,
    groupBy: groupBy(actor),
  }),
})

export function actorExpr(query: FunnelsQuery, env: QueryContext): Expr {
  const expression = actorExpression(query)
  if (expression) return call('toString', eventExprOf(expression, 'funnelsFilter__funnelAggregateByHogQL', env))
  const group = query.aggregation_group_type_index
  return group == null ? person : field(`$group_${group}`)
}

/** Persons are split by their numbers, other actors by the first digits of a hash of their text. */
const sliceKey = (actor: Expr, query: FunnelsQuery): Expr =>
  actorKindOf(query) === 'person' ? actor : call('substring', call('lower', call('hex', call('MD5', actor))), literal(1), literal(4))

function sliceOf(key: Expr, slice: number, slices: number, query: FunnelsQuery): Expr {
  if (slices === 1) return literal(true)
  if (actorKindOf(query) === 'person') return equals(call('modulo', key, literal(slices)), literal(slice))
  const edge = (i: number) =>
    Math.floor((i * 65536) / slices)
      .toString(16)
      .padStart(4, '0')
  const least = call('greaterOrEquals', key, literal(edge(slice)))
  return slice === slices - 1 ? least : and(least, call('less', key, literal(edge(slice + 1))))
}

const bitsBetween = (from: number, to: number) => {
  let bits = 0
  for (let step = from; step < to; step++) bits |= 1 << step
  return bits
}

export const bitmask = (conditions: readonly Expr[]): Expr => bitmaskOf(conditions.map((condition, i) => ({ condition, bits: 1 << i })))

/** A condition that occurs twice is computed once, and an event has only one name. */
export function bitmaskOf(parts: readonly { readonly condition: Expr; readonly bits: number }[]): Expr {
  const terms = [...different(parts.map(({ condition }) => condition))].map(([condition, indexes]) => {
    const bits = indexes.reduce((all, index) => all | parts[index]!.bits, 0)
    return { condition, bits: literal(bits >>> 0) }
  })
  const named = terms.filter(({ condition }) => isName(condition)).flatMap(({ condition, bits }) => [condition, bits])
  const masks = terms.filter(({ condition }) => !isName(condition)).map(({ condition, bits }) => call('if', condition, bits, literal(0)))
  if (named.length) masks.unshift(named.length === 2 ? call('if', ...named, literal(0)) : call('multiIf', ...named, literal(0)))
  return masks.reduce((sum, mask) => call('bitOr', sum, mask))
}

const isName = (condition: Expr): condition is Call =>
  condition.kind === 'call' &&
  condition.name === 'equals' &&
  condition.args[0]!.kind === 'field' &&
  condition.args[0]!.chain.join() === 'event'

/** Whether one of the conditions holds. */
function anyOf(conditions: readonly Expr[]): Expr {
  const all = [...different(conditions).keys()]
  const names = all.filter(isName).map(({ args }) => args[1]!)
  const others = all.filter((condition) => !isName(condition))
  return or(...(names.length ? [isIn(field('event'), names)] : []), ...others)
}

/** Distinct conditions, with their indexes. */
function different(conditions: readonly Expr[]): ReadonlyMap<Expr, readonly number[]> {
  const idOf = identities()
  const byId = new Map<number, { condition: Expr; indexes: number[] }>()
  for (const [index, condition] of conditions.entries()) {
    const known = byId.get(idOf(condition))
    if (known) known.indexes.push(index)
    else byId.set(idOf(condition), { condition, indexes: [index] })
  }
  return new Map([...byId.values()].map(({ condition, indexes }) => [condition, indexes]))
}

function readPart(part: Table, scan: FunnelScan, codes: TextCodes | null, values: BreakdownValues): FunnelColumns {
  return {
    actor: codes ? codesOf(part, 'actor', codes) : integers(part, 'actor'),
    time: doubles(part, 'at'),
    steps: integers(part, 'steps'),
    exclusions: part.getChild('excluded') ? integers(part, 'excluded') : null,
    breakdown: scan.breakdown.parts.length ? valueCodes(part, scan.breakdown.parts.length, values) : null,
  }
}

/** Codes of whole tuples: each part has codes of its own, and only a new tuple is looked up by its texts. */
function valueCodes(events: Table, parts: number, values: BreakdownValues): Int32Array {
  const codes = Array.from({ length: parts }, () => new TextCodes())
  const columns = codes.map((code, i) => codesOf(events, `value_${i}`, code))
  const out = new Int32Array(events.numRows)
  if (parts === 1) {
    const translated = Int32Array.from(codes[0]!.values, (text) => values.code([text]))
    for (let row = 0; row < out.length; row++) out[row] = translated[columns[0]![row]!]!
    return out
  }
  const known = new Map<number, number>()
  for (let row = 0; row < out.length; row++) {
    let key = 0
    for (let i = 0; i < parts; i++) key = key * codes[i]!.values.length + columns[i]![row]!
    let code = known.get(key)
    if (code === undefined) {
      code = values.code(columns.map((column, i) => codes[i]!.values[column[row]!]!))
      known.set(key, code)
    }
    out[row] = code
  }
  return out
}

/** When actors did a step for the first time. */
interface FirstTimes {
  readonly step: number
  readonly byActor: ReadonlyMap<number, number>
}

function firstByActor(table: Table, codes: TextCodes | null): ReadonlyMap<number, number> {
  const actor = codes ? codesOf(table, 'actor', codes) : integers(table, 'actor')
  const first = doubles(table, 'first')
  const byActor = new Map<number, number>()
  for (let i = 0; i < actor.length; i++) byActor.set(actor[i]!, first[i]!)
  return byActor
}

/** Among events that match the step, only those at the actor's first time keep its bit. */
function keepFirst({ actor, time, steps }: FunnelColumns, { step, byActor }: FirstTimes): void {
  const bit = 1 << step
  for (let i = 0; i < steps.length; i++) if ((steps[i]! & bit) !== 0 && byActor.get(actor[i]!) !== time[i]) steps[i]! &= ~bit
}
