import { WaymarkError } from '../../errors/errors.ts'
import { excerpt } from '../../lib/text/excerpt.ts'
import { otherLimits, type RowLimit, rowLimits } from '../../limits/limits.ts'
import { type AccountStore, type AccountTables, accountShapes, longTables } from './records.ts'
import { invalid } from './refusals.ts'
import type { WritableRows } from './store.ts'

// The table of limits, held by the store itself: a row that is too large, one too many for its owner, and a store that is too full are refused
// by every road of writing. What stands already stays readable and removable, and may change as long as it does not grow.

type Row = Readonly<Record<string, unknown>>
type Rows = WritableRows<Row>

/** Characters of a value: numbers, times and Booleans have none. */
const lengthOf = (value: unknown): number => {
  if (typeof value === 'string') return value.length
  if (value === null || typeof value !== 'object' || value instanceof Date) return 0
  return JSON.stringify(value).length
}
const lengthOfRow = (row: Row): number => Object.values(row).reduce<number>((sum, value) => sum + lengthOf(value), 0)

/** Smaller changes cannot matter. */
const smallChange = 1_000

const ownerOf = (column: string) => column.replace(/_id$/, '').replaceAll('_', ' ')
const count = (value: number) => value.toLocaleString('en-US')
const tooMany = ({ what }: RowLimit, most: number, column: string | null) =>
  new WaymarkError('limit-reached', {
    message: `${column === null ? 'A server' : `One ${ownerOf(column)}`} can have at most ${count(most)} ${what}. Remove some of them first.`,
  })

/** The row, with texts of the server's own cut to what fits. */
const cutToFit = (row: Row, { size }: RowLimit): Row => {
  const texts = Object.entries(row).filter(([, value]) => typeof value === 'string' && value.length > smallChange)
  const others = lengthOfRow(row) - texts.reduce((sum, [, value]) => sum + lengthOf(value), 0)
  const each = Math.floor(Math.max(0, size - others) / Math.max(1, texts.length))
  return { ...row, ...Object.fromEntries(texts.map(([name, value]) => [name, excerpt(String(value), Math.max(0, each - 1))])) }
}

const fitting = (limit: RowLimit, row: Row, before: number): Row => {
  const length = lengthOfRow(row)
  if (length <= limit.size || length <= before) return row
  const cut = limit.cuts ? cutToFit(row, limit) : row
  if (lengthOfRow(cut) <= limit.size) return cut
  throw invalid(
    `This is too large: it has ${count(length)} characters, and the limit for ${limit.what} is ${count(limit.size)}.`,
    null,
    'max_length',
  )
}

/** A table without a row does not compile. */
const limits: { readonly [T in keyof AccountTables]: RowLimit } = rowLimits

const long: ReadonlySet<string> = new Set(longTables)
/** The owners of a row, with how many rows they may have. What belongs to one of several owners names the others as null: those have none of it. */
const ownersOf = ({ per }: RowLimit, row: Row): readonly (readonly [column: string, owner: unknown, most: number])[] => {
  const all = Object.entries(per).map(([column, most]) => [column, row[column] ?? null, most] as const)
  return all.length > 1 && all.some(([, owner]) => owner !== null) ? all.filter(([, owner]) => owner !== null) : all
}
const keyOf = (table: string): string => {
  const shape: Record<string, string> = accountShapes[table as keyof typeof accountShapes]
  return ['id', 'hash', 'key', 'name'].find((name) => name in shape) ?? Object.keys(shape)[0]!
}

/** What the store has: characters of the tables in memory, and rows of owners in the others. */
class Fullness {
  /** Rows by table, column and owner, as they were last counted. */
  readonly counts = new Map<string, number>()
  held = 0
  /** `isShared`: other servers write, too, so nothing is known here. */
  constructor(
    readonly most: number,
    readonly isShared: boolean,
  ) {}

  forget(table: string): void {
    for (const key of this.counts.keys()) if (key.startsWith(`${table} `)) this.counts.delete(key)
  }
}

/** Counts are kept for so many owners. */
const mostCounts = 10_000

/** One table in one transaction. */
class BoundedTable {
  private readonly isHeld: boolean
  constructor(
    private readonly name: string,
    private readonly limit: RowLimit,
    private readonly rows: Rows,
    private readonly fullness: Fullness,
    private readonly change: { held: number },
  ) {
    this.isHeld = !fullness.isShared && !long.has(name)
  }

