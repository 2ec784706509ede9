import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { open } from '../src/engine.ts'
import { runPlugin } from '../test/harness/plugin-rows.ts'
import { makeEvents } from './events.ts'
import { inOwnProcess, type Measured, machine, measured, median, rounded } from './measure.ts'

// How many events per second go in, durable and applied, through none, one and five simple transformations? In one process and in two.

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '200000' },
    runs: { type: 'string', default: '3' },
    measure: { type: 'string' },
    processes: { type: 'string' },
  },
})
const events = Number(values.events)
const batchSize = 1000
const inFlight = 8
const people = 100_000
const poolBatches = 10
const chains = [0, 1, 5]
const warmUp = 20

const code = (n: number) =>
  `export function processEvent(event) { event.properties.length_${n} = event.properties.$current_url ? event.properties.$current_url.length : ${n}; return event }`

async function measure(transformations: number, isolate: boolean): Promise<void> {
  const batches = Array.from({ length: poolBatches }, (_, i) => makeEvents(batchSize, people, i + 1))
  const dataDir = mkdtempSync(join(tmpdir(), 'waymark-bench-'))
  try {
    const waymark = await open({ dataDir, isolate })
    const project = await waymark.createProject()
    for (let n = 1; n <= transformations; n++) await runPlugin(waymark, project.id, code(n), { order: n })
    const count = async () => {
      const last = `toFloat(properties.length_${transformations})`
      const [row] = (
        await project.query({ kind: 'SqlLikeQuery', query: `select count(), count(${last}) from events` }, { refresh: 'force_blocking' })
      ).results
      return row as unknown as [number, number]
    }
    const send = async (total: number) => {
      let sent = 0
      const client = async () => {
        while (sent < total) {
          const batch = batches[(sent / batchSize) % poolBatches]!
          sent += batchSize
          await project.ingest({ batch })
        }
      }
      await Promise.all(Array.from({ length: inFlight }, client))
      return count()
    }
    await send(warmUp * batchSize)
    await measured(async () => {
      const before = process.cpuUsage()
      const [answer, changed] = await send(events)
      if (transformations > 0 && changed !== answer) throw new Error(`${changed} of ${answer} events were transformed`)
      const { user, system } = process.cpuUsage(before)
      return { answer: answer - warmUp * batchSize, figures: { cpuSeconds: (user + system) / 1e6 } }
    })
    await waymark.close()
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function compare(): Promise<void> {
  for (const processes of ['one', 'two']) {
    const runs = new Map(chains.map((n) => [n, [] as Measured[]]))
    for (let run = 0; run < Number(values.runs); run++)
      for (const n of chains) {
        const args = ['--measure', String(n), '--processes', processes, '--events', String(events)]
        const result = await inOwnProcess(import.meta.filename, args)
        if (result.answer !== events) throw new Error(`${n} transformations: ${result.answer} events instead of ${events}`)
        runs.get(n)!.push(result)
      }
    const rates = (n: number) => runs.get(n)!.map(({ seconds }) => events / seconds)
    const plain = median(rates(0))
    for (const n of chains)
      console.log(
        JSON.stringify({
          bench: 'pipeline',
          processes,
          transformations: n,
          events,
          events_per_second: Math.round(median(rates(n))),
          spread: [Math.round(Math.min(...rates(n))), Math.round(Math.max(...rates(n)))],
          // Of the process with the accounts; all of it if there is one.
          cpu_us_per_event: rounded((median(runs.get(n)!.map(({ figures }) => figures!.cpuSeconds!)) * 1e6) / events),
          share_of_plain: rounded(median(rates(n)) / plain),
          peak_mb: Math.round(median(runs.get(n)!.map(({ peakMb }) => peakMb))),
          runs: Number(values.runs),
          machine: machine(),
        }),
      )
  }
}

if (values.measure) await measure(Number(values.measure), values.processes === 'two')
else await compare()
