import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { open } from '../src/engine.ts'
import { runPlugin } from '../test/harness/plugin-rows.ts'
import { makeEvents } from './events.ts'
import { inOwnProcess, type Measured, machine, measured, median } from './measure.ts'

// How many stored events per second does one plugin receive whose function does nothing, and whose destination answers after a while?

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '20000' },
    runs: { type: 'string', default: '3' },
    measure: { type: 'string' },
  },
})
const events = Number(values.events)
const batchSize = 1000

/** What `onEvent` awaits. The storage stands for a destination: it is in memory here. */
const functions: Readonly<Record<string, string>> = {
  nothing: '',
  'one call of the server': "await meta.storage.get('key')",
}

async function measure(body: string): Promise<void> {
  const waymark = await open({ dataDir: ':memory:' })
  const project = await waymark.createProject()
  const config = await runPlugin(waymark, project.id, `export async function onEvent(event, meta) { ${body} }`)
  const { read } = waymark.accounts.context.store
  const delivered = async () => {
    for (;;) {
      const record = await read.plugin_deliveries.first({ plugin_config_id: config })
      if (record && (record.position as number) >= project.position) return record.counts as Record<string, [number, number]>
      await setTimeout(5)
    }
  }
  const send = async (count: number) => {
    for (let i = 0; i < count / batchSize; i++) await project.ingest({ batch: makeEvents(batchSize, 10_000, i + 1) })
  }
  await send(batchSize)
  await delivered()
  await measured(async () => {
    await send(events)
    const counts = Object.values(await delivered())
    return { answer: counts.reduce((sum, [done]) => sum + done, 0) - batchSize }
  })
  await waymark.close()
}

async function compare(): Promise<void> {
  for (const [awaits, body] of Object.entries(functions)) {
    const runs: Measured[] = []
    for (let run = 0; run < Number(values.runs); run++) {
      const result = await inOwnProcess(import.meta.filename, ['--measure', body, '--events', String(events)])
      if (result.answer !== events) throw new Error(`${result.answer} events were delivered instead of ${events}`)
      runs.push(result)
    }
    const rates = runs.map(({ seconds }) => events / seconds)
    console.log(
      JSON.stringify({
        bench: 'deliveries',
        awaits,
        events,
        events_per_second: Math.round(median(rates)),
        spread: [Math.round(Math.min(...rates)), Math.round(Math.max(...rates))],
        peak_mb: Math.round(median(runs.map(({ peakMb }) => peakMb))),
        runs: runs.length,
        machine: machine(),
      }),
    )
  }
}

if (values.measure !== undefined) await measure(values.measure)
else await compare()
