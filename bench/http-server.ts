import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '@hono/node-server'
import { createHandler } from '../src/doors/http/server/create-handler.ts'
import { startServer } from '../src/doors/http/server/node-server.ts'
import { open } from '../src/engine.ts'
import { makeEvents } from './events.ts'

// The servers that http.bench.ts asks, in a process of their own: Waymark with its events, and the bare one. Says where both are when ready.

const events = Number(process.argv[2] ?? '1000000')
const batchSize = 5000
const dataDir = mkdtempSync(join(tmpdir(), 'waymark-bench-'))
const clock = () => new Date('2026-04-01T00:00:00Z')
const waymark = await open({ dataDir, clock, durability: 'os' })
const start = await waymark.accounts.firstStart({})
const project = await waymark.project(start.project.id)
for (let sent = 0, seed = 1; sent < events; sent += batchSize, seed++)
  await project.ingest({ batch: makeEvents(Math.min(batchSize, events - sent), 50_000, seed) })
const unlimited = { api: [], query: [], draft: [] }
const many = Number.POSITIVE_INFINITY
const server = await startServer(
  createHandler(waymark, {
    limits: () => unlimited,
    concurrency: () => ({ perProject: many, perUser: many, perOrganization: many, inAll: many }),
  }),
  {
    host: '127.0.0.1',
    port: 0,
  },
)
const constant = JSON.stringify({ id: 1, name: 'constant' })
const bare = serve(
  { fetch: () => new Response(constant, { headers: { 'content-type': 'application/json' } }), hostname: '127.0.0.1', port: 0 },
  (info) =>
    process.stdout.write(
      `${JSON.stringify({ url: server.url, bare: `http://127.0.0.1:${info.port}`, key: start.personalKey, organization: start.organization.id, project: start.project.id })}\n`,
    ),
)

process.once('SIGTERM', async () => {
  process.stdout.write(`${JSON.stringify({ peakMb: process.resourceUsage().maxRSS / 1024 })}\n`)
  bare.close()
  await server.drain(1000)
  await waymark.close()
  rmSync(dataDir, { recursive: true, force: true })
  process.exit(0)
})
