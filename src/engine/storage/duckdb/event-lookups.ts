import { setImmediate } from 'node:timers/promises'
import type { DuckDBDataChunk, DuckDBValue as Value } from '@duckdb/node-api'
import type { EventWriter, FoundGroup, FoundPerson, StoredIdentities } from '../../../events/ingestion/ports.ts'
import type { ChangedValue } from '../../../language/catalog/changed-tables.ts'
import { type Instance, text } from './instance.ts'
import { createStage, type Stage } from './stage.ts'

// Reads of the event writer: rows by their keys, which are staged in temporary tables.

const personFields = `p.person_no AS "personNo", p.uuid::VARCHAR AS uuid, p.has_record AS "hasRecord", epoch_us(p.created_at)::DOUBLE AS "createdAt",
  p.is_identified AS "isIdentified", p.version::DOUBLE AS version, epoch_us(p.updated_at)::DOUBLE AS "updatedAt", p.properties, p.property_times AS "propertyTimes", epoch_us(p.imported_at)::DOUBLE AS "importedAt"`

const ownerFields = 'p.person_no AS "personNo", p.has_record AS "hasRecord", p.size::DOUBLE AS size'
const groupFields = `g.group_type_index::INTEGER AS index, g.group_key AS key, epoch_us(g.created_at)::DOUBLE AS "createdAt",
  epoch_us(g.updated_at)::DOUBLE AS "updatedAt", g.version::DOUBLE AS version, g.properties, g.property_times AS "propertyTimes"`

/**
 * Bytes of texts from which a row is read alone. A scan reads 2,048 rows at a time, with the texts of all of them unless a constant in its condition excludes
 * them: a join would read every large text beside the wanted ones.
 */
const largeSize = 8_192
const bySize = <T extends { readonly size: number }>(rows: readonly T[]): [ordinary: T[], large: T[]] => [
  rows.filter(({ size }) => size <= largeSize),
  rows.filter(({ size }) => size > largeSize),
]

type Connection = Awaited<ReturnType<Instance['connect']>>

/** One connection for reads, one statement after the other. */
export function serialReader(connection: Connection) {
  const wanted = {
    texts: createStage(connection, 'wanted_texts', { text: 'text', number: 'integer' }),
    uuids: createStage(connection, 'wanted_uuids', { uuid: 'uuid' }),
    numbers: createStage(connection, 'wanted_numbers', { number: 'integer' }),
  }
  let reading: Promise<unknown> = Promise.resolve()

  const rows = async (sql: string, parameters?: Value[]) =>
    (await connection.run(sql, parameters)).getRowObjectsJS() as Promise<Record<string, unknown>[]>
  /** Serializes statements on the reader: a stage must not be refilled before it was read. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = reading.then(work, work)
    reading = next
    return next
  }
  const look = <T>(stage: Stage, values: readonly (readonly ChangedValue[])[], sql: string): Promise<T[]> =>
    inTurn(async () => {
      if (values.length === 0) return []
      stage.clear()
      for (const value of values) stage.push(value)
      await stage.finish()
      return (await rows(sql)) as T[]
    })

  const lookNumbers = <T>(numbers: readonly number[], sql: string): Promise<T[]> =>
    look(
      wanted.numbers,
      numbers.map((number) => [number]),
      sql,
    )

  /** One person may have hundreds of thousands of them: they are read in chunks, between which the event loop has turns. */
  const lookPairs = <T, V>(numbers: readonly number[], sql: string, pair: (number: number, value: V) => T): Promise<T[]> =>
    inTurn(async () => {
      if (numbers.length === 0) return []
      wanted.numbers.clear()
      for (const number of numbers) wanted.numbers.push([number])
      await wanted.numbers.finish()
      const result = await connection.run(sql)
      const pairs: T[] = []
      for (;;) {
        const chunk = await result.fetchChunk()
        if (!chunk || chunk.rowCount === 0) return pairs
        const [first, second] = chunk.getColumns() as unknown as [number[], V[]]
        for (const [i, number] of first.entries()) pairs.push(pair(number, second[i]!))
        await setImmediate()
      }
    })

  return {
    connection,
    wanted,
    rows,
    inTurn,
    look,
    lookNumbers,
    lookPairs,
    async close() {
      await reading.catch(() => undefined)
      connection.closeSync()
    },
  }
}

