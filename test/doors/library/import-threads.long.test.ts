import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { carryFiles, counted, importFiles } from '../../../src/doors/library/import-files.ts'
import { readTableFile } from '../../../src/engine/storage/files/table-file.ts'
import { open } from '../../../src/engine.ts'
import { openSource } from '../../../src/events/imports/open.ts'
import type { ImportedEvent } from '../../../src/events/imports/record.ts'
import { nameUuid } from '../../../src/lib/ids/name-uuid.ts'
import { finish, run, start } from '../cli/shell.ts'

// Large files, which threads of their own read and prepare, compared with the same files by the main thread; and imports that are killed.

const count = 24_000
const filler = 'f'.repeat(160)
let folder: string
const files: Record<string, string> = {}

const at = (i: number) => new Date(Date.UTC(2026, 0, 5) + ((i * 7_919) % count) * 1_000).toISOString()
const who = (i: number) => `u${(i * 31) % 700}`
const uuid = (i: number) => nameUuid('6ba7b810-9dad-11d1-80b4-00c04fd430c8', String(i % 23_000)) // the last thousand are duplicates
const page = (i: number) => ({
  $current_url: `https://e.org/${i % 90}`,
  $browser: i % 3 ? 'Firefox' : 'Safari',
  n: i % 50,
  filler,
  ...(i % 11 ? {} : { gclid: null }),
})

const exported = (i: number): object => {
  const base = { uuid: uuid(i), distinct_id: who(i), timestamp: at(i) }
  if (i % 40 === 0)
    return {
      ...base,
      event: '$identify',
      properties: { $anon_distinct_id: `anon-${who(i)}`, $set: { plan: i % 2 ? 'pro' : 'free' }, filler },
    }
  if (i % 41 === 0) return { ...base, event: '$create_alias', properties: { alias: `alias-${who(i)}`, filler } }
  if (i % 43 === 0) return { ...base, event: 'left', properties: { $unset: ['plan'], $set_once: { first: i }, filler } }
  if (i % 997 === 0) return { ...base, event: 'x', distinct_id: '$posthog_cookieless', properties: { filler } }
  if (i % 47 === 0) return { ...base, event: 'early', distinct_id: `anon-${who(i)}`, properties: page(i) }
  return { ...base, event: i % 2 ? '$pageview' : 'opened', properties: page(i) }
}
const lines = (of: (i: number) => object | string) =>
  Array.from({ length: count }, (_, i) => (i % 5_000 === 4_999 ? '{"cut' : i % 6_000 === 17 ? '' : JSON.stringify(of(i)))).join('\n')

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'waymark-threads-'))
  const write = (name: string, content: string | Uint8Array) => {
    files[name] = join(folder, name)
    writeFileSync(files[name], content)
  }
  const text = lines(exported)
  write('posthog.jsonl', text)
  write('posthog-packed.jsonl.gz', gzipSync(text))
  write(
    'mixpanel.jsonl',
    lines((i) => ({
      event: 'Bought',
      properties: { time: 1_767_607_200 + ((i * 7_919) % count), distinct_id: who(i), $insert_id: `i${i % 23_000}`, filler, price: i },
    })),
  )
  write(
    'amplitude.jsonl',
    lines((i) => ({
      event_type: 'open',
      user_id: i % 3 ? who(i) : null,
      device_id: `d${i % 900}`,
      event_time: at(i).replace('T', ' ').replace('Z', ''),
      event_properties: { filler, i },
    })),
  )
  write(
    'plain.jsonl',
    lines((i) => ({ user: who(i), action: 'did', time: at(i), filler, n: i })),
  )
  write(
    'table.csv',
    `who,what,when,n,filler\n${Array.from({ length: count }, (_, i) => `${who(i)},${i % 3 ? 'buy' : 'sell'},${at(i)},${i},${filler}`).join('\n')}\n`,
  )
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  files['export.parquet'] = join(folder, 'export.parquet')
  await connection.run(
    `COPY (SELECT uuid, event, distinct_id, timestamp::TIMESTAMP AS timestamp, properties::VARCHAR AS properties
       FROM read_json('${files['posthog.jsonl']}', format = 'newline_delimited', ignore_errors = true, columns = {uuid: 'VARCHAR', event: 'VARCHAR', distinct_id: 'VARCHAR', timestamp: 'VARCHAR', properties: 'JSON'}) WHERE event IS NOT NULL)
       TO '${files['export.parquet']}' (FORMAT parquet)`,
  )
  connection.closeSync()
  instance.closeSync()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The rows of a closed store, without numbers and positions, which depend on how rows were grouped. */
