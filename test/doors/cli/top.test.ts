import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ratesOf, topText } from '../../../src/doors/cli/top-text.ts'
import type { Figures } from '../../../src/doors/http/server/figures.ts'
import { finish, firstLine, run, start } from './shell.ts'

const quiet: Figures = {
  time: Date.parse('2026-03-02T10:00:00Z'),
  events: { live: 1_000, past: 0, duplicates: 0, dropped: 3 },
  lag: 0,
  statements: { waiting: 0, running: 0 },
  running: [],
  queries: { answered: 10, failed: 1, cancelled: 0, slow: 2 },
  projects: { open: 2, failed: 0 },
  memory: { server: 200e6, heap: 50e6, buffers: 10e6, engine: 800e6 },
  memoryLimits: { store: 2e9 },
  disk: { freeBytes: 50e9, minFreeBytes: 64e6, untilFullSeconds: null },
  jobs: {},
  problems: { silence: 0, flood: 0, quota: 0, backup: 0, disk: 0, export: 0, plugin: 0 },
  cluster: null,
  backup: null,
}

test('a frame has rates, queries by project and kind, and what is wrong', () => {
  const query = { kind: 'TrendsQuery', form: 'answer', caller: 'user 5' }
  const now: Figures = {
    ...quiet,
    time: quiet.time + 2_000,
    events: { ...quiet.events, live: 1_500, past: 40_000 },
    queries: { ...quiet.queries, answered: 14 },
    lag: 12_345,
    statements: { waiting: 3, running: 2 },
    running: [
      { ...query, project: 1, seconds: 12.34 },
      { ...query, project: 1, caller: 'user 6', seconds: 3 },
      { ...query, project: 2, kind: 'HogQLQuery', caller: 'library', seconds: 20 },
    ],
    projects: { open: 2, failed: 1 },
    disk: { ...quiet.disk!, untilFullSeconds: 3 * 86_400 },
    jobs: { alert: { running: 1, resting: 2 } },
    problems: { ...quiet.problems, export: 1 },
    backup: { copiedAt: quiet.time - 3_600_000, verifiedAt: null, failures: 2 },
  }
  expect(topText(quiet, now).split('\n')).toEqual([
    'waymark  2026-03-02 10:00:02 UTC',
    '',
    'Events     250/s, past 20,000/s; 41,500 since the start, 3 dropped',
    'Lag        12,345 records not applied',
    'Queries    2/s; 14 answered, 1 failed, 0 cancelled, 2 slow',
    'Statements 2 running, 3 waiting',
    'Projects   2 open, 1 FAILED',
    'Memory     engine 800.0 MB, server 200.0 MB; limit of the store 2.00 GB',
    'Disk       50.00 GB free, full in 3 days',
    'Backups    newest copy 60 min ago, verified none, 2 FAILED',
    'Jobs       alert 1 (2 wait after a failure)',
    'Problems   export 1',
    '',
    'project  kind         queries  longest s  asked by',
    '-------  -----------  -------  ---------  -----------------',
    '      2  HogQLQuery         1         20  library',
    '      1  TrendsQuery        2       12.3  user 5 and 1 more',
  ])
  expect(topText(null, quiet)).toContain('Events     –, past –;')
  expect(ratesOf(now, { ...quiet, time: now.time + 1_000 }), 'after a restart').toMatchObject({ events_per_second: 0 })
})

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-top-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('it needs a server, and says so', async () => {
  const data = join(folder, 'alone')
  expect((await run(['init', '--data', data])).code).toBe(0)
  expect(await run(['top', '--data', data, '--once'])).toMatchObject({ code: 1, err: expect.stringContaining('No server is running on') })
  expect(await run(['top', '--data', join(folder, 'nothing'), '--once'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('is not a data directory'),
  })
  expect(await run(['top', '--data', data, '--every', 'soon'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('--every must be seconds'),
  })
})

test('it shows a running server, once, as JSON, and until it is stopped', async () => {
  const data = join(folder, 'served')
  const server = start(['serve', '--data', data, '--port', '0', '--json'])
  const ended = finish(server)
  const { url, project_api_key } = JSON.parse(await firstLine(server)) as { url: string; project_api_key: string }
  const batch = Array.from({ length: 20 }, (_, i) => ({ event: 'view', distinct_id: `u${i}` }))
  const sent = await fetch(`${url}/batch/`, {
    method: 'POST',
    body: JSON.stringify({ api_key: project_api_key, batch }),
    headers: { 'content-type': 'application/json' },
  })
  expect(sent.status).toBe(200)
  const once = await run(['top', '--data', data, '--once'])
  expect(once).toMatchObject({ code: 0, err: '' })
  expect(once.out).toMatch(/^Events {5}0\/s, past 0\/s; 20 since the start, 0 dropped$/m)
  expect(once.out).toMatch(/^Memory {5}engine .* MB, server .* MB; limit/m)
  const json = await run(['top', '--data', data, '--once', '--json'])
  expect(JSON.parse(json.out)).toMatchObject({ events: { live: 20 }, rates: { events_per_second: 0 }, projects: { failed: 0 } })
  const watching = start(['top', '--data', data, '--json', '--every', '0.5s'])
  const stopped = finish(watching)
  await firstLine(watching)
  watching.kill('SIGINT')
  expect(await stopped).toMatchObject({ code: 0, err: '' })
  server.kill('SIGTERM')
  expect((await ended).code).toBe(0)
})
