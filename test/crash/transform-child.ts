import { writeSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { open } from '../../src/engine.ts'
import { runPlugin } from '../harness/plugin-rows.ts'

// The process that is killed while events pass a plugin. The plugin counts, durably, how often it saw each event, and goes no further with the first event of
// the process as often as it is told.   node transform-child.mjs DIRECTORY FROM one|two STALLS

const [dataDir = '', from = '0', processes, stalls = '0'] = process.argv.slice(2)
const say = (line: string) => writeSync(1, `${line}\n`)
const uuidOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

const counting = `export async function processEvent(event, { utils, global, storage }) {
  global.calls = (global.calls ?? 0) + 1
  event.properties.times = await utils.cursor.increment(event.uuid)
  while (event.properties.times <= (event.properties.stalls ?? 0)) await storage.get('nothing')
  event.properties.n += 1000000
  return event.properties.n % 10 === 3 ? null : event
}`

say('started')
const waymark = await open({ dataDir, memoryLimit: '256MB', threads: 2, minFreeBytes: 0, isolate: processes === 'two' })
const known = (await waymark.projects())[0]
const project = known ? await waymark.project(known.id) : await waymark.createProject()
if (!known) await runPlugin(waymark, project.id, counting)
say('ready')

const clients = 3
const send = async (client: number): Promise<never> => {
  for (let batch = Number(from) + client; ; batch += clients) {
    const events = Array.from({ length: 40 }, (_, i) => batch * 40 + i)
    await project.ingest({
      batch: events.map((n) => ({
        event: 'view',
        distinct_id: `u${n % 5}`,
        uuid: uuidOf(n),
        timestamp: '2026-01-02T03:04:05Z',
        properties: n === Number(from) * 40 ? { n, stalls: Number(stalls) } : { n },
      })),
    })
    say(`ack ${batch}`)
    await setTimeout(10)
  }
}
await Promise.all(Array.from({ length: clients }, (_, client) => send(client)))
