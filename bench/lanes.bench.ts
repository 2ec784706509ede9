import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { open } from '../src/engine.ts'
import { makeEvents } from './events.ts'
import { machine, rounded } from './measure.ts'

// Do live events keep their latency while an import runs? One live event each 20 ms, alone and beside four senders of past events that never pause.

const { values } = parseArgs({
  options: { events: { type: 'string' }, runs: { type: 'string', default: '1' }, seconds: { type: 'string', default: '15' } },
})
const seconds = Number(values.seconds)
const everyMs = 20
const past = Array.from({ length: 20 }, (_, i) => makeEvents(2000, 20_000, i + 1))
const live = makeEvents(1000, 20_000, 77)

const percentile = (times: readonly number[], share: number) =>
  rounded([...times].sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0)

async function measure(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'waymark-bench-'))
  const waymark = await open({ dataDir })
  try {
    const project = await waymark.createProject()
    let expected = 0
    const liveEvents = async (until: number): Promise<number[]> => {
      const times: number[] = []
      for (let i = 0; performance.now() < until; i++) {
        const begin = performance.now()
        await project.ingest({ batch: [live[i % live.length]!] })
        times.push(performance.now() - begin)
        expected++
        await setTimeout(Math.max(0, everyMs - (performance.now() - begin)))
      }
      return times
    }
    let imported = 0
    const importer = async (until: number, own: number) => {
      for (let i = own; performance.now() < until; i += 4) {
        await project.ingest({ batch: past[i % past.length]!, historical_migration: true })
        imported += 2000
      }
    }
    const alone = await liveEvents(performance.now() + seconds * 1000)
    const until = performance.now() + seconds * 1000
    const [beside] = await Promise.all([liveEvents(until), ...[0, 1, 2, 3].map((own) => importer(until, own))])
    const answer = (await project.answer({ kind: 'SqlLikeQuery', query: 'select count() from events' })) as { results: number[][] }
    if (answer.results[0]![0] !== expected + imported)
      throw new Error(`${answer.results[0]![0]} events where ${expected + imported} were sent`)
    const figures = (times: readonly number[]) => ({ events: times.length, p50: percentile(times, 0.5), p99: percentile(times, 0.99) })
    console.log(
      JSON.stringify({
        bench: 'lanes',
        live_alone_ms: figures(alone),
        live_beside_import_ms: figures(beside),
        imported_per_second: Math.round(imported / seconds),
        ratio_p50: rounded(percentile(beside, 0.5) / percentile(alone, 0.5)),
        machine: machine(),
      }),
    )
  } finally {
    await waymark.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

for (let i = 0; i < Number(values.runs); i++) await measure()
