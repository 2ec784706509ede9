import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createMemoryStorage } from '../src/service/plugins/memory-storage.ts'
import type { JsonObject, PluginConfig, PluginPorts } from '../src/service/plugins/ports.ts'
import { createPluginRuntime } from '../src/service/plugins/runtime.ts'
import { createSandbox } from '../src/service/plugins/sandbox/sandbox.ts'
import { random } from './random.ts'

// How long does an event take in none, one and five transformations, and how much memory does a plugin take?

const { values } = parseArgs({
  options: { events: { type: 'string', default: '20000' }, runs: { type: 'string', default: '7' } },
  strict: false,
})
const count = Number(values.events)
const runs = Number(values.runs)

const refuse = async () => Promise.reject(new Error('not in this bench'))
const ports: PluginPorts = {
  outbound: refuse,
  storage: createMemoryStorage(),
  jobs: { add: refuse },
  capture: refuse,
  log: (entry) => console.error(entry.message),
  locate: async () => null,
  clock: () => new Date(),
}
const code =
  'export function processEvent(event, { config }) { event.properties[config.name] = event.properties.$current_url.length; return event }'
const configOf = (id: number): PluginConfig => ({
  id,
  projectId: 1,
  plugin: { id, name: `adds ${id}`, files: { 'index.js': code } },
  order: id,
  config: { name: `length_${id}` },
  attachments: {},
})

const next = random(1)
const events: JsonObject[] = Array.from({ length: count }, (_, i) => ({
  uuid: `01900000-0000-7000-8000-${i.toString(16).padStart(12, '0')}`,
  event: '$pageview',
  distinct_id: `user-${Math.floor(next() * 1000)}`,
  team_id: 1,
  timestamp: '2026-01-05T10:00:00.000Z',
  properties: {
    $current_url: `https://example.com/page/${Math.floor(next() * 100)}?a=1`,
    $browser: 'Firefox',
    $os: 'Linux',
    plan: 'pro',
    amount: i,
    tags: ['a', 'b'],
  },
}))
const batches = Array.from({ length: Math.ceil(count / 1000) }, (_, i) => events.slice(i * 1000, (i + 1) * 1000))

const sandbox = createSandbox({ threads: 1 })
const runtime = createPluginRuntime(ports, sandbox)
// Before anything else has used memory.
const memoryOf = async (n: number) => {
  await runtime.use(
    1,
    Array.from({ length: n }, (_, i) => configOf(i + 1)),
  )
  await runtime.transform(1, events.slice(0, 100))
  await pause(100)
  return process.memoryUsage.rss()
}
const few = await memoryOf(5)
const many = await memoryOf(45)
const all = async () => {
  let properties = 0
  for (const batch of batches)
    for (const event of await runtime.transform(1, batch))
      properties += Object.keys(event!.properties as JsonObject).filter((name) => name.startsWith('length_')).length
  return properties
}
const chains = [0, 1, 5]
const times = new Map(chains.map((n) => [n, [] as number[]]))
for (let run = -1; run < runs; run++)
  for (const n of chains) {
    await runtime.use(
      1,
      Array.from({ length: n }, (_, i) => configOf(i + 1)),
    )
    const start = performance.now()
    const properties = await all()
    if (properties !== n * count) throw new Error(`${n} transformations of ${count} events made ${properties} properties`)
    if (run >= 0) times.get(n)!.push(((performance.now() - start) * 1000) / count)
  }
// The yardstick: the same change in this thread, with a JSON text before and after it.
const plain: number[] = []
for (let run = -1; run < runs; run++) {
  const start = performance.now()
  let length = 0
  for (const event of events) {
    const copy = JSON.parse(JSON.stringify(event)) as { properties: Record<string, unknown> }
    copy.properties.length_1 = (copy.properties.$current_url as string).length
    length += JSON.stringify(copy).length
  }
  if (length < count * 100) throw new Error('The yardstick did not write its events')
  if (run >= 0) plain.push(((performance.now() - start) * 1000) / count)
}
const middle = (list: readonly number[]) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)]!
const rounded = (n: number) => Number(n.toFixed(2))

for (const n of chains)
  console.log(
    JSON.stringify({
      bench: 'transformations',
      transformations: n,
      events: count,
      us_per_event: rounded(middle(times.get(n)!)),
      best: rounded(Math.min(...times.get(n)!)),
      worst: rounded(Math.max(...times.get(n)!)),
      events_per_second: Math.round(1e6 / middle(times.get(n)!)),
      ratio_to_json_in_node: rounded(middle(times.get(n)!) / middle(plain)),
    }),
  )
console.log(
  JSON.stringify({
    bench: 'transformations',
    memory_per_plugin_mb: rounded((many - few) / 40 / 1024 / 1024),
    rss_mb: Math.round(many / 1024 / 1024),
  }),
)
await runtime.close()
await sandbox.close()