/** Rows of persons, groups and visits by their keys. */
export const lookups = ({ wanted, rows, inTurn, look, lookNumbers, lookPairs }: ReturnType<typeof serialReader>, main: string) =>
  ({
    ownersOfIds: (ids) =>
      look(
        wanted.texts,
        ids.map((id) => [id, 0]),
        `SELECT d.distinct_id AS "distinctId", ${ownerFields} FROM ${main}.distinct_ids d
         JOIN temp.main.wanted_texts w ON w.text = d.distinct_id JOIN ${main}.persons p ON p.person_no = d.person_no`,
      ),
    sizesOf: (numbers) =>
      lookNumbers(numbers, `SELECT ${ownerFields} FROM ${main}.persons p JOIN temp.main.wanted_numbers w ON w.number = p.person_no`),
    async personsByNo(persons) {
      const [ordinary, large] = bySize(persons)
      const found = await lookNumbers<FoundPerson>(
        ordinary.map(({ personNo }) => personNo),
        `SELECT ${personFields} FROM ${main}.persons p JOIN temp.main.wanted_numbers w ON w.number = p.person_no WHERE p.size <= ${largeSize}`,
      )
      for (const { personNo } of large)
        found.push(
          ...((await inTurn(() => rows(`SELECT ${personFields} FROM ${main}.persons p WHERE p.person_no = ${personNo}`))) as never[]),
        )
      return found
    },
    idsOf: (numbers) =>
      lookPairs(
        numbers,
        `SELECT d.person_no, d.distinct_id FROM ${main}.distinct_ids d JOIN temp.main.wanted_numbers w ON w.number = d.person_no`,
        (personNo, distinctId: string) => ({ personNo, distinctId }),
      ),
    mergedInto: (numbers) =>
      lookPairs(
        numbers,
        `SELECT m.merged, m.survivor FROM ${main}.person_merges m JOIN temp.main.wanted_numbers w ON w.number = m.survivor`,
        (merged, survivor: number) => ({ merged, survivor }),
      ),
    familySizes: (numbers) =>
      lookNumbers(
        numbers,
        `SELECT m.person_no AS "personNo", m.family, strlen(f.state)::DOUBLE AS size FROM ${main}.import_members m
         JOIN temp.main.wanted_numbers w ON w.number = m.person_no JOIN ${main}.import_families f ON f.family = m.family`,
      ),
    async families(families) {
      const [ordinary, large] = bySize(families)
      const found = await lookNumbers<{ family: number; state: string }>(
        ordinary.map(({ family }) => family),
        `SELECT f.family, f.state FROM ${main}.import_families f JOIN temp.main.wanted_numbers w ON w.number = f.family`,
      )
      for (const { family } of large)
        found.push(...((await inTurn(() => rows(`SELECT family, state FROM ${main}.import_families WHERE family = ${family}`))) as never[]))
      return found
    },
    personNosOfUuids: (uuids) =>
      look(
        wanted.uuids,
        uuids.map((uuid) => [uuid]),
        `SELECT p.uuid::VARCHAR AS uuid, p.person_no AS "personNo" FROM ${main}.persons p JOIN temp.main.wanted_uuids w ON w.uuid = p.uuid`,
      ),
    groupSizes: (keys) =>
      look(
        wanted.texts,
        keys.map(([index, key]) => [key, index]),
        `SELECT g.group_type_index::INTEGER AS index, g.group_key AS key, g.size::DOUBLE AS size FROM ${main}.groups g
         JOIN temp.main.wanted_texts w ON w.text = g.group_key AND w.number = g.group_type_index`,
      ),
    async groups(groups) {
      const [ordinary, large] = bySize(groups)
      const found = await look<FoundGroup>(
        wanted.texts,
        ordinary.map(({ index, key }) => [key, index]),
        `SELECT ${groupFields} FROM ${main}.groups g
         JOIN temp.main.wanted_texts w ON w.text = g.group_key AND w.number = g.group_type_index WHERE g.size <= ${largeSize}`,
      )
      for (const { index, key } of large) {
        const one = `SELECT ${groupFields} FROM ${main}.groups g WHERE g.group_key = ${text(key)} AND g.group_type_index = ${index}`
        found.push(...((await inTurn(() => rows(one))) as never[]))
      }
      return found
    },
    visits: (keys) =>
      look(
        wanted.texts,
        keys.map((key) => [key, 0]),
        `SELECT v.key, v.day, v.state FROM ${main}.cookieless_visits v JOIN temp.main.wanted_texts w ON w.text = v.key`,
      ),
  }) satisfies Partial<EventWriter>

/** Streams each table once. */
export function storedIdentities({ connection, inTurn, rows }: ReturnType<typeof serialReader>, main: string): StoredIdentities {
  const eachChunk = (sql: string, take: (chunk: DuckDBDataChunk, names: readonly string[]) => void) =>
    inTurn(async () => {
      const result = await connection.stream(sql)
      for (;;) {
        const chunk = await result.fetchChunk()
        if (!chunk || chunk.rowCount === 0) return
        take(chunk, result.deduplicatedColumnNames())
      }
    })
  const each = (sql: string, take: (columns: readonly unknown[][]) => void) => eachChunk(sql, (chunk) => take(chunk.getColumns()))
  const later = (column: string, afterSeq: number) => (afterSeq > 0 ? `WHERE ${column} > ${afterSeq}` : '')
  return {
    async count() {
      const [found] = await inTurn(() => rows(`SELECT count(*)::DOUBLE AS n FROM ${main}.distinct_ids`))
      return found!.n as number
    },
    ids: (afterSeq, take) =>
      each(`SELECT distinct_id, person_no FROM ${main}.distinct_ids ${later('added_seq', afterSeq)}`, ([ids, numbers]) =>
        take(ids as string[], numbers as number[]),
      ),
    persons: (afterSeq, take) =>
      eachChunk(`SELECT ${personFields} FROM ${main}.persons p ${later('changed_seq', afterSeq)}`, (chunk, names) =>
        take(chunk.getRowObjects(names) as unknown as FoundPerson[]),
      ),
    personSizes: (afterSeq, take) =>
      each(`SELECT person_no, has_record, size::DOUBLE FROM ${main}.persons ${later('changed_seq', afterSeq)}`, (columns) =>
        take(...(columns as [number[], boolean[], number[]])),
      ),
    merges: (afterSeq, take) =>
      each(
        afterSeq === 0
          ? `SELECT merged, survivor FROM ${main}.person_merges`
          : `SELECT merged, survivor FROM ${main}.merge_journal WHERE seq > ${afterSeq} ORDER BY seq, rowid`,
        ([merged, survivors]) => take(merged as number[], survivors as number[]),
      ),
  }
}
