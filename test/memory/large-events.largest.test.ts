import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { makeProjects, type Served, serve } from './served.ts'

// Events of a megabyte, many more of them than the memory holds, one after the other: 2,048 of them are what the engine reads at a time.

const text = 'x'.repeat(990_000)
const eventsOfRequest = 16

/** Bytes of the engine's process beside its budget. */
const beside = 600e6

/** Times the budget. */
const refusedFrom = 4
const tooMuch = /^504 .*exceeded its memory limit/

/** For how long a request is sent again that comes when too much is waiting. */
const crowdedMs = 60_000

test.each([
  ['128MB', 128e6, 512],
  ['512MB', 512e6, 2_048],
])(
  'with %s',
  async (memory, budget, count) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'waymark-large-events-'))
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
    const { key, projects } = await makeProjects(dataDir, 1)
    const [{ id, token }] = projects as [{ id: number; token: string }]
    let server: Served = await serve(dataDir, memory, key)
    onTestFinished(() => server.kill())
    const capture = async (from: number) => {
      const batch = Array.from({ length: eventsOfRequest }, (_, i) => ({
        event: 'large',
        distinct_id: `u${(from + i) % 10}`,
        properties: { n: from + i, text: `${from + i}${text}` },
      }))
      for (const until = performance.now() + crowdedMs; ; ) {
        const { status, text } = await server.call('POST', '/batch/', { api_key: token, batch })
        if (status === 200) return
        if (status !== 503 || performance.now() > until) throw new Error(`${status} ${text}`)
      }
    }
    const check = async (when: string, sent: number) => {
      // One property in a question: each is read from the whole JSON.
      const asked = ['count(), count(distinct uuid)', 'sum(toInt(properties.n))', 'min(length(properties.text))']
      const answers = [[[sent, sent]], [[(sent * (sent - 1)) / 2]], [[text.length + 1]]]
      for (const [i, columns] of asked.entries()) {
        const found = await server.rows(id, `select ${columns} from events`)
        // Texts of many times the memory may be too much for a question about one of their properties. Then it says so, and nothing else happens.
        const isRefused = i > 0 && sent * text.length > refusedFrom * budget && tooMuch.test(String(found))
        if (!isRefused) expect([when, columns, found]).toEqual([when, columns, answers[i]])
        if (process.env.WAYMARK_FIGURES) console.log(when, memory, columns, isRefused ? found : 'answered')
      }
      expect([when, server.hasFirstEngine()]).toEqual([when, true])
      const { engine, door } = server.peaks()
      if (process.env.WAYMARK_FIGURES) console.log(when, memory, { engine: engine / 1e6, door: door / 1e6 })
      expect([when, Math.max(engine, budget + beside)]).toEqual([when, budget + beside])
    }
    for (let from = 0; from < count; from += eventsOfRequest) await capture(from)
    await check('all are sent', count)
    // What is acknowledged and not applied is replayed.
    for (let from = count; from < count * 1.25; from += eventsOfRequest) await capture(from)
    await server.kill()
    server = await serve(dataDir, memory, key)
    await check('after a kill', count * 1.25)
    // Closing writes a checkpoint, and so does what comes after it.
    await server.stop()
    server = await serve(dataDir, memory, key)
    const { status } = await server.call('POST', '/batch/', { api_key: token, batch: [{ event: 'small', distinct_id: 'u' }] })
    expect(status).toBe(200)
    expect(await server.rows(id, "select count() from events where event = 'small'")).toEqual([[1]])
    await server.stop()
    server = await serve(dataDir, memory, key)
    expect(await server.rows(id, 'select count() from events')).toEqual([[count * 1.25 + 1]])
    expect(server.hasFirstEngine()).toBe(true)
  },
  1_800_000,
)
