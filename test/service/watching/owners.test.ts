import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openWatching } from '../../../src/service/watching/open-watching.ts'
import type { World } from '../../conformance/world.ts'
import { insertFailedDeliveries, insertPluginConfig } from '../../harness/plugin-rows.ts'
import { day, hour, minute, otherOwner, shopOwner, type WatchWorld, watchWorld } from './world.ts'

// Owners get one mail when something stops, floods or breaks, and one when it is over; owners of others get none.

let world: WatchWorld
const usual = { shop: 40, other: 40 }
beforeEach(async () => {
  world = await watchWorld()
})
afterEach(async () => {
  expect(world.reports.splice(0)).toEqual([])
  await world.waymark.close()
})

describe('events that stop', () => {
  test('are one mail after an hour, and one when they arrive again', async () => {
    await world.pass(4 * hour, usual)
    expect(world.subjects()).toEqual([])
    await world.pass(45 * minute, { other: 40 })
    expect(world.subjects(), 'not before an hour').toEqual([])
    await world.pass(5 * hour, { other: 40 })
    expect(world.mails[0]?.text).toContain('No event has arrived since 2026-03-02 14:00 UTC')
    expect(world.mails[0]?.text).toContain('It began at 2026-03-02 15:00 UTC')
    expect(world.subjects()).toEqual([`${shopOwner}: Shop: no events arrive`])
    await world.pass(2 * hour, usual)
    expect(world.subjects()).toEqual([`${shopOwner}: Shop: events arrive again`])
  })

  test('are no news where an hour without events is usual', async () => {
    await world.pass(6 * hour, { shop: 4 })
    await world.pass(4 * hour)
    expect(world.subjects(), 'few events').toEqual([])
    await world.pass(15 * minute, { other: 400 })
    await world.pass(3 * hour)
    expect(world.subjects(), 'somebody tries it out, once').toEqual([])
  })

  test('are no news where a client sends once in ninety minutes', async () => {
    for (let i = 0; i < 12; i++) {
      await world.pass(15 * minute, { shop: 400 })
      await world.pass(75 * minute)
    }
    // The first gap was not known yet.
    expect(world.subjects().length).toBeLessThanOrEqual(2)
    for (let i = 0; i < 12; i++) {
      await world.pass(15 * minute, { shop: 400 })
      await world.pass(75 * minute)
    }
    expect(world.subjects()).toEqual([])
    await world.pass(3 * hour)
    expect(world.subjects()).toEqual([`${shopOwner}: Shop: no events arrive`])
  })

  test('at night are no news after the first one, and at noon they are', async () => {
    const passDay = async (noon = usual) => {
      await world.pass(10 * hour, usual) // until 20:00
      await world.pass(10 * hour)
      await world.pass(4 * hour, noon)
    }
    await passDay()
    expect(world.subjects(), 'the first evening is like an outage').toHaveLength(4)
    await passDay()
    await passDay()
    expect(world.subjects()).toEqual([])
    await world.pass(2 * hour, usual)
    await world.pass(3 * hour, { shop: 0, other: 40 })
    expect(world.subjects()).toEqual([`${shopOwner}: Shop: no events arrive`])
  })

  test('count from the start of a server that was off', async () => {
    await world.waymark.close()
    const folder = mkdtempSync(join(tmpdir(), 'waymark-watching-'))
    world = await watchWorld(folder)
    await world.pass(4 * hour, usual)
    world.now = new Date(world.now.getTime() + 5 * hour)
    await world.restart()
    await world.pass(30 * minute)
    expect(world.subjects(), 'clients had half an hour').toEqual([])
    await world.pass(45 * minute)
    expect(world.subjects().sort()).toEqual([`${shopOwner}: Shop: no events arrive`, `${otherOwner}: Other: no events arrive`].sort())
    await world.restart()
    await world.pass(2 * hour)
    expect(world.subjects(), 'once, also after another start').toEqual([])
    await world.pass(2 * hour, usual)
    expect(world.subjects()).toHaveLength(2)
    rmSync(folder, { recursive: true, force: true })
  })
})

