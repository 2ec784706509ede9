import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ExportRun, Sink } from '../../../src/service/exports/destinations/destination.ts'
import { postgres } from '../../../src/service/exports/destinations/postgres.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'
import { type Postgres, startPostgres, whyNoPostgres } from '../../harness/postgres.ts'
import { outside } from './shop.ts'

// Runs with any rows, in any tables, attempted any number of times: each table has the rows of a map from identities to rows, whichever road they took.

const why = whyNoPostgres()
if (why) console.warn(`NOT RUN: roads of exports to PostgreSQL: ${why}`)

const { signal } = new AbortController()

interface Row {
  readonly uuid: string
  readonly n: number
}
interface Attempt {
  readonly files: readonly (readonly Row[])[]
  /** What happens at the end: all of it is published, and perhaps not recorded, so that it comes again; the run fails; the connection is lost. */
  readonly end: 'published' | 'published twice' | 'discarded' | 'cut'
}

/** Few, so that runs meet: hexadecimal letters would be compared in another case by a table of texts. */
const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const row = fc.record({ uuid: fc.integer({ min: 0, max: 12 }).map(uuid), n: fc.nat(1_000_000) })
const attempt = fc.record({
  files: fc.array(fc.array(row, { minLength: 1, maxLength: 5 }), { maxLength: 4 }),
  end: fc.constantFrom('published', 'published', 'published twice', 'discarded', 'cut'),
})

/** Tables that an export may find, and what each needs beforehand. */
const tables: Readonly<Record<string, readonly string[]>> = {
  'none yet': [],
  'a primary key': ['CREATE TABLE t (uuid uuid PRIMARY KEY, n bigint)'],
  'a text as the key, and a column more': ["CREATE TABLE t (own text DEFAULT 'mine', uuid varchar(200) UNIQUE NOT NULL, n bigint)"],
  'two unique indexes': ['CREATE TABLE t (uuid uuid PRIMARY KEY, n bigint)', 'CREATE UNIQUE INDEX ON t (uuid)'],
  'no index': ['CREATE TABLE t (uuid uuid, n bigint)'],
  'an index that is not unique': ['CREATE TABLE t (uuid uuid, n bigint)', 'CREATE INDEX ON t (uuid)'],
  'a constraint that is checked at the end': ['CREATE TABLE t (uuid uuid UNIQUE DEFERRABLE INITIALLY DEFERRED, n bigint)'],
  'an index over some rows': ['CREATE TABLE t (uuid uuid, n bigint)', 'CREATE UNIQUE INDEX ON t (uuid) WHERE n < 500000'],
  'an index over an expression': ['CREATE TABLE t (uuid uuid, n bigint)', 'CREATE UNIQUE INDEX ON t (uuid, (n % 1))'],
  partitions: [
    'CREATE TABLE t (uuid uuid PRIMARY KEY, n bigint) PARTITION BY HASH (uuid)',
    'CREATE TABLE t0 PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER 0)',
    'CREATE TABLE t1 PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER 1)',
  ],
  'a view': ['CREATE TABLE base (uuid uuid PRIMARY KEY, n bigint)', 'CREATE VIEW t AS SELECT uuid, n FROM base'],
  'a rule': [
    'CREATE TABLE t (uuid uuid PRIMARY KEY, n bigint)',
    'CREATE TABLE noted (uuid uuid)',
    'CREATE RULE note AS ON INSERT TO t DO ALSO INSERT INTO noted SELECT NEW.uuid',
  ],
  'row security': [
    'CREATE TABLE t (uuid uuid PRIMARY KEY, n bigint)',
    'ALTER TABLE t ENABLE ROW LEVEL SECURITY',
    'ALTER TABLE t FORCE ROW LEVEL SECURITY',
    'CREATE POLICY everything ON t USING (true) WITH CHECK (true)',
  ],
}

describe.skipIf(why !== null)('each row once', () => {
  let server: Postgres
  const folder = mkdtempSync(join(tmpdir(), 'waymark-roads-'))
  beforeAll(async () => {
    server = await startPostgres()
    await say('CREATE ROLE writer LOGIN', 'SET search_path = roads, public')
  })
  afterAll(async () => {
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const say = (...statements: readonly string[]) => server.sql.run(`CREATE TABLE IF NOT EXISTS public.unused(); ${statements.join('; ')}`)
  const found = async () =>
    (await server.sql.rows('SELECT uuid::text AS uuid, n::int AS n FROM t ORDER BY 1, 2')).map((one) => `${one.uuid} ${one.n}`)

  const open = (run: Partial<ExportRun>): Promise<Sink> =>
    postgres.open(
      postgres.config.parse({
        host: '127.0.0.1',
        port: server.port,
        user: 'writer',
        password: 'any',
        database: 'postgres',
        schema: 'roads',
        table_name: 't',
      }),
      {
        id: 'r',
        export_id: 'e',
        project_id: 1,
        model: 'events',
        attempt: 1,
        key: 'k',
        start: null,
        end: new Date(),
        isBackfill: false,
        columns: [
          { name: 'uuid', type: 'uuid' },
          { name: 'n', type: 'integer' },
        ],
        identity: ['uuid'],
        ...run,
      },
      outside,
      signal,
    )

  async function make({ files, end }: Attempt, run: Partial<ExportRun>): Promise<void> {
    const sink = await open(run)
    for (const [index, rows] of files.entries()) {
      const path = join(folder, `${index}.csv`)
      writeFileSync(path, rows.map(({ uuid, n }) => `${uuid}\t${n}\n`).join(''))
      await sink.write({ path, index, rows: rows.length, bytes: 1, format: 'CSV', compression: null }, signal)
    }
    if (end === 'cut') {
      await server.sql.rows("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'waymark'")
      await expect(sink.publish(signal)).rejects.toMatchObject({ isRetryable: true })
    } else if (end !== 'discarded') await sink.publish(signal)
    await sink.discard(signal)
    if (end === 'published twice') await make({ files, end: 'published' }, run)
  }

  const isDone = ({ end }: Attempt) => end === 'published' || end === 'published twice'

  test.each(Object.keys(tables))('%s', async (name) => {
    await assertGenerated(
      fc.asyncProperty(fc.array(attempt, { minLength: 1, maxLength: 4 }), fc.constantFrom('events', 'persons'), async (attempts, model) => {
        await say(
          'DROP SCHEMA IF EXISTS roads CASCADE',
          'CREATE SCHEMA roads AUTHORIZATION writer',
          'SET ROLE writer',
          ...tables[name]!,
          'RESET ROLE',
        )
        const expected = new Map<string, number>()
        for (const one of attempts) {
          await make(one, { model: model as 'events' })
          if (isDone(one)) for (const { uuid, n } of one.files.flat()) expected.set(uuid, n)
          expect(await found()).toEqual([...expected].map(([uuid, n]) => `${uuid} ${n}`).sort())
        }
        if (name !== 'a rule') return
        const noted = await server.sql.rows('SELECT DISTINCT uuid::text AS uuid FROM noted ORDER BY 1')
        expect(noted.map((one) => one.uuid)).toEqual([...expected.keys()].sort())
      }),
      { numRuns: 10 },
    )
  })
})
