import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterEach, describe, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import type { LocalProject } from '../../../src/project.ts'
import type { ExportRun, Outside } from '../../../src/service/exports/destinations/destination.ts'
import { localFiles } from '../../../src/service/exports/destinations/local-files.ts'
import type { RowSelection } from '../../../src/service/exports/ports.ts'
import { runExport } from '../../../src/service/exports/running/run.ts'
import { usualColumns } from '../../../src/service/exports/writing/columns.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})
const folder = () => {
  const made = mkdtempSync(join(tmpdir(), 'waymark-exports-'))
  folders.push(made)
  return made
}

const rowsOf = async (sql: string): Promise<Record<string, unknown>[]> => {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    return (await connection.runAndReadAll(sql)).getRowObjectsJson() as Record<string, unknown>[]
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

const events = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => ({
    event: i % 3 === 0 ? 'purchase' : 'pageview',
    distinct_id: `user ${(from + i) % 7}`,
    timestamp: new Date(Date.UTC(2026, 0, 5, 10) + (from + i) * 1000).toISOString(),
    properties: { price: from + i, $set: { plan: 'pro' }, note: `"quoted", 'single'\n${from + i}` },
  }))

const everything = (to: number): RowSelection => ({
  model: 'events',
  fields: usualColumns.events,
  where: null,
  tableAlias: null,
  filters: null,
  include: [],
  exclude: [],
  range: { by: 'arrival', after: 0, to },
})

const start = new Date('2026-01-05T10:00:00Z')
const end = new Date('2026-01-05T11:00:00Z')
const runWith = (columns: ExportRun['columns']): ExportRun => ({
  id: 'r1',
  export_id: 'e1',
  project_id: 1,
  model: 'events',
  attempt: 1,
  key: 'e1-1',
  start,
  end,
  isBackfill: false,
  columns,
  identity: ['uuid'],
})

const outside = (localFolder: string): Outside => ({
  clock: () => new Date(),
  lookup: () => {
    throw new Error('no names here')
  },
  mustBeAllowed: () => {},
  localFolder,
})

interface Exported {
  readonly waymark: LocalWaymark
  readonly project: LocalProject
  readonly dataDir: string
  /** Exports a selection to local files, and returns the rows as DuckDB reads them back. */
  readonly rows: (selection: RowSelection, config?: object) => Promise<Record<string, unknown>[]>
}

async function withProject(isolate: boolean, work: (given: Exported) => Promise<void>): Promise<void> {
  const dataDir = folder()
  const waymark = await open({ dataDir, isolate, threads: 2, memoryLimit: '512MB', exports: { runs: false } })
  try {
    const project = await waymark.createProject({ name: 'Shop' })
    let runs = 0
    const rows: Exported['rows'] = async (selection, given = { file_format: 'Parquet' }) => {
      const prefix = `run ${runs++}`
      const config = localFiles.config.parse({ prefix, ...given })
      const target = join(dataDir, 'exports')
      const columns = await project.exportRows.columns(selection)
      const done = await runExport({
        rows: project.exportRows,
        selection,
        destination: localFiles,
        config,
        run: { ...runWith(columns), model: selection.model },
        outside: outside(target),
        stagingFolder: join(dataDir, 'staging', 'r1'),
        signal: new AbortController().signal,
        onProgress: async () => {},
      })
      const names = readdirSync(join(target, prefix))
      const manifest = JSON.parse(readFileSync(join(target, prefix, names.find((name) => name.endsWith('.manifest.json'))!), 'utf8'))
      const files: { name: string; rows: number; bytes: number }[] = manifest.files
      expect(files.map(({ name }) => name).sort()).toEqual(names.filter((name) => !name.endsWith('.json')).sort())
      expect(files.reduce((sum, file) => sum + file.rows, 0)).toBe(done.rows)
      expect(done.rows).toBe(done.total)
      for (const { name, bytes } of files) expect(statSync(join(target, prefix, name)).size).toBe(bytes)
      expect(existsSync(join(dataDir, 'staging', 'r1'))).toBe(false)
      if (files.length === 0) return []
      const glob = `'${join(target, prefix, names.find((name) => !name.endsWith('.json'))!.replace(/-\d+\./, '-*.'))}'`
      return rowsOf(`FROM ${'file_format' in given && given.file_format === 'Parquet' ? `read_parquet(${glob})` : `read_json(${glob})`}`)
    }
    await work({ waymark, project, dataDir, rows })
  } finally {
    await waymark.close()
  }
}

const now = () => new Date(Date.now() + 3_600_000)
const position = ({ project }: Exported) => project.exportRows.positionAt(now(), 0)

