import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { localTime, momentOf, startOfLocalDay } from '../../../src/language/functions/cells/zone-text.ts'
import { isZone, zonePieces } from '../../../src/language/functions/cells/zones.ts'
import type { CellContext } from '../../../src/language/functions/row.ts'
import { scalar } from '../../../src/language/types/types.ts'

let fresh = 0
const context = (timeRange?: readonly [number, number]): CellContext => ({
  type: scalar('DateTime'),
  timezone: 'UTC',
  weekStartDay: 0,
  params: [],
  literal: (text) => `'${text}'`,
  bind: (value) => `'${value}'`,
  fresh: () => `v${++fresh}`,
  refuse: (message) => `error(${message})`,
  within: (_, made) => made,
  timeRange,
})

const zones = [
  'America/New_York',
  'America/Sao_Paulo',
  'America/St_Johns',
  'Africa/Casablanca',
  'Asia/Beirut',
  'Asia/Kathmandu',
  'Asia/Tehran',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Europe/London',
]

let connection: DuckDBConnection
beforeAll(async () => {
  connection = await (await DuckDBInstance.create(':memory:')).connect()
  // Moments beside every change of every zone, and some on ordinary days. About the future Node and DuckDB may carry different tables.
  const moments = new Set<number>()
  for (const zone of zones)
    for (const { from } of zonePieces(zone, 1970, 2025))
      for (const minutes of [-1500, -90, -61, -1, 0, 1, 29, 61, 90, 1500]) moments.add(from + minutes * 60_000_000)
  await connection.run('CREATE TABLE moments (ts TIMESTAMP)')
  await connection.run(`INSERT INTO moments SELECT make_timestamp(us) FROM (SELECT unnest([${[...moments].join(', ')}]) AS us)`)
})
afterAll(() => connection.closeSync())

const differing = async (ours: string, theirs: string): Promise<unknown> =>
  (
    await connection.runAndReadAll(
      `SELECT ts::VARCHAR, (${ours})::VARCHAR, (${theirs})::VARCHAR FROM moments WHERE (${ours}) IS DISTINCT FROM (${theirs}) LIMIT 3`,
    )
  ).getRowsJson()

describe.each(zones)('%s', (zone) => {
  const icu = (text: string) => `timezone('${zone}', timezone('UTC', ${text}))`

  test.each([['ts'], ['(ts + INTERVAL 0 SECOND)']])('local time of %s is what ICU says', async (text) => {
    expect(await differing(localTime(text, zone, context()), icu(text))).toEqual([])
  })
  test('a hint about the range changes nothing', async () => {
    const hint = [Date.UTC(2018, 5, 1), Date.UTC(2018, 6, 1)] as const
    expect(await differing(localTime('(ts + INTERVAL 0 SECOND)', zone, context(hint)), icu('ts'))).toEqual([])
  })
  test('local time and back is the same moment, or the first of two with this local time', async () => {
    const back = momentOf(`(${icu('ts')})`, zone, context([Date.UTC(2014, 0, 1), Date.UTC(2014, 5, 1)]))
    expect(await differing(icu(back), icu('ts'))).toEqual([])
    expect(await differing(`${back} <= ts`, 'true')).toEqual([])
  })
  test.each([['ts'], ['(ts + INTERVAL 0 SECOND)']])(
    'the start of the day of %s has its date, and the second before has not',
    async (text) => {
      const start = startOfLocalDay(text, zone, context())
      const date = (t: string) => `CAST(${icu(t)} AS DATE)`
      expect(await differing(date(start), date('ts'))).toEqual([])
      expect(await differing(`${start} <= ts`, 'true')).toEqual([])
    },
  )
})

test('zones are known by name', () => {
  expect(isZone('Europe/Berlin')).toBe(true)
  expect(isZone('Europe/Nowhere')).toBe(false)
})
