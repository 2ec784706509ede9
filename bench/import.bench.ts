import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { DuckDBInstance } from '@duckdb/node-api'
import { makeEvents } from './events.ts'
import { EventMaker, type Shape, shapes } from './ingest/shapes.ts'
import { inOwnProcess, machine, measured, rounded } from './measure.ts'

// How long does `waymark import` of a file of JSON lines take, durable and applied, in how much memory? Beside it DuckDB's own read_json of the same
// file into a table of a file. Then the same import again, from its checkpoint and without one: nothing new may be stored.

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '5000000' },
    runs: { type: 'string', default: '1' },
    profile: { type: 'string' },
    measure: { type: 'string' },
    file: { type: 'string' },
    memory: { type: 'string' },
    /** A shape of events instead, over so many persons. */
    shape: { type: 'string' },
    persons: { type: 'string', default: '80000' },
    /** jsonl or parquet */
    format: { type: 'string', default: 'jsonl' },
  },
})
if (values.shape && !shapes.includes(values.shape as Shape))
  throw new Error(`There is no shape ${values.shape}. There are: ${shapes.join(', ')}.`)
const events = Number(values.events)
const people = Math.max(10, Math.round(events / 50))
const cli = join(import.meta.dirname, '../dist/cli.js')

async function writeLines(file: string, line: (i: number) => object): Promise<void> {
  const out = createWriteStream(file, { highWaterMark: 1 << 20 })
  for (let i = 0; i < events; i++) if (!out.write(`${JSON.stringify(line(i))}\n`)) await once(out, 'drain')
  out.end()
  await once(out, 'close')
}

/** The same rows as a table. */
async function writeTable(lines: string, file: string): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const columns = "{uuid: 'VARCHAR', event: 'VARCHAR', distinct_id: 'VARCHAR', timestamp: 'TIMESTAMP', properties: 'VARCHAR'}"
  await connection.run(
    `COPY (SELECT * FROM read_json('${lines}', format = 'newline_delimited', columns = ${columns})) TO '${file}' (FORMAT parquet)`,
  )
  connection.closeSync()
  instance.closeSync()
}

/** As an export has them: with their uuids, in order of time. */
async function writeEvents(file: string): Promise<void> {
  if (values.shape) {
    const maker = new EventMaker(values.shape as Shape, Number(values.persons), events)
    return writeLines(file, () => ({ uuid: randomUUID(), ...maker.batch(1)[0]! }))
  }
  const pool = makeEvents(Math.min(events, 20_000), people)
  const begin = Date.UTC(2026, 0, 1)
  const step = (90 * 86_400_000) / events
  return writeLines(file, (i) => {
    const { event, properties } = pool[i % pool.length]!
    const uuid = `0190a000-0000-7000-8000-${i.toString(16).padStart(12, '0')}`
    const distinct_id = `user-${(i * 7919) % people}`
    return { uuid, event, distinct_id, timestamp: new Date(begin + i * step).toISOString(), properties }
  })
}

const peakOf = (pid: number): number => {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

/** User and system time of all threads, in microseconds; 0: the system does not tell. */
const cpuOf = (pid: number): number => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * 10_000
  } catch {
    return 0
  }
}

interface Imported {
  readonly seconds: number
  readonly cpuMicros: number
  readonly peakMb: number
  readonly summary: { readonly stored: number; readonly duplicates: number; readonly skipped: number; readonly rows: number }
}