test('ten times as many events as usual are one mail, and one when it is over', async () => {
  await world.pass(5 * hour, usual)
  await world.pass(3 * hour, { shop: 1200, other: 200 })
  expect(world.mails[0]?.text).toMatch(/About [4-6]\d\d events arrived in the last hour. Usually it is \d\d at most/)
  expect(world.subjects()).toEqual([`${shopOwner}: Shop: ten times as many events as usual`])
  await world.pass(4 * hour, usual)
  expect(world.subjects()).toEqual([`${shopOwner}: Shop: as many events as usual again`])
})

test('past events that are imported are no flood, and do not end a silence', async () => {
  await world.pass(5 * hour, usual)
  const batch = Array.from({ length: 3_000 }, (_, i) => ({ event: 'view', distinct_id: `u${i}`, timestamp: '2025-01-01T00:00:00Z' }))
  await world.shop.ingest({ batch, historical_migration: true } as never)
  await world.pass(30 * minute, usual)
  expect(world.subjects()).toEqual([])
})

test('most of the events of a day are one mail; the next days repeat it only after some days', async () => {
  const { store } = world.waymark.accounts.context
  await store.write((tables) => tables.projects.update({ id: world.shop.id }, { events_per_day: 1_000 }))
  const send = async (count: number) => {
    const record = (await store.read.projects.first({ id: world.shop.id }))!
    expect(await world.waymark.accounts.eventQuotas.refusal(record, count)).toBeNull()
    await world.waymark.accounts.eventQuotas.count(record, count)
    await world.pass(30 * minute)
  }
  await send(790)
  expect(world.subjects()).toEqual([])
  await send(20)
  await send(20)
  expect(world.mails[0]?.text).toContain('810 of 1,000 events')
  expect(world.subjects()).toEqual([`${shopOwner}: Shop: the event limit for today is nearly reached`])
  await world.pass(14 * hour)
  expect(world.subjects()).toEqual([`${shopOwner}: Shop: below the event limit again`])
  await send(900)
  await world.pass(day)
  expect(world.subjects(), 'every day would be too often').toEqual([])
  await world.pass(3 * day)
  await send(900)
  expect(world.subjects()).toEqual([`${shopOwner}: Shop: the event limit for today is nearly reached`])
})

test('an export that keeps failing is one mail, and a removed one is none', async () => {
  const { store } = world.waymark.accounts.context
  const { accounts, exports } = world.waymark
  const user = (await accounts.users.byEmail(shopOwner))!
  const record = (await store.read.projects.first({ id: world.shop.id }))!
  const membership = (await store.read.memberships.first({ user_id: user.id }))!
  const body = { name: 'Nightly', interval: 'hour', destination: { type: 'NoOp', config: {} } }
  const { id } = await exports.service.create({ user, membership }, record, body)
  const set = async (change: object) => {
    await store.write((tables) => tables.batch_exports.update({ id }, change))
    await world.pass(30 * minute)
  }
  await set({ failed_runs: 1 })
  expect(world.subjects()).toEqual([])
  await set({ failed_runs: 2 })
  await set({ failed_runs: 5, paused: true, paused_reason: 'Paused after 5 failed runs in a row.' })
  expect(world.subjects()).toEqual([`${shopOwner}: The export “Nightly” (Shop) keeps failing`])
  await set({ failed_runs: 0, paused: false, paused_reason: null })
  expect(world.subjects()).toEqual([`${shopOwner}: The export “Nightly” (Shop) works again`])
  await world.pass(2 * hour)
  await set({ failed_runs: 3 })
  expect(world.subjects()).toHaveLength(1)
  await set({ is_deleted: true })
  expect(world.subjects()).toEqual([])
})