describe.each([{ isolate: false }, { isolate: true }])('with the engine in another process: $isolate', ({ isolate }) => {
  test('every event is in the files once, as the source has it', async () => {
    await withProject(isolate, async (given) => {
      const { project, rows } = given
      for (let i = 0; i < 6; i++) await project.ingest({ batch: events(1000, i * 1000) })
      const selection = everything(await position(given))
      const source = (await project.query({
        kind: 'SqlLikeQuery',
        query:
          'select toString(uuid), event, distinct_id, timestamp, toString(person_id), toInt(properties.price) from events order by uuid limit 10000',
      })) as unknown as { results: unknown[][] }
      for (const settings of [
        { file_format: 'Parquet', compression: 'zstd' },
        { file_format: 'Parquet', max_file_size_mb: 0.05 },
        { file_format: 'JSONLines', compression: 'gzip', max_file_size_mb: 0.01 },
        { file_format: 'JSONLines' },
      ]) {
        const found = await rows(selection, settings)
        const shown = found
          .map((row) => [
            row.uuid,
            row.event,
            row.distinct_id,
            new Date(`${String(row.timestamp).replace(' ', 'T').replace(/Z?$/, 'Z')}`).toISOString(),
            row.person_id,
            priceOf(row.properties),
          ])
          .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))
        const expected = source.results.map(([uuid, event, id, time, ...rest]) => [
          uuid,
          event,
          id,
          new Date(String(time)).toISOString(),
          ...rest,
        ])
        expect(shown).toEqual(expected)
        expect(new Set(found.map((row) => String(row.team_id)))).toEqual(new Set([String(project.id)]))
        expect(found.every((row) => JSON.stringify(row.person_properties).includes('pro'))).toBe(true)
      }
    })
  })
})

const priceOf = (properties: unknown) => Number((typeof properties === 'string' ? JSON.parse(properties) : properties).price)

