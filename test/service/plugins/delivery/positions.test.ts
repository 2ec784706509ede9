import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { open } from '../../../../src/engine.ts'
import { runPlugin } from '../../../harness/plugin-rows.ts'
import { type Sink, startSink } from './sink.ts'

const folder = mkdtempSync(join(tmpdir(), 'waymark-delivery-positions-'))
let sink: Sink | null = null
afterEach(async () => {
  await sink?.close()
  rmSync(folder, { recursive: true, force: true })
})

const sender =
  "export async function onEvent(event, { config }) { await fetch(config.url, { method: 'POST', body: JSON.stringify(event) }) }"

test('after an end without a word, events that were delivered before it are not delivered again', async () => {
  sink = await startSink()
  const { url, accepted } = sink
  const start = () =>
    open({
      dataDir: folder,
      threads: 1,
      exports: { runs: false },
      plugins: { allowsPrivateRequests: true },
      notifications: { runs: false },
    })
  const names = () => accepted.map(({ event }) => event)
  let waymark = await start()
  const { project: first } = await waymark.accounts.firstStart({ makesKey: false })
  await runPlugin(waymark, first.id, sender, { config: { url } })
  const take = async (event: string, count: number) => {
    const project = await waymark.project(first.id)
    await project.ingest({ batch: Array.from({ length: count }, (_, i) => ({ event: `${event} ${i}`, distinct_id: 'u' })) })
  }
  await take('before', 30)
  await expect.poll(() => names().length, { timeout: 20_000 }).toBe(30)
  // Saved with the end of the step.
  const position = async () => (await waymark.accounts.context.store.read.plugin_deliveries.find({}))[0]!.position
  await expect.poll(position, { timeout: 20_000 }).toBe(30)
  await waymark.close()
  // A process that was killed has not written where its log ended.
  rmSync(join(folder, 'projects', String(first.id), 'log.position'))
  waymark = await start()
  // Looks of the deliverer, while nobody has used the project yet.
  await new Promise((resolve) => waymark.plugins.deliveries.deliverer.tick().then(resolve))
  await waymark.plugins.deliveries.deliverer.settled()
  expect(await position()).toBe(30)
  await take('after', 1)
  await expect.poll(() => names().includes('after 0'), { timeout: 20_000 }).toBe(true)
  await waymark.close()
  expect(names().length).toBe(31)
})
