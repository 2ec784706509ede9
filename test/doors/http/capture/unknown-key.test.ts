import { expect, test } from 'vitest'
import type { LogLine } from '../../../../src/doors/http/app.ts'
import { createHandler } from '../../../../src/doors/http/server/create-handler.ts'
import { open } from '../../../../src/engine.ts'

const minute = 60_000

test('a wrong project key is counted, and logged once a minute with how many were not', async () => {
  let now = Date.parse('2026-01-02T03:04:05Z')
  const lines: LogLine[] = []
  await using waymark = await open({ dataDir: ':memory:', clock: () => new Date(now) })
  const handler = createHandler(waymark, { log: (line) => lines.push(line) })
  const send = () =>
    handler(
      new Request('http://localhost/batch/', {
        method: 'POST',
        body: JSON.stringify({ api_key: 'phc_of_another_server', batch: [{ event: 'a', distinct_id: 'u' }] }),
      }),
    )
  for (let i = 0; i < 4; i++) expect((await send()).status).toBe(401)
  now += minute
  for (let i = 0; i < 2; i++) await send()
  expect(lines.filter(({ level }) => level === 'warn')).toEqual([
    { level: 'warn', message: 'events with an unknown project key were refused', path: '/batch', key: 'phc_of_a…', not_logged: 0 },
    { level: 'warn', message: 'events with an unknown project key were refused', path: '/batch', key: 'phc_of_a…', not_logged: 3 },
  ])
  const metrics = await (await handler(new Request('http://localhost/metrics'))).text()
  expect(metrics).toContain('\n# TYPE waymark_capture_refused_total counter\nwaymark_capture_refused_total{code="invalid_api_key"} 6\n')
})
