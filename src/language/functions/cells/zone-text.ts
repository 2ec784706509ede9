import { QueryError } from '../../../errors/errors.ts'
import type { SqlType } from '../../types/types.ts'
import type { Arg, CellContext } from '../row.ts'
import { isUtc, isZone, newYear, type ZonePiece, zonePieces } from './zones.ts'

// SQL for local times on DuckDB. Instants are TIMESTAMP in UTC; `localTime` returns the TIMESTAMP of the local clock.
//
// An instant is compared with the offset changes of the usual years, in a tree of constants: 70 ms for 3 million rows of a column, and 370 ms for an
// expression, which a lambda names so that it is printed once; ICU takes 920 ms. Instants outside these years use ICU.

const usualYears: readonly [from: number, to: number] = [2012, 2032]

/** The zone in which a value of this type is shown and truncated. */
export const zoneOf = (type: SqlType, context: CellContext): string => (type.kind === 'scalar' ? type.zone : undefined) ?? context.timezone

/** The zone given as an argument, or that of the value. */
export function zoneArgument(arg: Arg | undefined, type: SqlType, context: CellContext): string {
  if (!arg) return zoneOf(type, context)
  if (typeof arg.constant !== 'string') throw new QueryError('invalid-query', { message: 'A time zone must be given as a text constant.' })
  if (!isZone(arg.constant)) throw new QueryError('invalid-query', { message: `Unknown time zone: ${arg.constant}` })
  return arg.constant
}

/** A bounded cache: offset changes and starts of years. */
const stamps = new Map<number, string>()
function stamp(micros: number): string {
  const known = stamps.get(micros)
  if (known !== undefined) return known
  const text = `TIMESTAMP '${new Date(micros / 1000).toISOString().slice(0, 19).replace('T', ' ')}'`
  stamps.set(micros, text)
  return text
}
const isCheap = (text: string): boolean => text.length <= 80 && /^[\w."$]+$/.test(text)

interface Pieces {
  readonly from: number
  readonly to: number
  readonly pieces: readonly ZonePiece[]
}

function piecesOf(zone: string, context: CellContext): Pieces {
  const [from, to] = context.timeRange ?? []
  const [first, last] =
    from === undefined || to === undefined
      ? usualYears
      : [Math.max(new Date(from).getUTCFullYear(), 1970), Math.min(new Date(to).getUTCFullYear() + 1, 2100)]
  if (first >= last || last - first > 40) return piecesOf(zone, { ...context, timeRange: undefined })
  return { from: newYear(first), to: newYear(last), pieces: zonePieces(zone, first, last) }
}

/** A balanced tree of comparisons with the offsets, in microseconds, as leaves. */
function tree(moment: string, pieces: readonly ZonePiece[]): string {
  if (pieces.length === 1) return String(pieces[0]!.offset)
  const middle = Math.ceil(pieces.length / 2)
  return `CASE WHEN ${moment} < ${stamp(pieces[middle]!.from)} THEN ${tree(moment, pieces.slice(0, middle))} ELSE ${tree(moment, pieces.slice(middle))} END`
}

/** `fast` for instants between two others, `slow` for the rest and for NULL. */
const between = (moment: string, from: number, to: number, fast: string, slow: string): string =>
  `CASE WHEN ${moment} >= ${stamp(from)} AND ${moment} < ${stamp(to)} THEN ${fast} ELSE ${slow} END`

/** Applies `body` to a name for the instant, so that its SQL is printed once. */
function named(moment: string, context: CellContext, body: (name: string) => string): string {
  if (isCheap(moment)) return body(moment)
  const name = context.fresh()
  return `list_transform([${moment}], lambda ${name}: ${body(name)})[1]`
}

const icuLocal = (moment: string, zone: string, context: CellContext): string =>
  `timezone(${context.literal(zone)}, timezone('UTC', ${moment}))`

/** For an ambiguous local time ICU returns the later instant, unlike ClickHouse; the offset of the day before gives the earlier one. */
function icuMoment(local: string, zone: string, context: CellContext): string {
  const back = (text: string): string => `timezone('UTC', timezone(${context.literal(zone)}, ${text}))`
  const early = `(${back(`${local} - INTERVAL 1 DAY`)} + INTERVAL 1 DAY)`
  return `CASE WHEN ${icuLocal(early, zone, context)} = ${local} THEN ${early} ELSE ${back(local)} END`
}

/** The local time at an instant. */
export function localTime(moment: string, zone: string, context: CellContext): string {
  if (isUtc(zone)) return moment
  const { from, to, pieces } = piecesOf(zone, context)
  const add = (name: string): string => `make_timestamp(epoch_us(${name}) + ${tree(name, pieces)})`
  return named(moment, context, (name) => between(name, from, to, add(name), icuLocal(name, zone, context)))
}

/**
 * The instant of a local time. An ambiguous local time is the earlier of its two instants. A local time that a change of offset skips is read
 * with the new offset.
 */
export const momentOf = (local: string, zone: string, context: CellContext): string =>
  momentBy((piece, before) => piece.from + before.offset, local, zone, context)

/** The same for midnights: if a change of offset skips midnight, the day starts at the change. */
export const midnightOf = (date: string, zone: string, context: CellContext): string =>
  momentBy((piece, before) => piece.from + Math.max(piece.offset, before.offset), `CAST(${date} AS TIMESTAMP)`, zone, context)

function momentBy(wallOf: (piece: ZonePiece, before: ZonePiece) => number, local: string, zone: string, context: CellContext): string {
  if (isUtc(zone)) return local
  const { from, to, pieces } = piecesOf(zone, context)
  const walls = pieces.map((piece, i) => (i === 0 ? piece : { from: wallOf(piece, pieces[i - 1]!), offset: piece.offset }))
  const back = (name: string): string => `make_timestamp(epoch_us(${name}) - ${tree(name, walls)})`
  return named(local, context, (name) => between(name, from, to, back(name), icuMoment(name, zone, context)))
}

const day = 86_400_000_000
const startOfDay = (local: number): number => Math.floor(local / day) * day

/** The instant at which the local day of an instant began. */
export function startOfLocalDay(moment: string, zone: string, context: CellContext): string {
  if (isUtc(zone)) return `date_trunc('day', ${moment})`
  const { from, to, pieces } = piecesOf(zone, context)
  const slow = (text: string): string =>
    named(`date_trunc('day', ${icuLocal(text, zone, context)})`, context, (name) => icuMoment(name, zone, context))
  // On a day with a change of offset, instants after the change belong to a midnight before it: the old offset holds until the next midnight.
  const midnights = pieces.flatMap((piece, i): ZonePiece[] => {
    const before = pieces[i - 1]
    if (!before) return [piece]
    const began = startOfDay(piece.from + piece.offset)
    const isMidnight = began === piece.from + piece.offset && startOfDay(piece.from - 1 + before.offset) !== began
    return isMidnight ? [piece] : [{ from: began + day - piece.offset, offset: piece.offset }]
  })
  const body = (name: string): string =>
    between(
      name,
      from,
      to,
      `make_timestamp(epoch_us(date_trunc('day', make_timestamp(epoch_us(${name}) + ${tree(name, pieces)}))) - ${tree(name, midnights)})`,
      slow(name),
    )
  return named(moment, context, body)
}

/** Whether the offset is always a multiple of these seconds: then truncating in UTC gives the same result. */
export const isShiftedByWhole = (zone: string, seconds: number): boolean =>
  isUtc(zone) || zonePieces(zone, 1970, 2038).every((piece) => piece.offset % (seconds * 1_000_000) === 0)
