import { setTimeout } from 'node:timers/promises'
import { open } from '../../../src/engine.ts'
import { Applier } from '../../../src/events/ingestion/applying/applier.ts'

// A process that ends when it applies an event named `ends`, as one does that takes too much memory: after a while, and without a word.

const [dataDir, events] = process.argv.slice(2) as [string, string]

const load = Applier.prototype.load
Applier.prototype.load = async function (works, rows) {
  for (const { work, from, to = work.count } of works) {
    const { content } = work
    if (content.kind !== 'event') continue
    if (!content.events.slice(from, to).some(({ name, isDropped }) => name === 'ends' && !isDropped)) continue
    await setTimeout(500)
    process.kill(process.pid, 'SIGKILL')
  }
  return load.call(this, works, rows)
}

const waymark = await open({ dataDir, minFreeBytes: 0, onError: () => undefined })
const project = await waymark.findOrCreateProject({ name: 'Shop' })
if (events) await project.ingest(JSON.parse(events))
const { results } = (await project.query({ kind: 'SqlLikeQuery', query: 'select count() from events' })) as { results: unknown }
console.log(JSON.stringify(results))
await waymark.close()
