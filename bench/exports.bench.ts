import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { DuckDBInstance } from '@duckdb/node-api'
import type { Sql } from '../src/engine/storage/sql.ts'
import { type LocalWaymark, open } from '../src/engine.ts'
import type { Destination, ExportRun } from '../src/service/exports/destinations/destination.ts'
import { localFiles } from '../src/service/exports/destinations/local-files.ts'
import { postgres } from '../src/service/exports/destinations/postgres.ts'
import type { RowSelection } from '../src/service/exports/ports.ts'
import { runExport } from '../src/service/exports/running/run.ts'
import { usualColumns } from '../src/service/exports/writing/columns.ts'
import { startPostgres, whyNoPostgres } from '../test/harness/postgres.ts'
import { makeEvents } from './events.ts'
import { inOwnProcess, type Measured, machine, measured, median, rounded } from './measure.ts'

// How many rows per second does a batch export write, beside DuckDB's own COPY of the same rows in the same run, or psql's COPY of them into a table with the
// same key, and in how much memory above idle?

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    runs: { type: 'string', default: '3' },
    measure: { type: 'string' },
    data: { type: 'string' },
    port: { type: 'string', default: '0' },
  },
})
const events = Number(values.events)
const memoryLimit = '1GB'

/** Destinations of the bench: each has its settings, and a statement that does the same with the engine alone. */
const targets: Readonly<
  Record<string, { readonly destination: Destination; readonly config: object; readonly rival?: (to: string) => string }>
> = {
  Parquet: {
    destination: localFiles,
    config: { file_format: 'Parquet', compression: 'zstd' },
    rival: (to) => `COPY (${sameRows}) TO '${to}' (FORMAT parquet, COMPRESSION zstd)`,
  },
  JSONLines: {
    destination: localFiles,
    config: { file_format: 'JSONLines', compression: 'gzip' },
    rival: (to) => `COPY (${sameRows}) TO '${to}' (FORMAT json, COMPRESSION gzip)`,
  },
  PostgreSQL: {
    destination: postgres,
    config: { host: '127.0.0.1', port: values.port, user: 'waymark', password: 'any', database: 'postgres' },
  },
}

/** The usual columns of events, written by hand over the tables of the store. */
const sameRows = `SELECT e.uuid, 1 AS team_id, e.timestamp, e.created_at, n.name AS event, e.properties::JSON AS properties, e.distinct_id,
  (e.properties -> '$."$set"') AS "set", (e.properties -> '$."$set_once"') AS set_once, e.elements_chain, p.properties::JSON AS person_properties, p.uuid AS person_id
  FROM events e JOIN event_names n USING (event_id) LEFT JOIN person_merges m ON m.merged = e.person_no
  JOIN persons p ON p.person_no = coalesce(m.survivor, e.person_no)`

const opened = (dataDir: string): Promise<LocalWaymark> => open({ dataDir, memoryLimit, exports: { runs: false } })

async function fill(dataDir: string): Promise<void> {
  const waymark = await opened(dataDir)
  const project = await waymark.createProject({ name: 'Bench' })
  const people = Math.max(10, Math.round(events / 50))
  const pool = makeEvents(Math.min(events, 20_000), people)
  for (let from = 0; from < events; from += 10_000) {
    const batch = Array.from({ length: Math.min(10_000, events - from) }, (_, i) => ({
      ...pool[(from + i) % pool.length]!,
      distinct_id: `user-${((from + i) * 7919) % people}`,
    }))
    await project.ingest({ batch })
  }
  await project.query({ kind: 'SqlLikeQuery', query: 'select count() from events' })
  await waymark.close()
}

const memoryMb = (field: string): number =>
  Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? 0) / 1024
/** From here on, VmHWM is the peak of what comes. */
const forgetPeak = () => writeFileSync('/proc/self/clear_refs', '5')

