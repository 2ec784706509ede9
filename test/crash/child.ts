import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { open } from '../../src/engine.ts'
import { WaymarkError } from '../../src/errors/errors.ts'
import type { PersonChange } from '../../src/events/ingestion/work.ts'
import { batchOf, type Deed, deedOf } from './workload.ts'

// The process that is killed. Each client sends its batches one after the other, from the number given for it, and a line is written, at once, for
// every batch that was acknowledged.   node child.mjs DIRECTORY NUMBER…
// It takes a line `backup PLACE` on its standard input. With SETTLE_MS it writes its store into the file that often.

const [dataDir = '', ...begins] = process.argv.slice(2)
const say = (line: string) => writeSync(1, `${line}\n`)

const waymark = await open({ dataDir, memoryLimit: '256MB', threads: 2, minFreeBytes: 0 })
const project = await waymark.project(1).catch((error: unknown) => {
  if (error instanceof WaymarkError && error.code === 'not-found') return waymark.createProject()
  throw error
})
for (const report of project.recoveryReports()) say(`report ${report.kind}`)
say('ready')

const doDeed = async ({ what, of, n }: Deed) => {
  const { results } = await project.sql<[string]>`select toString(person_id) from person_distinct_ids where distinct_id = ${of}`
  const person = results[0]?.[0]
  if (person === undefined) return
  const changes: Record<Deed['what'], PersonChange> = {
    write: { change: 'write', person, set: { note: n }, unset: [] },
    split: { change: 'split', person, ids: null },
    delete: { change: 'delete', person, withEvents: true },
  }
  await project.changePersons([changes[what]])
}

const send = async (client: number, from: number): Promise<never> => {
  for (let batch = from; ; batch++) {
    for (;;) {
      try {
        const deed = deedOf(client, batch)
        if (deed) await doDeed(deed)
        else await project.ingest({ batch: batchOf(client, batch) })
        break
      } catch (error) {
        if (!(error instanceof WaymarkError && error.isRetryable)) throw error
        await setTimeout(5)
      }
    }
    say(`ack ${client} ${batch}`)
  }
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const place = line.slice('backup '.length)
  waymark.backup(place, { keepDays: 1 }).then(
    ({ copy }) => say(`backed-up ${copy}`),
    (error: unknown) => say(`failed ${error instanceof Error ? error.message : error}`),
  )
})
const settleMs = Number(process.env.SETTLE_MS ?? 0)
if (settleMs > 0) setInterval(() => void project.settle().catch(() => undefined), settleMs)

await Promise.all(begins.map((begin, client) => send(client, Number(begin))))
