import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { random } from '../../bench/random.ts'
import { deferred } from '../../src/lib/flow/deferred.ts'
import { type Served, startServe } from '../clients/served.ts'

// Single events from many connections share batches of the log. A server that is killed meanwhile has lost nothing that it acknowledged.

const connections = 24
const rounds = 5

const uuid = (n: number) => `018a0000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`

/** The status; null: the connection was lost. */
const send = (served: Served, agent: Agent, n: number): Promise<number | null> =>
  new Promise((resolve) => {
    const json = JSON.stringify({ token: served.projectKey, event: 'view', distinct_id: `u${n % 97}`, uuid: uuid(n), properties: { n } })
    const isZipped = n % 3 === 0
    const path = isZipped ? '/e/?compression=gzip' : '/i/v0/e/'
    const asked = request(new URL(path, served.url), { method: 'POST', agent }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve(answer.statusCode!))
      answer.on('error', () => resolve(null))
    })
    asked.on('error', () => resolve(null))
    asked.end(isZipped ? gzipSync(json) : json)
  })

test('kills at random moments lose no single event that was acknowledged, and double none', async () => {
  const seed = Number(process.env.WAYMARK_SEED ?? 20)
  console.log(`seed ${seed}`)
  const draw = random(seed)
  const dataDir = mkdtempSync(join(tmpdir(), 'waymark-singles-killed-'))
  let served = await startServe({ dataDir })
  const acknowledged = new Set<number>()
  const unknown = new Set<number>()
  try {
    for (let round = 0; round < rounds; round++) {
      const reached = deferred<void>()
      let left = Math.floor(draw() * 1_500)
      const clients = Array.from({ length: connections }, async (_, client) => {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 })
        for (let step = 0; ; step++) {
          const n = (round * connections + client) * 100_000 + step
          const status = await send(served, agent, n)
          if (status === null) {
            unknown.add(n)
            break
          }
          expect(status).toBe(200)
          acknowledged.add(n)
          if (--left <= 0) reached.resolve()
        }
        agent.destroy()
      })
      await Promise.race([reached.promise, ...clients])
      served.process.kill('SIGKILL')
      await once(served.process, 'exit')
      await Promise.all(clients)
      served = await startServe({ dataDir, personalKey: served.personalKey })
      const [counts] = await served.rows('select count(), count(distinct uuid) from events')
      const rows = await served.rows('select properties.n from events limit 100000')
      const stored = new Set(rows.map(([n]) => Number(n)))
      expect([...acknowledged].filter((n) => !stored.has(n))).toEqual([])
      expect([...stored].filter((n) => !acknowledged.has(n) && !unknown.has(n))).toEqual([])
      expect(counts).toEqual([stored.size, stored.size])
    }
    expect(acknowledged.size).toBeGreaterThan(rounds * 100)
  } finally {
    await served.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
})