  find = (...args: Parameters<Rows['find']>) => this.rows.find(...args)
  first = (...args: Parameters<Rows['first']>) => this.rows.first(...args)
  count = (...args: Parameters<Rows['count']>) => this.rows.count(...args)

  insert = async (given: Row): Promise<void> => {
    const row = fitting(this.limit, given, 0)
    const owners = ownersOf(this.limit, row)
    for (const [column, owner, most] of owners) await this.makeRoom(column, owner, most)
    if (this.limit.inAll !== undefined && (await this.rows.count({})) >= this.limit.inAll) throw tooMany(this.limit, this.limit.inAll, null)
    this.hold(lengthOfRow(row))
    await this.rows.insert(row)
    for (const [column, owner] of owners) this.counted(column, owner, 1)
  }

  update = async (where: Row, change: Row): Promise<number> => {
    const grows = lengthOfRow(change) > smallChange
    if (!this.isHeld && !grows) return this.rows.update(where, change)
    const before = await this.rows.find(where)
    let next = change
    for (const row of before) {
      const fit = grows ? fitting(this.limit, { ...row, ...change }, lengthOfRow(row)) : null
      if (fit) next = Object.fromEntries(Object.keys(change).map((name) => [name, fit[name]]))
      for (const name of Object.keys(change)) this.hold(lengthOf(next[name]) - lengthOf(row[name]))
    }
    return this.rows.update(where, next)
  }

  remove = async (where: Row): Promise<number> => {
    if (this.isHeld) for (const row of await this.rows.find(where)) this.hold(-lengthOfRow(row))
    const removed = await this.rows.remove(where)
    if (removed > 0) this.fullness.forget(this.name)
    return removed
  }

  private hold(characters: number): void {
    if (!this.isHeld) return
    this.change.held += characters
    const isAlwaysTaken = this.limit.full !== 'refuse'
    if (characters > 0 && !isAlwaysTaken && this.fullness.held + this.change.held > this.fullness.most)
      throw new WaymarkError('accounts-full', { characters: this.fullness.held, most: this.fullness.most })
  }

  private async makeRoom(column: string, owner: unknown, most: number): Promise<void> {
    const known = this.isHeld || this.fullness.isShared ? undefined : this.fullness.counts.get(this.countOf(column, owner))
    if (known !== undefined && known < most) return
    const there = await this.rows.count({ [column]: owner })
    this.remember(column, owner, there)
    if (there < most) return
    const { full } = this.limit
    if (full === 'refuse') throw tooMany(this.limit, most, column)
    // Some at once, as counting costs more than removing.
    const leaving = there - most + Math.max(1, Math.floor(most / 100))
    const key = keyOf(this.name)
    const oldest = await this.rows.find({ [column]: owner }, { orderBy: [{ column: full.oldest }], limit: leaving })
    await this.remove({ [key]: oldest.map((row) => row[key]) })
  }

  private countOf = (column: string, owner: unknown) => `${this.name} ${column} ${String(owner)}`
  private remember(column: string, owner: unknown, there: number): void {
    if (this.isHeld || this.fullness.isShared) return
    if (this.fullness.counts.size >= mostCounts) this.fullness.counts.clear()
    this.fullness.counts.set(this.countOf(column, owner), there)
  }
  private counted(column: string, owner: unknown, more: number): void {
    const known = this.fullness.counts.get(this.countOf(column, owner))
    if (known !== undefined) this.remember(column, owner, known + more)
  }
}

/** The store, refusing what the table of limits does not allow. `isShared`: other servers write into it, and no table is in memory. */
export async function boundedStore(
  store: AccountStore,
  most: number = otherLimits.heldBytes.number,
  { isShared = false }: { readonly isShared?: boolean } = {},
): Promise<AccountStore> {
  const fullness = new Fullness(most, isShared)
  for (const name of Object.keys(accountShapes) as (keyof AccountTables)[])
    if (!isShared && !long.has(name))
      for (const row of await (store.read[name] as unknown as Rows).find({})) fullness.held += lengthOfRow(row)

  return {
    read: store.read,
    write: async (work) => {
      const change = { held: 0 }
      try {
        const answer = await store.write((tables) =>
          work(
            Object.fromEntries(
              Object.entries(tables).map(([name, rows]) => [
                name,
                new BoundedTable(name, limits[name as keyof AccountTables], rows as unknown as Rows, fullness, change),
              ]),
            ) as unknown as AccountTables,
          ),
        )
        fullness.held += change.held
        return answer
      } catch (error) {
        fullness.counts.clear() // what was counted is rolled back
        throw error
      }
    },
  }
}
