import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
// Stands for the sources of one revision: compare-revisions.ts puts them in its place when it bundles this file for each of the two.
import { open } from 'waymark-revision'
import { type BenchEvent, makeEvents, makeWebEvents } from '../events.ts'
import { questions } from './questions.ts'

// Answers questions of the other process, one a line: `{ question, times }` in, `{ ms, answer }` out.

export interface Asked {
  readonly question: number
  readonly times: number
}
export type Told = { readonly ms: number; readonly answer: string } | { readonly refused: string }

const batchSize = 2000
/** Each batch of so many is from browsers, the others from servers. */
const webBatchEvery = 4
const [count = '1000', slowDown = '1'] = process.argv.slice(2)
const people = Math.max(10, Math.round(Number(count) / 50))
const dataDir = mkdtempSync(join(tmpdir(), 'waymark-compared-'))
process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }))

const openAgain = () => open({ dataDir, clock: () => new Date('2026-04-01T12:00:00Z') })
let waymark = await openAgain()
let project = await waymark.createProject({ name: 'Bench', timezone: 'America/New_York' })
for (let i = 0; i * batchSize < Number(count); i++) {
  const size = Math.min(batchSize, Number(count) - i * batchSize)
  const batch: readonly BenchEvent[] = i % webBatchEvery === 0 ? makeWebEvents(size, people, i) : makeEvents(size, people, i)
  await project.ingest({ batch })
}

async function reopen(): Promise<void> {
  const { id } = project
  await waymark.close()
  waymark = await openAgain()
  project = await waymark.project(id)
}

let arrived = 0
/** Twenty events of the last hours, a tenth of them late; each changes its person, and one merges two. */
async function moreEvents(): Promise<void> {
  arrived++
  const at = (minutes: number) => new Date(Date.UTC(2026, 2, 31, 12) + minutes * 60_000).toISOString()
  const batch = makeEvents(19, people, 1_000_000 + arrived).map((event, i) => ({
    ...event,
    timestamp: at(i % 10 === 0 ? -600 : arrived % 600),
    $set: { seen: arrived },
  }))
  const merge = {
    event: '$identify',
    distinct_id: `user-${arrived % people}`,
    timestamp: at(0),
    properties: { $anon_distinct_id: `new-${arrived}` },
  }
  await project.ingest({ batch: [...batch, merge] })
}

/** Each directory draws its own. */
const uuids = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
const prepared = { first: reopen, arriving: moreEvents }

async function told({ question, times }: Asked): Promise<Told> {
  const { query, when } = questions[question]!
  try {
    let [results, ms]: [unknown, number] = [undefined, 0]
    for (let i = 0; i < times; i++) {
      if (when) await prepared[when]()
      const start = performance.now()
      ;({ results } = (await project.query(query, { refresh: 'force_blocking' })) as { results: unknown })
      // A planted slowdown, which the comparison must find.
      for (const took = performance.now() - start; performance.now() - start < took * Number(slowDown); );
      ms += performance.now() - start
    }
    return { ms: ms / times, answer: createHash('sha256').update(JSON.stringify(results).replace(uuids, '')).digest('hex') }
  } catch (error) {
    return { refused: String((error as Error).message) }
  }
}

console.log('ready')
for await (const line of createInterface({ input: process.stdin })) console.log(JSON.stringify(await told(JSON.parse(line) as Asked)))
await waymark.close()
