import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { open } from '../../src/engine.ts'
import { otherLimits } from '../../src/limits/limits.ts'
import { takeMails } from '../../src/service/accounts/organizations/mail-limits.ts'
import { withHome } from '../doors/http/conversation.ts'

// The mails of an organization are counted in the account store: by day, over restarts, and whoever causes them.

const { number: most } = otherLimits.mailsPerDay

test('a restart does not begin the day anew, and the next day does', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'waymark-mail-counts-'))
  let now = new Date('2024-05-01T10:00:00Z')
  const start = () => open({ dataDir, clock: () => now, memoryLimit: '256MB', exports: { runs: false }, notifications: { runs: false } })
  try {
    const first = await start()
    const { organization } = await first.accounts.firstStart({ makesKey: false })
    const taken = [await takeMails(first.accounts.context, organization.id, most - 2), await takeMails(first.accounts.context, 'none', 3)]
    await first.close()
    expect(taken).toEqual([most - 2, 3])

    const second = await start()
    const { context } = second.accounts
    expect([await takeMails(context, organization.id, 5), await takeMails(context, organization.id, 1)]).toEqual([2, 0])
    now = new Date('2024-05-02T00:00:00Z')
    expect(await takeMails(context, organization.id, 5)).toBe(5)
    const rows = await context.store.read.mail_counts.find({})
    expect(rows).toEqual([{ organization_id: organization.id, day: '2024-05-02', mails: 5 }])
    await second.close()
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
})

describe('in a server', () => {
  const held = withHome()
  const start = new Date('2026-01-07T10:30:00Z')
  const day = 86_400_000
  beforeAll(() => Object.assign(held.home.world, { now: start, hasMail: true }))
  afterAll(() => Object.assign(held.home.world, { now: null, hasMail: false }))
  const run = async () => {
    const { scheduler } = held.home.world.waymark.notifications
    for (;;) {
      await scheduler.tick()
      if (scheduler.running === 0) return
      await scheduler.settled()
    }
  }
  const call = (method: string, path: string, body?: object) =>
    held.home.call(method, `/api/projects/${held.home.project.id}/${path}`, { as: held.home.owner, body })

  test('mails asked for together share the count', async () => {
    const { context } = held.home.world.accounts
    held.home.world.now = new Date(start.getTime() - day)
    const taken = await Promise.all(Array.from({ length: 30 }, () => takeMails(context, held.home.organization.id, 20)))
    expect(taken.reduce((sum, one) => sum + one, 0)).toBe(most)
    held.home.world.now = start
  })

  test('those of subscriptions count, and the ones beyond are sent on the next day', async () => {
    const { world, organization } = held.home
    const query = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'signup' }] }
    const { body: insight } = await call('POST', 'insights/', { name: 'Signups', query })
    const targets = ['a@acme.test', 'b@acme.test', 'c@acme.test', 'd@acme.test']
    const made = await call('POST', 'subscriptions/', {
      insight: insight.id,
      title: 'Signups',
      target_type: 'email',
      target_value: targets.join(','),
      frequency: 'weekly',
      interval: 1,
      start_date: '2026-01-07T11:00:00Z',
    })
    expect(made, JSON.stringify(made.body)).toMatchObject({ status: 201 })
    world.now = new Date('2026-01-07T12:00:00Z')
    expect(await takeMails(world.accounts.context, organization.id, most - 2)).toBe(most - 2)
    world.outbox.length = 0
    await run()
    expect(world.outbox).toHaveLength(2)
    const { read } = world.accounts.context.store
    const waiting = await read.notice_deliveries.find({ status: 'waiting' })
    expect(waiting.map(({ latest_error }) => latest_error)).toEqual(
      waiting.map(() => 'The organization has reached its daily limit of e-mails.'),
    )
    expect(waiting).toHaveLength(2)
    expect(await read.mail_counts.find({})).toMatchObject([{ day: '2026-01-07', mails: most }])
    world.now = new Date('2026-01-08T01:00:00Z')
    await run()
    expect(world.outbox.map(({ to }) => to).sort()).toEqual(targets)
    expect(await read.mail_counts.find({})).toMatchObject([{ day: '2026-01-08', mails: 2 }])
  })

  test('an organization that is removed leaves no count', async () => {
    const { world, owner } = held.home
    const { accounts } = world
    const made = await accounts.organizations.create(owner, { name: 'Short' })
    expect(await takeMails(accounts.context, made.id, 1)).toBe(1)
    expect(await accounts.context.store.read.mail_counts.count({ organization_id: made.id })).toBe(1)
    expect((await held.home.call('DELETE', `/api/organizations/${made.id}/`, { as: owner })).status).toBe(204)
    expect(await accounts.context.store.read.mail_counts.count({ organization_id: made.id })).toBe(0)
  })
})
