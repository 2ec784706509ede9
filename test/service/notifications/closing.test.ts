import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import { deferred } from '../../../src/lib/flow/deferred.ts'

// A server that is closed in an orderly way sends nothing twice, and loses nothing.

const folder = mkdtempSync(join(tmpdir(), 'waymark-notification-closing-'))
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
  rmSync(folder, { recursive: true, force: true })
})

const start = (): Promise<LocalWaymark> =>
  open({
    dataDir: folder,
    threads: 1,
    memoryLimit: '256MB',
    exports: { runs: false },
    notifications: { runs: false },
    plugins: { runs: false, allowsPrivateRequests: true },
  })

test('what is being sent ends before the server does, and is not sent by the next one', async () => {
  const ids: string[] = []
  const arrived = deferred<void>()
  const answered = deferred<void>()
  const server = createServer(async (request, response) => {
    ids.push(String(request.headers['webhook-id']))
    request.resume()
    arrived.resolve()
    await answered.promise
    response.end()
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  closing.push(() => new Promise<void>((done) => server.close(() => done())))
  const first = await start()
  const { accounts, saved, notifications } = first
  const { project, user, organization } = await accounts.firstStart({ makesKey: false })
  const place = { project, by: { user, membership: (await accounts.organizations.membership(organization.id, user))! } }
  const query = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'signup' }], trendsFilter: { display: 'BoldNumber' } }
  const { insight } = await saved.insights.create(place, { name: 'Signups', query })
  await notifications.alerts.create(place, {
    insight: insight.id,
    condition: { type: 'absolute_value' },
    threshold: { configuration: { type: 'absolute', bounds: { lower: 1 } } },
    webhook_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
  })
  await notifications.scheduler.tick()
  await notifications.scheduler.settled()
  await notifications.scheduler.tick()
  await arrived.promise
  const closed = first.close()
  answered.resolve()
  await closed

  const second = await start()
  closing.push(() => second.close())
  await second.notifications.scheduler.tick()
  await second.notifications.scheduler.settled()
  const { read } = second.accounts.context.store
  expect(await read.notice_deliveries.find({})).toMatchObject([{ id: ids[0], status: 'delivered', attempts: 1 }])
  expect(ids).toHaveLength(1)
  expect(await read.alert_checks.count({})).toBe(1)
})