async function importFile(file: string, data: string, profile?: string): Promise<Imported> {
  const memory = values.memory ? ['--memory', values.memory] : []
  const flags = profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : []
  const begin = performance.now()
  const child: ChildProcess = spawn(
    process.execPath,
    [...flags, cli, 'import', file, '--data', data, '--project', '1', '--json', ...memory],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
  let [peakMb, cpuMicros, out] = [0, 0, '']
  child.stdout!.on('data', (chunk) => {
    out += chunk
  })
  const watch = setInterval(() => {
    peakMb = Math.max(peakMb, peakOf(child.pid!))
    cpuMicros = Math.max(cpuMicros, cpuOf(child.pid!))
  }, 100)
  const [code] = (await once(child, 'close')) as [number]
  clearInterval(watch)
  if (code !== 0) throw new Error(`the import ended with ${code}: ${out}`)
  return { seconds: (performance.now() - begin) / 1000, peakMb, cpuMicros, summary: JSON.parse(out) as Imported['summary'] }
}

async function countEvents(data: string): Promise<number> {
  const instance = await DuckDBInstance.create(join(data, 'projects/1/store.duckdb'), { access_mode: 'READ_ONLY' })
  const connection = await instance.connect()
  const rows = await connection.runAndReadAll('SELECT count(*)::INTEGER, count(DISTINCT uuid)::INTEGER FROM events')
  connection.closeSync()
  instance.closeSync()
  const [count, different] = rows.getRows()[0]!
  if (count !== different) throw new Error(`${count} events with ${different} uuids`)
  return Number(count)
}

const must = (holds: boolean, what: string) => {
  if (!holds) throw new Error(what)
}

async function readJson(file: string): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'waymark-bench-'))
  await measured(async () => {
    const instance = await DuckDBInstance.create(join(directory, 'raw.duckdb'))
    const connection = await instance.connect()
    await connection.run(`CREATE TABLE events AS SELECT * FROM read_json('${file}', format = 'newline_delimited')`)
    const answer = await connection.runAndReadAll('SELECT count(*)::INTEGER FROM events')
    connection.closeSync()
    instance.closeSync()
    return { answer: Number(answer.getRows()[0]![0]) }
  })
  rmSync(directory, { recursive: true, force: true })
}

async function compare(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'waymark-bench-'))
  try {
    const [lines, data] = [join(directory, 'events.jsonl'), join(directory, 'data')]
    await writeEvents(lines)
    const file = values.format === 'parquet' ? join(directory, 'events.parquet') : lines
    if (file !== lines) await writeTable(lines, file)
    spawnSync(process.execPath, [cli, 'init', '--data', data])
    const first = await importFile(file, data, values.profile)
    must(first.summary.stored === events && (await countEvents(data)) === events, `of ${events} events ${first.summary.stored} were stored`)
    const resumed = await importFile(file, data)
    rmSync(join(data, 'imports'), { recursive: true })
    const again = await importFile(file, data)
    for (const { summary } of [resumed, again]) must(summary.stored === 0, `${summary.stored} events were stored once more`)
    must((await countEvents(data)) === events, 'events were stored twice')
    const yardstick = await inOwnProcess(import.meta.filename, ['--measure', 'read_json', '--file', lines])
    must(yardstick.answer === events, 'DuckDB read other events')
    console.log(
      JSON.stringify({
        bench: 'import',
        events,
        ...(values.shape && { shape: values.shape, persons: Number(values.persons) }),
        format: values.format,
        ...(values.memory && { memory: values.memory }),
        file_mb: Math.round(statSync(file).size / 1024 ** 2),
        seconds: rounded(first.seconds),
        events_per_second: Math.round(events / first.seconds),
        cpu_us_per_event: rounded(first.cpuMicros / events),
        peak_mb: Math.round(first.peakMb),
        again: {
          from_its_checkpoint: { seconds: rounded(resumed.seconds), stored: resumed.summary.stored },
          without: { seconds: rounded(again.seconds), stored: again.summary.stored, duplicates: again.summary.duplicates },
        },
        yardsticks: {
          read_json: {
            seconds: rounded(yardstick.seconds),
            peak_mb: Math.round(yardstick.peakMb),
            rate_against_it: rounded(yardstick.seconds / first.seconds),
          },
        },
        machine: machine(),
      }),
    )
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

if (values.measure) await readJson(values.file!)
else for (let i = 0; i < Number(values.runs); i++) await compare()