describe('which rows', () => {
  test('events that arrived between two positions, whatever their time; include, exclude, filters and conditions', async () => {
    await withProject(false, async (given) => {
      const { project, rows } = given
      await project.ingest({ batch: events(10) })
      const middle = await position(given)
      await project.ingest({ batch: events(6, 100).map((event) => ({ ...event, timestamp: '2020-01-01T00:00:00Z' })) })
      const end = await position(given)
      const names = async (change: Partial<RowSelection>) => {
        const found = await rows({ ...everything(end), ...change })
        return found.map((row) => priceOf(row.properties))
      }
      expect(await names({ range: { by: 'arrival', after: middle, to: end } })).toEqual([100, 101, 102, 103, 104, 105])
      expect(await names({ range: { by: 'arrival', after: end, to: end } })).toEqual([])
      expect(await names({ include: ['purchase'] })).toEqual([0, 3, 6, 9, 100, 103])
      expect(await names({ exclude: ['purchase'], range: { by: 'arrival', after: 0, to: middle } })).toEqual([1, 2, 4, 5, 7, 8])
      expect(await names({ where: 'toInt(properties.price) > 103' })).toEqual([104, 105])
      expect(await names({ filters: [{ type: 'event', key: 'price', operator: 'lt', value: 2 }] })).toEqual([0, 1])
      const range = { by: 'time', start: '2026-01-05T10:00:02Z', end: '2026-01-05T10:00:05Z', to: end } as const
      expect(await names({ range })).toEqual([2, 3, 4])
      expect(await names({ range: { ...range, start: null, end: '2026-01-05T10:00:01Z' } })).toEqual([0, 100, 101, 102, 103, 104, 105])
    })
  })

  test('columns of a query keep the types of their values', async () => {
    await withProject(false, async (given) => {
      const { project, rows } = given
      await project.ingest({
        batch: [
          {
            event: 'a',
            distinct_id: 'x',
            uuid: '018f0000-0000-7000-8000-000000000001',
            timestamp: '2026-01-05T10:00:00.123456Z',
            properties: { price: 12.5, name: 'Ann', isNew: true, tags: ['x', 'y'] },
          },
        ],
      })
      const fields = [
        { expression: 'e.uuid', alias: 'id' },
        { expression: "concat(event, '!')", alias: 'loud' },
        { expression: 'properties.price', alias: 'price' },
        { expression: 'properties.name', alias: 'name' },
        { expression: 'properties.isNew', alias: 'new' },
        { expression: 'properties.tags', alias: 'tags' },
        { expression: 'timestamp', alias: 'at' },
        { expression: 'toFloat(properties.price) * 2', alias: 'double' },
      ]
      const selection = { ...everything(await position(given)), fields, tableAlias: 'e' }
      const [line] = await rows(selection, { file_format: 'JSONLines' })
      expect(line).toMatchObject({ loud: 'a!', price: '12.5', name: 'Ann', new: 'true', tags: '["x","y"]', double: 25 })
      expect(await rows(selection)).toMatchObject([
        { loud: 'a!', price: '12.5', name: 'Ann', new: 'true', tags: '["x","y"]', at: '2026-01-05 10:00:00.123456', double: 25 },
      ])
      const columns = await project.exportRows.columns(selection)
      expect(columns.map(({ type }) => type)).toEqual(['uuid', 'text', 'text', 'text', 'text', 'text', 'time', 'float'])
    })
  })

  test('distinct ids of persons who changed: properties, new ids, merges, imports', async () => {
    await withProject(false, async (given) => {
      const { project, rows } = given
      let last = 0
      const changed = async () => {
        const to = await position(given)
        const range = { by: 'arrival', after: last, to } as const
        last = to
        const found = await rows({ ...everything(to), model: 'persons', fields: usualColumns.persons, range })
        return found.map((row) => [row.distinct_id, JSON.parse(String(row.properties)).plan ?? null]).sort()
      }
      const send = (event: string, distinct_id: string, properties: object = {}) =>
        project.ingest({ batch: [{ event, distinct_id, properties }] })
      await send('a', 'ann', { $set: { plan: 'free' } })
      await send('a', 'ben')
      await send('a', 'nobody', { $process_person_profile: false })
      expect(await changed()).toEqual([
        ['ann', 'free'],
        ['ben', null],
      ])
      await send('a', 'ben')
      expect(await changed()).toEqual([])
      await send('$set', 'ann', { $set: { plan: 'pro' } })
      expect(await changed()).toEqual([['ann', 'pro']])
      await send('$identify', 'ann', { $anon_distinct_id: 'anon-1' })
      expect(await changed()).toContainEqual(['anon-1', 'pro'])
      await send('a', 'anon-2', { $set: { color: 'red' } })
      await changed()
      await send('$identify', 'ben', { $anon_distinct_id: 'anon-2' })
      expect(await changed()).toEqual([
        ['anon-2', null],
        ['ben', null],
      ])
      await project.importPersons([{ distinct_ids: ['zoe', 'zoe-2'], properties: { plan: 'team' } }])
      expect(await changed()).toEqual([
        ['zoe', 'team'],
        ['zoe-2', 'team'],
      ])
      await send('a', 'nobody')
      expect(await changed()).toEqual([['nobody', null]])
    })
  })

  test('sessions with new events, as they are now', async () => {
    await withProject(false, async (given) => {
      const { project, rows } = given
      const session = (n: number) => `018f0000-0000-7000-8000-00000000000${n}`
      const view = (n: number, minute: number) => ({
        event: '$pageview',
        distinct_id: `u${n}`,
        timestamp: `2026-01-05T10:${String(minute).padStart(2, '0')}:00Z`,
        properties: { $session_id: session(n), $current_url: `https://x.example/${minute}` },
      })
      await project.ingest({ batch: [view(1, 0), view(2, 0)] })
      const middle = await position(given)
      await project.ingest({ batch: [view(1, 10)] })
      const selection = { ...everything(await position(given)), model: 'sessions', fields: usualColumns.sessions } as const
      const found = await rows({ ...selection, range: { by: 'arrival', after: middle, to: await position(given) } })
      expect(found).toMatchObject([
        {
          session_id: session(1),
          distinct_id: 'u1',
          pageview_count: '2',
          session_duration: '600',
          entry_pathname: '/0',
          end_pathname: '/10',
        },
      ])
      expect(await rows(selection)).toHaveLength(2)
    })
  })

  test('a time stands for the position before the first event that arrived at it or later', async () => {
    const dataDir = folder()
    let clock = new Date('2026-01-05T10:00:00Z')
    const waymark = await open({ dataDir, clock: () => clock, exports: { runs: false } })
    try {
      const project = await waymark.createProject({ name: 'Shop' })
      for (const time of ['10:10', '10:20', '10:40', '10:30', '11:10']) {
        clock = new Date(`2026-01-05T${time}:00Z`)
        await project.ingest({ batch: [{ event: 'a', distinct_id: 'x' }] })
      }
      const at = (time: string, after = 0) => project.exportRows.positionAt(new Date(`2026-01-05T${time}:00Z`), after)
      expect(await Promise.all([at('10:00'), at('10:10'), at('10:11'), at('10:35'), at('10:45'), at('12:00')])).toEqual([0, 0, 1, 2, 4, 5])
      expect(await at('10:35', 3)).toBe(4)
      expect(await project.exportRows.firstTime('events')).toEqual(new Date('2026-01-05T10:10:00Z'))
    } finally {
      await waymark.close()
    }
  })
})
