import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { finish, run, start } from './shell.ts'

// Files of every format go in by the command, malformed lines and all.

let folder: string
let data: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-files-'))
  data = join(folder, 'data')
  await run(['init', '--data', data])
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const lines = (...rows: (object | string)[]) => rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n')
const at = '2026-01-05T10:00:00Z'

/** Content of a file, what `import` takes beside its name, and the summary: events by name, and the lines that could not be read. */
const formats: Record<string, { file: string; content: string; args?: string[]; events: Record<string, number>; bad: [number, RegExp][] }> =
  {
    'an export of the reference system': {
      file: 'posthog.jsonl',
      content: lines(
        { event: 'paid', distinct_id: 'a', timestamp: at, properties: '{"sum":1}', set: { plan: 'pro' } },
        '',
        '{"event": "cut',
        { event: 'paid', timestamp: at },
        { event: 'left', distinct_id: 'a', timestamp: at },
      ),
      events: { paid: 1, left: 1 },
      bad: [
        [3, /not a JSON object: \{"event": "cut/],
        [4, /no distinct_id/],
      ],
    },
    Mixpanel: {
      file: 'mixpanel.jsonl',
      content: lines(
        { event: '$mp_web_page_view', properties: { time: 1767607200, distinct_id: 'm', $insert_id: 'i1' } },
        { event: 'Bought', properties: { time: 1767607201, distinct_id: 'm', $insert_id: 'i2', price: 3 } },
        { event: 'Bought', properties: { time: 'late', distinct_id: 'm' } },
        { event: 'Bought' },
      ),
      events: { $pageview: 1, Bought: 1 },
      bad: [
        [3, /unreadable time: late/],
        [4, /no properties/],
      ],
    },
    Amplitude: {
      file: 'amplitude.json',
      content: lines(
        { event_type: 'open', user_id: 'u', device_id: 'd', event_time: '2026-01-05 10:00:00.250000', uuid: 'x1' },
        { event_type: 'close', user_id: 'u', device_id: 'd', event_time: '2026-01-05 10:01:00', uuid: 'x2' },
        { user_id: 'u', event_time: at },
        { event_type: 'open', event_time: at },
      ),
      events: { open: 1, close: 1, $identify: 1 },
      bad: [
        [3, /no event_type/],
        [4, /no user_id, device_id or amplitude_id/],
      ],
    },
    'a plain CSV': {
      file: 'table.csv',
      content:
        'who,what,when,price\nc1,buy,2026-01-05 10:00:00,3\nc2,buy,2026-01-05 10:00:01\nc3,buy,2026-01-05 10:00:02,4,5,6\nc4,,2026-01-05 10:00:03,5\nc5,sell,soon,6\nc6,sell,2026-01-05 10:00:04,7\n',
      args: ['--map', 'event=what,distinct_id=who,timestamp=when'],
      events: { buy: 1, sell: 1 },
      bad: [
        [2, /no event name/],
        [3, /unreadable timestamp: soon/],
        [3, /line 3 of the file: Expected Number of Columns: 4 Found: 3/],
        [4, /line 4 of the file: Expected Number of Columns: 4 Found: /],
      ],
    },
    'plain JSON lines': {
      file: 'plain.jsonl',
      content: lines({ user: 'p', time: at, page: '/' }, { user: '', time: at, page: '/' }, '[1, 2]'),
      args: ['--map', 'event==seen,distinct_id=user'],
      events: { seen: 1 },
      bad: [
        [2, /no distinct id/],
        [3, /not a JSON object: \[1, 2\]/],
      ],
    },
    'an access log': {
      file: 'access.log',
      content: lines(
        '1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 12 "-" "Mozilla"',
        'garbage',
        '1.2.3.4 - - [17/Nay/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 12',
        '1.2.3.4 - ann [17/May/2015:10:05:04 +0000] "GET /b HTTP/1.1" 404 -',
      ),
      events: { $pageview: 2 },
      bad: [
        [2, /not a line of an access log/],
        [3, /unreadable time/],
      ],
    },
  }

const summaryOf = async (...args: string[]) => {
  const result = await run(['import', '--data', data, '--project', '1', '--json', ...args])
  if (result.code !== 0) throw new Error(result.err)
  return JSON.parse(result.out)
}

describe.each(Object.entries(formats))('%s', (_, { file, content, args = [], events, bad }) => {
  const stored = Object.values(events).reduce((sum, count) => sum + count, 0)

  test('is looked at, stored, and stored once', async () => {
    const path = join(folder, file)
    await writeFile(path, content)
    const dry = await summaryOf('--dry-run', path, ...args)
    expect(dry).toMatchObject({ stored, events, unreadable: bad.length })
    const summary = await summaryOf(path, ...args)
    expect(summary).toMatchObject({ stored, duplicates: 0, events, unreadable: bad.length })
    expect(summary.problems).toEqual(bad.map(([row, text]) => ({ file, row, problem: expect.stringMatching(text) })))
    await rm(join(data, 'imports'), { recursive: true })
    expect(await summaryOf(path, ...args)).toMatchObject({ stored: 0, duplicates: stored })
  })
})

test('Parquet, of an export and plain, from a packed table of DuckDB itself', async () => {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const [exported, plain] = [join(folder, 'export.parquet'), join(folder, 'plain.parquet')]
  await connection.run(`COPY (SELECT uuid() AS uuid, 'exported' AS event, 'q' || i AS distinct_id, TIMESTAMP '2026-01-01' + to_seconds(i) AS timestamp,
    '{"i":' || i || '}' AS properties FROM range(3000) t(i)) TO '${exported}' (FORMAT parquet, COMPRESSION zstd)`)
  await connection.run(
    `COPY (SELECT i AS "user", 'acted' AS action, epoch_ms(1767607200000 + i) AS ts, i * 1.5 AS size, [i, i + 1] AS pair FROM range(5) t(i)) TO '${plain}' (FORMAT parquet)`,
  )
  connection.closeSync()
  instance.closeSync()
  expect(await summaryOf(exported)).toMatchObject({ rows: 3000, stored: 3000, earliest: '2026-01-01T00:00:00.000Z' })
  expect(await summaryOf(plain)).toMatchObject({ stored: 5, events: { acted: 5 } })
  const answer = await run([
    'query',
    '--data',
    data,
    '--project',
    '1',
    '--format',
    'csv',
    "select properties.size, properties.pair from events where event = 'acted' order by timestamp limit 2 offset 1",
  ])
  expect(answer.out.split('\n').slice(1, 3)).toEqual(['1.5,"[1,2]"', '3.0,"[2,3]"'])
})

test('the report of a dry run is for people, and nothing is stored', async () => {
  const path = join(folder, 'report.jsonl.gz')
  const row = (i: number) => ({
    event: i % 3 ? 'seen' : 'done',
    distinct_id: 'r',
    timestamp: i === 7 ? '2099-01-01T00:00:00Z' : at,
    properties: { i },
  })
  await writeFile(path, gzipSync(lines(...Array.from({ length: 9 }, (_, i) => row(i)), 'no')))
  const { code, out } = await run(['import', '--dry-run', path])
  expect([code, out]).toEqual([
    0,
    `Would be stored  9 events of 10 rows
Read as          posthog  (report.jsonl.gz)
Time             2026-01-05T10:00:00.000Z to 2099-01-01T00:00:00.000Z
  seen                           6
  done                           3
Warning          event_timestamp_in_future: 1
Not readable     1 rows, such as:
  report.jsonl.gz row 10: not a JSON object: no
`,
  ])
})

test('a dry run shows the columns that it chose', async () => {
  const path = join(folder, 'columns.csv')
  await writeFile(path, `user,action,when,price\na,paid,${at},3\n`)
  const args = ['import', '--dry-run', '--map', 'timestamp=when', path]
  const { out } = await run(args)
  expect(out).toContain(
    'Read as          csv: event=action, distinct_id=user, timestamp=when; other columns are properties  (columns.csv)\n',
  )
  expect(JSON.parse((await run([...args, '--json'])).out).files).toEqual([
    { file: 'columns.csv', format: 'csv', columns: { event: 'action', distinct_id: 'user', timestamp: 'when' } },
  ])
})

test('killed in the middle and called again, it stores every event once', async () => {
  const path = join(folder, 'long.jsonl')
  const count = 60_000
  await writeFile(
    path,
    Array.from({ length: count }, (_, i) =>
      JSON.stringify({ event: 'long', distinct_id: `u${i % 500}`, timestamp: new Date(1.7e12 + i).toISOString(), properties: { i } }),
    ).join('\n'),
  )
  const child = start(['import', path, '--data', data, '--project', '1'])
  const ended = finish(child)
  const checkpoint = async (): Promise<number> => {
    for (;;) {
      const names = existsSync(join(data, 'imports')) ? await readdir(join(data, 'imports')) : []
      for (const name of names.filter((one) => one.endsWith('.json'))) {
        const { rows } = JSON.parse((await readFile(join(data, 'imports', name), 'utf8').catch(() => '{}')) || '{}')
        if (rows >= 10_000) return rows
      }
      if (child.exitCode !== null) throw new Error('it was done before it could be killed')
      await new Promise((resume) => setImmediate(resume))
    }
  }
  const before = await checkpoint()
  child.kill('SIGKILL')
  expect((await ended).code).toBeNull()
  const again = await summaryOf(path)
  expect(again.skipped).toBeGreaterThanOrEqual(before)
  expect(again.skipped + again.stored + again.duplicates).toBe(count)
  const answer = await run([
    'query',
    '--data',
    data,
    '--project',
    '1',
    '--format',
    'csv',
    "select count(), uniq(properties.i) from events where event = 'long'",
  ])
  expect(answer.out.split('\n')[1]).toBe(`${count},${count}`)
  expect(await summaryOf(path)).toMatchObject({ skipped: count, stored: 0 })
})

// Real data, where it is at hand.
const shared = join(import.meta.dirname, '../../../../shared/data')
test.skipIf(!existsSync(shared))(
  'a real access log and real edits',
  async () => {
    expect(await summaryOf(join(shared, 'apache_access.log'))).toMatchObject({
      rows: 10_000,
      stored: 10_000,
      events: { $pageview: 10_000 },
      unreadable: 0,
    })
    const edits = await summaryOf('--dry-run', '--map', 'event==edit,distinct_id=user', join(shared, 'wikipedia_edits.json.gz'))
    expect(edits).toMatchObject({ rows: 39_244, stored: 39_244, events: { edit: 39_244 }, unreadable: 0 })
  },
  60_000,
)