async function exportAll(dataDir: string, name: string): Promise<{ answer: number; figures: Record<string, number> }> {
  const waymark = await opened(dataDir)
  const folder = mkdtempSync(join(tmpdir(), 'waymark-bench-'))
  try {
    const [{ id }] = (await waymark.projects()) as unknown as [{ id: number }]
    const { exportRows } = await waymark.project(id)
    const { destination, config } = targets[name]!
    const end = new Date()
    const to = await exportRows.positionAt(new Date(end.getTime() + 3_600_000), 0)
    const range = { by: 'arrival', after: 0, to } as const
    const none = { where: null, tableAlias: null, filters: null, include: [], exclude: [] }
    const fields = destination.columns?.(destination.config.parse(config), 'events') ?? usualColumns.events
    const selection: RowSelection = { model: 'events', fields, range, ...none }
    const columns = await exportRows.columns(selection)
    const about = { id: 'bench', export_id: 'bench', project_id: id, model: 'events', attempt: 1, key: 'bench', start: null, end } as const
    const run: ExportRun = { ...about, isBackfill: false, columns, identity: ['uuid'] }
    const outside = { clock: () => end, mustBeAllowed: () => {}, lookup: () => {}, localFolder: folder }
    const parts = { rows: exportRows, selection, destination, config: destination.config.parse(config), run, outside }
    const idle = memoryMb('VmRSS')
    forgetPeak()
    const begin = performance.now()
    const done = await runExport({
      ...parts,
      stagingFolder: join(dataDir, 'staging', 'bench'),
      signal: new AbortController().signal,
      onProgress: async () => {},
    })
    const seconds = (performance.now() - begin) / 1000
    return { answer: done.rows, figures: { seconds, above_idle_mb: memoryMb('VmHWM') - idle, bytes: done.bytes } }
  } finally {
    await waymark.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function copyAll(dataDir: string, name: string): Promise<{ answer: number; figures: Record<string, number> }> {
  const folder = mkdtempSync(join(tmpdir(), 'waymark-bench-'))
  const store = await DuckDBInstance.create(join(dataDir, 'projects/1/store.duckdb'), {
    access_mode: 'READ_ONLY',
    memory_limit: memoryLimit,
  })
  const connection = await store.connect()
  try {
    const begin = performance.now()
    const { rowsChanged } = await connection.run(targets[name]!.rival!(join(folder, 'rows')))
    return { answer: rowsChanged, figures: { seconds: (performance.now() - begin) / 1000 } }
  } finally {
    connection.closeSync()
    store.closeSync()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The rows of the last export, from a file into a table like its own. */
async function copyByPsql(sql: Sql): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'waymark-bench-'))
  const file = join(folder, 'rows.csv')
  const psql = (command: string) =>
    execFileSync('psql', ['-X', '-q', '-h', '127.0.0.1', '-p', values.port, '-U', 'waymark', '-d', 'postgres', '-c', command])
  try {
    psql(`\\copy events TO '${file}' CSV`)
    psql('CREATE TABLE copied (LIKE events INCLUDING ALL)')
    const begin = performance.now()
    psql(`\\copy copied FROM '${file}' CSV`)
    const seconds = (performance.now() - begin) / 1000
    const [{ n }] = (await sql.rows('SELECT count(*)::int AS n FROM copied')) as unknown as [{ n: number }]
    psql('DROP TABLE copied; DROP TABLE events')
    return { seconds, peakMb: 0, answer: n, figures: { seconds } }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function main(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'waymark-bench-'))
  const why = whyNoPostgres()
  const server = why ? null : await startPostgres()
  values.port = String(server?.port ?? 0)
  try {
    await inOwnProcess(import.meta.filename, ['--measure', 'fill', '--data', dataDir, '--events', String(events)])
    const ask = (what: string) => inOwnProcess(import.meta.filename, ['--measure', what, '--data', dataDir, '--port', values.port])
    for (const name of Object.keys(targets)) {
      if (name === 'PostgreSQL' && !server) {
        console.warn(`NOT RUN: PostgreSQL: ${why}`)
        continue
      }
      const found: Record<'export' | 'copy', Measured[]> = { export: [], copy: [] }
      for (let run = 0; run < Number(values.runs); run++)
        for (const kind of ['export', 'copy'] as const) {
          const one = kind === 'copy' && !targets[name]!.rival ? await copyByPsql(server!.sql) : await ask(`${kind} ${name}`)
          if (one.answer !== events) throw new Error(`${kind} ${name} wrote ${one.answer} rows of ${events}`)
          found[kind].push(one)
        }
      const rate = (kind: 'export' | 'copy') => events / median(found[kind].map(({ figures }) => figures!.seconds!))
      console.log(
        JSON.stringify({
          bench: 'exports',
          destination: name,
          events,
          rows_per_second: rounded(rate('export')),
          [targets[name]!.rival ? 'duckdb_copy_rows_per_second' : 'psql_copy_rows_per_second']: rounded(rate('copy')),
          share_of_copy: rounded(rate('export') / rate('copy')),
          peak_above_idle_mb: Math.round(Math.max(...found.export.map(({ figures }) => figures!.above_idle_mb!))),
          memory_limit: memoryLimit,
          runs: Number(values.runs),
          ...machine(),
        }),
      )
    }
  } finally {
    await server?.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

const [kind, name = ''] = values.measure?.split(' ') ?? []
if (kind === 'fill')
  await measured(async () => {
    await fill(values.data!)
    return { answer: events }
  })
else if (kind === 'export') await measured(() => exportAll(values.data!, name))
else if (kind === 'copy') await measured(() => copyAll(values.data!, name))
else await main()