test('a plugin whose deliveries fail is one mail', async () => {
  const { context } = world.waymark.accounts
  const home = { accounts: world.waymark.accounts, now: world.now } as World
  const project = (await context.store.read.projects.first({ id: world.shop.id }))!
  const config = await insertPluginConfig(home, project, 'pipeline_destinations')
  await context.store.write((tables) =>
    tables.plugin_deliveries.insert({
      plugin_config_id: config.id,
      project_id: project.id,
      position: 0,
      counts: {},
      updated_at: world.now,
    }),
  )
  await insertFailedDeliveries(home, config, 3, { status: 'waiting', created_at: world.now, latest_error: '503' })
  await world.pass(15 * minute)
  expect(world.subjects()).toEqual([])
  await world.pass(30 * minute)
  expect(world.mails[0]?.text).toContain('The latest error: 503')
  expect(world.subjects()).toEqual([expect.stringMatching(/^ada@shop\.test: The plugin “.*” \(Shop\) keeps failing$/)])
  await context.store.write((tables) => tables.plugin_failed_deliveries.remove({ plugin_config_id: config.id }))
  await world.pass(15 * minute)
  expect(world.subjects(), 'not yet').toEqual([])
  await world.pass(45 * minute)
  expect(world.subjects()).toEqual([expect.stringMatching(/works again$/)])
})

test('backups that fail are one mail, to the owners of the first organization', async () => {
  await world.waymark.close()
  const folder = mkdtempSync(join(tmpdir(), 'waymark-watching-'))
  world = await watchWorld(join(folder, 'data'), { backups: { to: join(folder, 'copies') } })
  const { store } = world.waymark.accounts.context
  await expect.poll(async () => (await world.waymark.scheduledBackups!.status())!.verified_at, { timeout: 60_000 }).not.toBeNull()
  const set = async (change: object) => {
    await store.write((tables) => tables.backups.update({}, { due_at: new Date(world.now.getTime() + day), ...change }))
    await world.pass(15 * minute)
  }
  await set({ failures: 1, latest_error: 'no space' })
  expect(world.subjects()).toEqual([])
  await set({ failures: 2, latest_error: 'no space' })
  await set({ failures: 3, latest_error: 'no space' })
  expect(world.mails[0]?.text).toContain('2 attempts at a copy failed in a row. The latest error: no space')
  expect(world.subjects()).toEqual([`${shopOwner}: Backups fail (http://127.0.0.1:8000)`])
  await set({ failures: 0, latest_error: null })
  expect(world.subjects()).toEqual([`${shopOwner}: Backups work again (http://127.0.0.1:8000)`])
  await set({ verify_error: 'Project 1 has 2 events less.' })
  expect(world.subjects()).toEqual([`${shopOwner}: Backups fail (http://127.0.0.1:8000)`])
  rmSync(folder, { recursive: true, force: true })
})

test('a disk that fills is one mail, also across a restart, and one when it has room again', async () => {
  const { context } = world.waymark.accounts
  const GiB = 1024 ** 3
  let free = 100 * GiB
  const server = {
    backups: async () => null,
    disk: async () => ({ freeBytes: free, minFreeBytes: GiB }),
    quotas: async () => [],
    pluginProblem: () => null,
  }
  const opened = () => {
    const parts = { context, server, wakeDeliveries: () => undefined, report: (error: unknown) => void world.reports.push(error) }
    return openWatching({ ...parts, owner: `process ${Math.random()}`, isAlone: false, began: new Date(0) }, false)
  }
  let watching = opened()
  // Instead of the server's own, which looks at the disk of this machine.
  await world.waymark.watching.runner.close()
  const passHours = async (hours: number, perHour: number) => {
    for (let i = 0; i < hours * 2; i++) {
      world.now = new Date(world.now.getTime() + 30 * minute)
      free -= perHour / 2
      await watching.runner.tick()
      await watching.runner.settled()
    }
    await world.waymark.notifications.scheduler.tick()
    await world.waymark.notifications.scheduler.settled()
  }
  await passHours(5, GiB)
  expect(world.subjects(), 'too little is known').toEqual([])
  await passHours(4, GiB)
  expect(world.mails[0]?.text).toMatch(/has \d\d\.\d GiB left, and is full in about [34] days/)
  expect(world.subjects()).toEqual([`${shopOwner}: The disk is full within a week (http://127.0.0.1:8000)`])
  await watching.runner.close()
  watching = opened()
  await passHours(12, GiB)
  expect(world.subjects()).toEqual([])
  free += 200 * GiB
  await passHours(30, 0)
  expect(world.subjects()).toEqual([`${shopOwner}: The disk has room again (http://127.0.0.1:8000)`])
  await watching.runner.close()
})

