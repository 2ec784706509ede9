import type { LoadedColumn, LoadedLists, Merges } from './loaded-lists.ts'
import type { ColumnPart, ColumnSource, ColumnType, EventBatch, ReadSpec, RecentEvents } from './ports.ts'
import { survivorIn } from './survivor.ts'

// Lists that follow the latest events from memory, whether the store has them or not.

/** Joins the lists of persons. Merges that the lists have already change nothing. */
function joinPersons(loaded: LoadedLists, merges: Iterable<readonly [number, number]>): void {
  const { survivorOf } = loaded.merges
  for (const [merged, survivor] of merges) {
    const current = survivorIn(survivorOf, survivor)
    if (current === merged || survivorIn(survivorOf, merged) === current) continue
    loaded.merge(merged, current)
    survivorOf.set(merged, current)
  }
}

/** Whether nothing but events and merges lies between the lists and a record. */
export const canFollow = ({ upTo }: LoadedLists, recent: RecentEvents): boolean => upTo >= recent.from

/** Adds what the lists lack. */
export function followRecent(loaded: LoadedLists, recent: RecentEvents): void {
  joinPersons(loaded, recent.merges(loaded.upTo))
  const batch = recent.events(loaded.upTo)
  loaded.seq = batch.seq.at(-1) ?? loaded.seq
  loaded.upTo = recent.seq
  if (batch.seq.length > 0) loaded.add(resolved(batch, loaded.merges))
}

/** With the numbers of survivors. */
function resolved(batch: EventBatch, { survivorOf }: Merges): EventBatch {
  return survivorOf.size === 0 ? batch : { ...batch, person: batch.person.map((person) => survivorIn(survivorOf, person)) }
}

/** More different values of a column, and longer ones, are not remembered. */
const mostRemembered = 4_000
const longestRemembered = 200

/** By record, what the value of a column depends on, of the latest events behind a record. Null: it depends on more than is known of them. */
export function recentValues(recent: RecentEvents, spec: ReadSpec, after: number): ReadonlyMap<number, string | null> | null {
  if (spec.of !== 'event' || !spec.properties) return null
  const from = Math.max(after, recent.from)
  if (from >= recent.seq) return null
  const values = recent.values(from, spec.properties, spec.isOfName)
  return new Map(Array.from(recent.events(from).seq, (seq, i) => [seq, values[i]!]))
}

/** Remembers what the engine has computed. */
export function remember(
  loaded: LoadedColumn,
  records: Float64Array,
  { values, texts }: ColumnPart,
  known: ReadonlyMap<number, string | null>,
): void {
  for (const [row, record] of records.entries()) {
    const text = known.get(record)
    if (text === undefined || text === null || text.length > longestRemembered || !loaded.memo) continue
    const value = texts ? texts[values[row]!]! : values[row]!
    const before = loaded.memo.get(text)
    if (before !== undefined && !Object.is(before, value)) loaded.memo = null
    else if (loaded.memo.size < mostRemembered) loaded.memo.set(text, value)
  }
}

/** Whether the lists have all that a query reads. What they lack of the latest events is filled in where their values are plain, or were computed before. */
export function hasAll(loaded: LoadedLists, wanted: Pick<ColumnSource, 'columns'>, recent: RecentEvents): boolean {
  const missing = new Map<ReadSpec, readonly (string | number)[]>()
  for (const spec of wanted.columns) {
    if (spec.of === 'made') continue
    if (spec.of === 'key') return false
    if (spec.of === 'person') {
      if ((loaded.ofPersons.get(spec.key)?.seq ?? -1) < loaded.upTo) return false
      continue
    }
    const column = loaded.columns.get(spec.key)
    if (!column) return false
    if (column.seq >= loaded.seq) continue
    const values = valuesOfNew(column, spec, recent)
    if (!values) return false
    missing.set(spec, values)
  }
  for (const [{ key, type }, values] of missing) {
    const found = loaded.columns.get(key)!
    const { person, time, seq } = resolved(recent.events(found.seq), loaded.merges)
    const indexes = Int32Array.from(person, (who, i) => loaded.lists.indexOf(who, time[i]!, seq[i]!))
    if (indexes.includes(-1)) return false
    found.column.write(partOf(type, values), indexes)
    found.seq = loaded.seq
  }
  return true
}

/** Of the events that the column lacks. Null: the engine has to compute some. */
function valuesOfNew({ memo, seq }: LoadedColumn, spec: ReadSpec, recent: RecentEvents): readonly (string | number)[] | null {
  if (spec.of !== 'event' || !spec.properties || seq < recent.from) return null
  const { plain, properties, isOfName } = spec
  if (!memo && !plain) return null
  const values: (string | number)[] = []
  for (const text of recent.values(seq, properties, isOfName)) {
    const value = text === null ? undefined : (plain?.(text) ?? memo?.get(text))
    if (value === undefined) return null
    values.push(value)
  }
  return values
}

function partOf(type: ColumnType, values: readonly (string | number)[]): ColumnPart {
  if (type === 'flags' || type === 'numbers')
    return { values: type === 'flags' ? Uint8Array.from(values as number[]) : Float64Array.from(values as number[]) }
  const texts = [...new Set(values as string[])]
  const codes = new Map(texts.map((text, code) => [text, code]))
  return { values: Int32Array.from(values, (text) => codes.get(text as string)!), texts }
}
