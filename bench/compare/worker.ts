import { createHash } from 'node:crypto'
import { createInterface } from 'node:readline'
// Stands for the sources of one revision: compare-revisions.ts puts them in its place when it bundles this file for each of the two.
import { open } from 'waymark-revision'
import { makeEvents } from '../events.ts'
import { questions } from './questions.ts'

// Answers questions of the other process, one a line: `{ question, times }` in, `{ ms, answer }` out.

export interface Asked {
  readonly question: number
  readonly times: number
}
export type Told = { readonly ms: number; readonly answer: string } | { readonly refused: string }

const batchSize = 1000
const [count = '1000'] = process.argv.slice(2)
const waymark = await open({ dataDir: ':memory:', clock: () => new Date('2026-04-01T12:00:00Z') })
const project = await waymark.createProject({ name: 'Bench', timezone: 'America/New_York' })
const events = makeEvents(Number(count), Math.max(10, Math.round(Number(count) / 50)))
for (let i = 0; i < events.length; i += batchSize) await project.ingest({ batch: events.slice(i, i + batchSize) })

async function told({ question, times }: Asked): Promise<Told> {
  try {
    let results: unknown
    const start = performance.now()
    for (let i = 0; i < times; i++)
      ({ results } = (await project.query(questions[question]!.query, { refresh: 'force_blocking' })) as { results: unknown })
    const ms = (performance.now() - start) / times
    return { ms, answer: createHash('sha256').update(JSON.stringify(results)).digest('hex') }
  } catch (error) {
    return { refused: String((error as Error).message) }
  }
}

console.log('ready')
for await (const line of createInterface({ input: process.stdin })) console.log(JSON.stringify(await told(JSON.parse(line) as Asked)))
await waymark.close()
