import type { DuckDBConnection } from '@duckdb/node-api'
import type { HistoryAsked, PersonVersion } from '../../../../language/catalog/person-history.ts'
import { importKeyOf, readRanges } from '../../../../language/catalog/removals.ts'
import { identifier, text } from '../instance.ts'

/** Versions of all numbers that were merged into the person, too. */
export async function readHistory(
  connection: DuckDBConnection,
  database: string,
  { person, after, limit }: HistoryAsked,
): Promise<PersonVersion[]> {
  const main = `${identifier(database)}.main`
  const numbers = (
    await connection.runAndReadAll(
      `WITH own AS (SELECT person_no FROM ${main}.persons WHERE uuid = ${text(person)}::UUID)
       SELECT person_no FROM own UNION SELECT merged FROM ${main}.person_merges WHERE survivor IN (SELECT person_no FROM own)`,
    )
  ).getColumns()[0] as number[] | undefined
  if (!numbers?.length) return []
  const later = after ? `AND (log_seq > ${after.seq} OR (log_seq = ${after.seq} AND person_no > ${after.personNo}))` : ''
  const page = (
    await connection.runAndReadAll(
      `SELECT log_seq::DOUBLE, person_no, properties FROM ${main}.person_versions
       WHERE person_no IN (${numbers.join(', ')}) ${later} ORDER BY log_seq, person_no LIMIT ${limit}`,
    )
  ).getRowsJS() as [number, number, string][]
  if (page.length === 0) return []
  const times = (
    await connection.runAndReadAll(
      `SELECT log_seq::DOUBLE, epoch_us(created_at)::DOUBLE FROM ${main}.events
       WHERE log_seq BETWEEN ${page[0]![0]} AND ${page.at(-1)![0]} AND log_seq IN (${page.map(([seq]) => seq).join(', ')})`,
    )
  ).getRowsJS() as [number, number][]
  const timeOf = new Map(times)
  return page.map(([seq, personNo, properties]) => ({ seq, personNo, changedAt: dateOf(timeOf.get(seq)), properties }))
}

export async function countImportedEvents(connection: DuckDBConnection, database: string, id: string): Promise<number> {
  const main = `${identifier(database)}.main`
  const rows = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJS()
  const stored = await rows(`SELECT value FROM ${main}.meta WHERE starts_with(key, ${text(importKeyOf(id))})`)
  const ranges = stored.flatMap(([value]) => readRanges(value as string))
  if (ranges.length === 0) return 0
  const values = ranges.map(([first, last]) => `(${first}::BIGINT, ${last}::BIGINT)`).join(', ')
  const [[count] = [0]] = await rows(
    `SELECT count(*) FROM ${main}.events e ASOF JOIN (VALUES ${values}) r(first, last) ON e.log_seq >= r.first WHERE e.log_seq <= r.last`,
  )
  return Number(count)
}

export const countRemovedEvents = async (connection: DuckDBConnection, database: string): Promise<number> =>
  Number((await connection.runAndReadAll(`SELECT count(*) FROM ${identifier(database)}.main.removed_events`)).getRowsJS()[0]![0])

const dateOf = (micros: number | undefined): Date | null => (micros === undefined ? null : new Date(micros / 1000))