async function stored(data: string): Promise<Record<string, string>> {
  const instance = await DuckDBInstance.create(join(data, 'projects/1/store.duckdb'), { access_mode: 'READ_ONLY' })
  const connection = await instance.connect()
  const digest = async (select: string) =>
    String(
      (
        await connection.runAndReadAll(`SELECT count(*) || ' ' || coalesce(sum(hash(t)::HUGEINT)::VARCHAR, '') FROM (${select}) t`)
      ).getRows()[0]![0],
    )
  const persons =
    '(SELECT p.person_no AS no, p.uuid FROM persons p UNION ALL SELECT m.merged, p.uuid FROM person_merges m JOIN persons p ON p.person_no = m.survivor)'
  const found = {
    events: await digest(
      `SELECT e.uuid, n.name, e.timestamp, e.distinct_id, e.session_id, e.properties, e.person_mode, e.created_at, p.uuid AS person FROM events e JOIN event_names n USING (event_id) JOIN ${persons} p ON p.no = e.person_no`,
    ),
    persons: await digest('SELECT uuid, has_record, created_at, is_identified, updated_at, properties, property_times FROM persons'),
    ids: await digest('SELECT d.distinct_id, p.uuid FROM distinct_ids d JOIN persons p USING (person_no)'),
    names: await digest('SELECT name, count, first_seen, last_seen FROM event_names'),
    keys: await digest('SELECT * FROM property_keys'),
    warnings: await digest('SELECT kind, count FROM warnings'),
  }
  connection.closeSync()
  instance.closeSync()
  return found
}

const clock = () => new Date('2026-03-01T00:00:00Z')

async function imported(name: string, hasThreads: boolean) {
  const data = join(folder, `${name}-${hasThreads}`)
  const waymark = await open({ dataDir: data, clock })
  const { id } = await waymark.createProject({ name: 'Threads' })
  const map = { event: 'what', distinct_id: 'who', timestamp: 'when' }
  const ofPlain = { event: '=did', distinct_id: 'user', timestamp: 'time' }
  const columns = name === 'table.csv' ? { map } : name === 'plain.jsonl' ? { map: ofPlain } : {}
  try {
    if (hasThreads) return { summary: await importFiles(waymark, id, [files[name]!], columns), data }
    const project = await waymark.project(id)
    const mapping = Object.fromEntries(
      Object.entries(columns.map ?? {}).map(([field, from]) => [
        field,
        from.startsWith('=') ? { constant: from.slice(1) } : { column: from },
      ]),
    )
    const store = async (batch: readonly ImportedEvent[]) => {
      const answer = await project.take({ batch, historical_migration: true })
      return { ...answer, warnings: counted(answer.warnings) }
    }
    const source = await openSource(files[name]!, { mapping, readTable: readTableFile })
    return { summary: await carryFiles({ store }, { files: [source] }), data }
  } finally {
    await waymark.close()
  }
}

describe('a large file, read and prepared by threads, gives what the main thread gives', () => {
  test.each([
    'posthog.jsonl',
    'posthog-packed.jsonl.gz',
    'mixpanel.jsonl',
    'amplitude.jsonl',
    'plain.jsonl',
    'table.csv',
    'export.parquet',
  ])('%s', async (name) => {
    const [by, without] = [await imported(name, true), await imported(name, false)]
    expect(by.summary).toEqual(without.summary)
    expect(by.summary.stored).toBeGreaterThan(15_000)
    expect(statSync(files[name]!).size * (/gz|parquet/.test(name) ? 8 : 1), 'large enough for threads').toBeGreaterThan(4 * 1024 ** 2)
    expect(await stored(by.data)).toEqual(await stored(without.data))
  })
})

describe('an import that is killed', () => {
  /** Resolves when the checkpoint has changed so many times, or the process has ended. */
  async function changes(data: string, times: number, isOver: () => boolean): Promise<void> {
    const imports = join(data, 'imports')
    let [seen, last] = [0, '']
    while (seen < times && !isOver()) {
      const [name] = existsSync(imports) ? (await readdir(imports)).filter((one) => one.endsWith('.json')) : []
      const now = name === undefined ? '' : readFileSync(join(imports, name), 'utf8')
      if (now !== last) seen++
      last = now
      await setTimeout(2)
    }
  }

  test('goes on where it was, and stores each event once', async () => {
    const whole = join(folder, 'whole')
    const killed = join(folder, 'killed')
    const args = (data: string) => ['import', files['posthog.jsonl']!, '--data', data, '--project', '1', '--json']
    for (const data of [whole, killed]) await run(['init', '--data', data])
    expect(JSON.parse((await finish(start(args(whole)))).out).stored).toBeGreaterThan(20_000)
    const kills: number[] = []
    for (const times of [1, 1, 2, 3]) {
      const child = start(args(killed))
      let isOver = false
      const ended = finish(child).then(() => {
        isOver = true
      })
      await changes(killed, times, () => isOver)
      if (!isOver) kills.push(times)
      child.kill('SIGKILL')
      await ended
    }
    expect(kills.length).toBeGreaterThan(1)
    const rest = JSON.parse((await finish(start(args(killed)))).out)
    expect(rest.skipped).toBeGreaterThan(0)
    const inTime = async (data: string) => {
      const instance = await DuckDBInstance.create(join(data, 'projects/1/store.duckdb'), { access_mode: 'READ_ONLY' })
      const connection = await instance.connect()
      const rows = await connection.runAndReadAll(
        `SELECT sum(hash(uuid, timestamp, distinct_id, properties)::HUGEINT)::VARCHAR, count(*)::INTEGER,
           (SELECT sum(hash(uuid, created_at, is_identified, list_sort(json_keys(properties)))::HUGEINT)::VARCHAR FROM persons), (SELECT count(*)::INTEGER FROM distinct_ids) FROM events`,
      )
      connection.closeSync()
      instance.closeSync()
      return rows.getRows()[0]
    }
    expect(await inTime(killed)).toEqual(await inTime(whole))
  })
})
