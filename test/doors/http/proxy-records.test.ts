import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { refused, withHome } from './conversation.ts'

const held = withHome()
const base = '/api/organizations/@current/proxy_records/'

test('a proxy record waits at a target that follows from organization and domain', async () => {
  const { call, admin, member, organization, outsider, world } = held.home
  expect(await call('POST', base, { as: member, body: { domain: 'e.example.com' } })).toMatchObject(refused(403, 'permission_denied'))
  const { status, body: record } = await call('POST', base, { as: admin, body: { domain: 'e.example.com', status: 'valid' } })
  const target = createHash('sha256').update(`${organization.id}e.example.com`).digest('hex').slice(0, 20)
  expect([status, record]).toMatchObject([201, { status: 'waiting', created_by: admin.id, target_cname: `${target}.proxy.localhost` }])
  expect(await call('POST', base, { as: outsider, body: { domain: 'e.example.com' } })).toMatchObject(
    refused(400, 'unique', undefined, 'domain'),
  )
  expect(await call('POST', base, { as: admin, body: { domain: 'x'.repeat(65) } })).toMatchObject(
    refused(400, 'max_length', undefined, 'domain'),
  )
  for (const domain of ['events', 'https://e.example.com', 'e.example.com/path', 'E.example.com'])
    expect(await call('POST', base, { as: admin, body: { domain } })).toMatchObject(refused(400, 'invalid_input', undefined, 'domain'))
  const path = `${base}${record.id}/`
  const moved = (await call('PATCH', path, { as: admin, body: { domain: 'f.example.com' } })).body
  expect(moved.target_cname).not.toBe(record.target_cname)
  expect((await call('GET', base, { as: member })).body).toMatchObject({ count: 1, results: [{ domain: 'f.example.com' }] })
  expect((await call('DELETE', path, { as: admin })).status).toBe(204)
  expect(await call('GET', path, { as: member })).toMatchObject(refused(404, 'not_found'))
  expect(world.reports).toEqual([])
})

test('its state is what the name servers say, asked when somebody looks', async () => {
  const { call, admin, member, world } = held.home
  const at = (time: string) => {
    world.now = new Date(time)
  }
  at('2034-01-01T00:00:00Z')
  const { body: record } = await call('POST', base, { as: admin, body: { domain: 'e.shop.example' } })
  const path = `${base}${record.id}/`
  const state = async () => {
    const { status, message } = (await call('GET', path, { as: member })).body
    return [status, message]
  }
  const retry = async () => (await call('POST', `${path}retry/`, { as: admin })).body.status
  expect(await state()).toEqual(['waiting', null])
  world.cname.set('e.shop.example', 'elsewhere.example.')
  expect(await state(), 'asked a moment ago').toEqual(['waiting', null])
  at('2034-01-01T00:01:00Z')
  expect(await state()).toEqual(['erroring', `e.shop.example points to elsewhere.example, not to ${record.target_cname}.`])
  world.cname.set('e.shop.example', `${record.target_cname.toUpperCase()}.`)
  expect(await call('POST', `${path}retry/`, { as: member })).toMatchObject(refused(403, 'permission_denied'))
  expect(await retry()).toBe('valid')
  expect(await call('POST', `${path}retry/`, { as: admin })).toMatchObject(refused(400, 'invalid_input'))
  world.cname.delete('e.shop.example')
  at('2034-01-01T00:02:00Z')
  expect((await state())[0]).toBe('warning')
  world.cname.set('e.shop.example', record.target_cname)
  at('2034-01-01T00:03:00Z')
  expect(await state()).toEqual(['valid', null])
  expect((await call('DELETE', path, { as: admin })).status).toBe(204)
  expect((await state())[0]).toBe('deleting')
  expect(await call('POST', base, { as: admin, body: { domain: 'e.shop.example' } })).toMatchObject(
    refused(400, 'unique', undefined, 'domain'),
  )
  at('2034-01-01T00:04:00Z')
  expect((await call('POST', base, { as: admin, body: { domain: 'e.shop.example' } })).status, 'gone by now').toBe(201)
  world.now = null
})

test('three days without a record are enough; it can be tried again', async () => {
  const { call, admin, world } = held.home
  world.now = new Date('2034-02-01T00:00:00Z')
  const { body: record } = await call('POST', base, { as: admin, body: { domain: 'late.example' } })
  const state = async () => (await call('GET', `${base}${record.id}/`, { as: admin })).body.status
  world.now = new Date('2034-02-03T23:00:00Z')
  expect(await state()).toBe('waiting')
  world.now = new Date('2034-02-04T00:00:01Z')
  expect(await state()).toBe('timed_out')
  expect((await call('POST', `${base}${record.id}/retry/`, { as: admin })).body.status).toBe('waiting')
  expect(await state()).toBe('waiting')
  const entries = await world.accounts.context.store.read.activity.find({ item_id: record.id }, { newestFirst: 'created_at' })
  expect(entries.map(({ activity, is_system }) => [activity, is_system])).toEqual([
    ['updated', false],
    ['updated', true],
    ['created', false],
  ])
  world.now = null
})
