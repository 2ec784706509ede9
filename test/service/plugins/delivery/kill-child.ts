import { open } from '../../../../src/engine.ts'
import { runPlugin } from '../../../harness/plugin-rows.ts'

// Stores events and delivers them to a URL until it is killed, or without events to the end: `node kill-child.mjs DIR URL EVENTS PROCESSES`.

const [dataDir = '', url = '', eventsText = '0', processes = '1'] = process.argv.slice(2)
const total = Number(eventsText)

const sender = `
export async function onEvent(event, { config }) {
  let response
  try {
    response = await fetch(config.url, { method: 'POST', body: JSON.stringify(event) })
  } catch (error) {
    throw new RetryError(error.message)
  }
  if (!response.ok) throw new RetryError('status ' + response.status)
}`

// The waits before retries pass quickly.
const began = Date.now()
const clock = () => new Date(began + (Date.now() - began) * 20)
const waymark = await open({
  dataDir,
  clock,
  threads: 1,
  memoryLimit: '256MB',
  isolate: processes === '2',
  exports: { runs: false },
  plugins: { allowsPrivateRequests: true },
})
const { project: first } = await waymark.accounts.firstStart({ makesKey: false })
const { read } = waymark.accounts.context.store
if ((await read.plugin_configs.count({})) === 0) {
  await runPlugin(waymark, first.id, sender, { config: { url } })
  console.log('installed')
}
const project = await waymark.project(first.id)
for (let sent = 0; sent < total; ) {
  const batch = Array.from({ length: 7 }, () => ({
    event: `${process.pid} ${sent++}`,
    distinct_id: 'u1',
    properties: { pad: 'x'.repeat(500) },
  }))
  await project.ingest({ batch })
  console.log(JSON.stringify(batch.map(({ event }) => event)))
}
for (;;) {
  const [record] = await read.plugin_deliveries.find({})
  const waiting = await read.plugin_failed_deliveries.count({})
  if (record && (record.position as number) >= project.position && waiting === 0) break
  await new Promise((resolve) => setTimeout(resolve, 20))
}
await waymark.close()
console.log('delivered')
