import { expect, test } from 'vitest'
import { insertFailedDeliveries, insertPluginConfig } from '../../harness/plugin-rows.ts'
import { withHome } from './conversation.ts'

// Deliveries that failed, as users see them. What makes them is in test/service/plugins/delivery.

const held = withHome()

const setup = async () => {
  const { world, project, call, owner } = held.home
  const config = await insertPluginConfig(world, project, 'pipeline_destinations')
  const path = `/api/projects/${project.id}/pipeline_destination_configs/${config.id}/failed_deliveries/`
  const dead = await insertFailedDeliveries(world, config, 3)
  const due_at = new Date('2030-01-01T00:00:00Z')
  const [waiting] = await insertFailedDeliveries(world, config, 1, { status: 'waiting', due_at, attempts: 4, latest_error: 'timeout' })
  const stored = async () =>
    (await world.accounts.context.store.read.plugin_failed_deliveries.find({ plugin_config_id: config.id })).map(
      ({ id, status, attempts }) => [id, status, attempts],
    )
  return {
    config,
    path,
    dead,
    waiting: waiting!,
    stored,
    ask: (method: string, more = '') => call(method as 'GET', path + more, { as: owner }),
  }
}

test('are listed newest first, all of them or by their status', async () => {
  const { ask, dead, waiting } = await setup()
  const { body } = await ask('GET')
  expect(body.count).toBe(4)
  expect(body.results.map(({ status }: { status: string }) => status).filter((one: string) => one === 'dead')).toHaveLength(3)
  const listed = (await ask('GET', '?status=dead')).body.results
  expect(listed.map(({ id }: { id: string }) => id)).toEqual(dead.map(({ id }) => id).reverse())
  expect(listed[0]).toEqual({
    id: dead[2]!.id,
    status: 'dead',
    event_uuid: dead[2]!.event_uuid,
    event: 'event 2',
    attempts: 1,
    latest_error: 'example.com answered with status 400',
    created_at: '2026-01-05T10:00:02Z',
    last_attempt_at: '2026-01-05T10:00:02Z',
    next_attempt_at: null,
  })
  expect((await ask('GET', '?status=waiting')).body.results).toMatchObject([
    { id: waiting.id, attempts: 4, next_attempt_at: '2030-01-01T00:00:00Z' },
  ])
  expect((await ask('GET', '?status=dead&limit=2&offset=2')).body).toMatchObject({ count: 3, next: null, results: [{ id: dead[0]!.id }] })
})

test('one is retried with all its attempts, whatever its status', async () => {
  const { ask, dead, waiting, stored } = await setup()
  for (const { id } of [dead[1]!, waiting]) expect(await ask('POST', `${id}/retry/`)).toMatchObject({ status: 200, body: { count: 1 } })
  expect(await stored()).toEqual(
    expect.arrayContaining([
      [dead[0]!.id, 'dead', 1],
      [dead[1]!.id, 'waiting', 0],
      [dead[2]!.id, 'dead', 1],
      [waiting.id, 'waiting', 0],
    ]),
  )
})

test('dead letters are retried or discarded all at once; what waits stays', async () => {
  const first = await setup()
  expect((await first.ask('POST', 'retry/')).body).toEqual({ count: 3 })
  expect((await first.stored()).map(([, status]) => status)).toEqual(['waiting', 'waiting', 'waiting', 'waiting'])
  const second = await setup()
  expect((await second.ask('POST', 'discard/')).body).toEqual({ count: 3 })
  expect(await second.stored()).toEqual([[second.waiting.id, 'waiting', 4]])
})

test('one is discarded', async () => {
  const { ask, dead, stored } = await setup()
  expect((await ask('DELETE', `${dead[0]!.id}/`)).status).toBe(204)
  expect((await stored()).map(([id]) => id)).not.toContain(dead[0]!.id)
  expect((await ask('DELETE', `${dead[0]!.id}/`)).status).toBe(404)
  expect((await ask('POST', `${dead[0]!.id}/retry/`)).status).toBe(404)
})

test('those of another config are not found under this one', async () => {
  const [one, other] = [await setup(), await setup()]
  expect((await one.ask('POST', `${other.dead[0]!.id}/retry/`)).status).toBe(404)
  expect((await one.ask('DELETE', `${other.dead[0]!.id}/`)).status).toBe(404)
  expect(await other.stored()).toHaveLength(4)
})

test('go with their plugin, and with their project', async () => {
  const { world, organization, owner, call } = held.home
  const { config, stored } = await setup()
  const { status } = await call('DELETE', `/api/organizations/${organization.id}/plugins/${config.plugin_id}/`, { as: owner })
  expect([status, await stored()]).toEqual([204, []])
  const project = await world.makeProject(organization.id, {})
  const inside = await insertPluginConfig(world, project, 'pipeline_destinations')
  await insertFailedDeliveries(world, inside, 2)
  expect((await call('DELETE', `/api/projects/${project.id}/`, { as: owner })).status).toBe(204)
  expect(await world.accounts.context.store.read.plugin_failed_deliveries.count({ plugin_config_id: inside.id })).toBe(0)
})