test('two thousand idle projects cost a check as many reads as two, and are not opened', async () => {
  const { context } = world.waymark.accounts
  const { store } = context
  const [shop] = await store.read.projects.find({ id: world.shop.id })
  const counts = Array.from({ length: 192 }, (_, i) => i % 24)
  await store.write(async (tables) => {
    for (let id = 100; id < 2_100; id++) {
      await tables.projects.insert({ ...shop!, id, uuid: context.newId(), api_token: `phc_${id}` })
      const latest = { latest_at: new Date(world.now.getTime() - 7_200_000), latest_hour: Math.floor(world.now.getTime() / hour) - 2 }
      await tables.event_hours.insert({
        project_id: id,
        since: new Date(world.now.getTime() - 8 * day),
        counts,
        longest_gap: null,
        ...latest,
      })
    }
  })
  let reads = 0
  const counted = new Proxy(store.read, {
    get: (tables, name) =>
      new Proxy(tables[name as keyof typeof tables], {
        get(rows, method) {
          reads++
          return Reflect.get(rows, method).bind(rows)
        },
      }),
  })
  const server = {
    backups: async () => null,
    disk: async () => null,
    quotas: () => world.waymark.accounts.eventQuotas.all(),
    pluginProblem: () => null,
  }
  const watching = openWatching(
    {
      context: { ...context, store: { ...store, read: counted } },
      server,
      wakeDeliveries: () => undefined,
      report: (error) => void world.reports.push(error),
      began: new Date(0),
      isAlone: false,
    },
    false,
  )
  const before = (await world.waymark.condition()).projects
  await watching.runner.tick()
  await watching.runner.settled()
  expect(watching.latest?.rates.size).toBe(2_000)
  expect(reads).toBeLessThan(40)
  expect((await world.waymark.condition()).projects).toBe(before)
  await watching.runner.close()
})

test('a watch that is switched off sends nothing, and neither does a server without a mail server, until there is one', async () => {
  const { watches } = world.waymark.watching
  const { store } = world.waymark.accounts.context
  const user = (await world.waymark.accounts.users.byEmail(shopOwner))!
  const project = (await store.read.projects.first({ id: world.shop.id }))!
  const membership = (await store.read.memberships.first({ user_id: user.id }))!
  const place = { project, by: { user, membership } }
  expect(await watches.change(place, 'silence', { enabled: false })).toMatchObject({ enabled: false })
  world.hasMailServer = false
  await world.pass(4 * hour, usual)
  await world.pass(3 * hour)
  expect(world.subjects()).toEqual([])
  expect((await watches.list(place)).find(({ name }) => name === 'silence')?.problems).toMatchObject([{ ended_at: null, told_at: null }])
  world.hasMailServer = true
  await world.pass(15 * minute)
  expect(world.subjects(), 'only those who want it').toEqual([`${otherOwner}: Other: no events arrive`])
  await watches.change(place, 'silence', { enabled: true })
  await world.pass(15 * minute)
  expect(world.subjects()).toEqual([`${shopOwner}: Shop: no events arrive`])
})
