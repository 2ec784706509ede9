import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type EngineChoice, type LocalWaymark, open } from '../../src/engine.ts'
import type { LocalProject } from '../../src/project.ts'
import type { RowSelection } from '../../src/service/exports/ports.ts'
import { usualColumns } from '../../src/service/exports/writing/columns.ts'
import { hasClickHouse, testLayout } from './chdb.ts'
import { type ClickHouseHttpServer, startClickHouseServer } from './http-server.ts'

// Files of batch exports from ClickHouse, beside those that the embedded engine writes.

const uuidOf = (i: number) => `018f0000-0000-7000-8000-${String(i).padStart(12, '0')}`
const hour = 3_600_000

async function rowsIn(path: string, format: string): Promise<Record<string, unknown>[]> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    const from = format === 'Parquet' ? `read_parquet('${path}')` : `read_json('${path}', format = 'newline_delimited')`
    return (await connection.runAndReadAll(`FROM ${from}`)).getRowObjectsJson() as Record<string, unknown>[]
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

describe.skipIf(!hasClickHouse)('on ClickHouse', () => {
  const folder = mkdtempSync(join(tmpdir(), 'waymark-clickhouse-exports-'))
  const clock = { now: Date.UTC(2026, 0, 5, 10, 10) }
  const reports: unknown[] = []
  let server: ClickHouseHttpServer
  let waymarks: readonly [onServer: LocalWaymark, embedded: LocalWaymark]
  let projects: readonly [LocalProject, LocalProject]

  beforeAll(async () => {
    server = await startClickHouseServer()
    const { origin, username, password } = new URL(server.url)
    const clickhouse = { url: origin, username, password: decodeURIComponent(password), ...testLayout }
    const started = async (name: string, engine?: EngineChoice) =>
      open({
        dataDir: join(folder, name),
        threads: 1,
        clock: () => new Date(clock.now),
        exports: { runs: false },
        onError: (error) => reports.push(error),
        ...(engine && { engine, isolate: true }), // as `waymark serve` runs it
      })
    waymarks = [await started('server', { clickhouse }), await started('embedded')]
    projects = [await waymarks[0].createProject({ name: 'Shop' }), await waymarks[1].createProject({ name: 'Shop' })]
    for (const project of projects) await send(project, 0, 60)
  })
  afterAll(async () => {
    for (const waymark of waymarks) await waymark.close()
    await server.close()
    rmSync(folder, { recursive: true, force: true })
    expect(reports).toEqual([])
  })

  const send = async (project: LocalProject, from: number, count: number) => {
    const batch = Array.from({ length: count }, (_, n) => {
      const i = from + n
      return {
        uuid: uuidOf(i),
        event: i % 3 === 0 ? 'purchase' : '$pageview',
        distinct_id: `user ${i % 7}`,
        timestamp: new Date(Date.UTC(2026, 0, 5, 9) + i * 1_000 + (i % 4) * 0.25).toISOString(),
        properties: {
          $session_id: uuidOf(i % 5),
          $current_url: `https://acme.test/${i % 4}`,
          price: i / 3,
          big: 2 ** 53 - i,
          note: `"quoted", 'single' \\ \t\nünï 🙂 ${i}`,
          list: [i, { deep: null }],
          ...(i % 7 === 0 && { $set: { plan: 'pro' }, $set_once: { first: i } }),
        },
      }
    })
    await project.ingest({ batch })
  }

  const selectionOf = async (project: LocalProject, changed: Partial<RowSelection> = {}): Promise<RowSelection> => ({
    model: 'events',
    fields: usualColumns[changed.model ?? 'events'],
    where: null,
    tableAlias: null,
    filters: null,
    include: [],
    exclude: [],
    range: { by: 'arrival', after: 0, to: await project.exportRows.positionAt(new Date(clock.now + 1), 0) },
    ...changed,
  })

  let files = 0
  async function staged(
    project: LocalProject,
    changed: Partial<RowSelection>,
    format: 'JSONLines' | 'Parquet',
    compression: 'gzip' | 'zstd' | null,
  ) {
    const selection = await selectionOf(project, changed)
    const place = join(folder, project === projects[0] ? 'server' : 'embedded', 'staging', String(files++))
    mkdirSync(place, { recursive: true })
    const { rows, keys } = await project.exportRows.measure(selection)
    const path = join(place, `rows.${format === 'Parquet' ? 'parquet' : compression === 'gzip' ? 'jsonl.gz' : 'jsonl'}`)
    const part = keys && { after: keys[0] - 1, to: keys[1] }
    const written = await project.exportRows.stage(selection, part, { path, format, compression })
    expect(readdirSync(place), 'nothing else is left').toHaveLength(1)
    expect(written.rows).toBe(rows)
    const columns = await project.exportRows.columns(selection)
    const found = (await rowsIn(path, format)).map((row) => JSON.stringify(row))
    return { columns, rows: found.sort(), count: rows }
  }

  const query = [
    { expression: 'uuid', alias: 'id' },
    { expression: 'properties.price', alias: 'price' },
    { expression: 'toFloat(properties.price) * 2', alias: 'double' },
    { expression: 'toInt(properties.big)', alias: 'big' },
    { expression: 'timestamp', alias: 'at' },
    { expression: 'toDate(timestamp)', alias: 'day' },
    { expression: "event = 'purchase'", alias: 'bought' },
    { expression: "splitByChar('/', properties.$current_url)", alias: 'parts' },
    { expression: 'person.properties.plan', alias: 'plan' },
  ]
  const time = { by: 'time', start: '2026-01-05T09:00:02Z', end: '2026-01-05T09:00:31Z', to: 50 } as const
  const selections: readonly (readonly [name: string, changed: Partial<RowSelection>])[] = [
    ['events', {}],
    ['some events', { include: ['purchase'], where: 'toFloat(properties.price) > 4' }],
    ['events by their time', { range: time }],
    ['columns of a query', { fields: query }],
    ['persons', { model: 'persons' }],
    ['persons who changed since', { model: 'persons', range: { by: 'arrival', after: 50, to: 60 } }],
    ['sessions', { model: 'sessions' }],
    ['no rows', { include: ['never'] }],
  ]
  test.each(
    selections.flatMap(([name, changed]) => [
      [name, 'JSONLines', null, changed] as const,
      [name, 'JSONLines', 'gzip', changed] as const,
      [name, 'Parquet', 'zstd', changed] as const,
    ]),
  )('%s as %s (%s): the same rows with the same types as in an embedded store', async (name, format, compression, changed) => {
    const [onServer, embedded] = [
      await staged(projects[0], changed, format, compression),
      await staged(projects[1], changed, format, compression),
    ]
    expect(onServer).toEqual(embedded)
    expect(onServer.count > 0).toBe(name !== 'no rows')
  })

  test('intervals follow each other: each event is in the files of one run, also what comes in between', async () => {
    const [waymark] = waymarks
    const { accounts, exports } = waymark
    const { user, organization } = await accounts.firstStart({ makesKey: false })
    const membership = (await accounts.organizations.membership(organization.id, user))!
    const record = (await accounts.projects.byId(projects[0].id))!
    const destination = { type: 'LocalFiles', config: { file_format: 'JSONLines', prefix: 'archive' } }
    await exports.service.create({ user, membership }, record, { name: 'x', interval: 'hour', destination })
    await send(projects[0], 100, 20)
    for (let round = 0; round < 3; round++) {
      clock.now += hour
      await send(projects[0], 200 + round * 10, 10)
      for (let i = 0; i < 4; i++) {
        await exports.scheduler.tick()
        await exports.scheduler.settled()
      }
    }
    clock.now += hour
    for (let i = 0; i < 4; i++) {
      await exports.scheduler.tick()
      await exports.scheduler.settled()
    }
    const place = join(folder, 'server', 'exports', 'archive')
    const names = readdirSync(place).filter((name) => !name.includes('manifest'))
    const uuids = names.flatMap((name) =>
      readFileSync(join(place, name), 'utf8')
        .split('\n')
        .flatMap((line) => (line === '' ? [] : [JSON.parse(line).uuid as string])),
    )
    const expected = [...Array.from({ length: 20 }, (_, i) => 100 + i), ...Array.from({ length: 30 }, (_, i) => 200 + i)].map(uuidOf)
    expect(uuids.filter((uuid) => uuid >= uuidOf(100)).sort()).toEqual(expected)
    expect(new Set(uuids).size).toBe(uuids.length)
    expect(names.length).toBeGreaterThan(2)
  })
})
