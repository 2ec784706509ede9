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
  const path = `${base}${record.id}/`
  const moved = (await call('PATCH', path, { as: admin, body: { domain: 'f.example.com' } })).body
  expect(moved.target_cname).not.toBe(record.target_cname)
  expect((await call('GET', base, { as: member })).body).toMatchObject({ count: 1, results: [{ domain: 'f.example.com' }] })
  await world.accounts.context.store.write((tables) => tables.proxy_records.update({ id: record.id }, { status: 'valid' }))
  expect((await call('DELETE', path, { as: admin })).status).toBe(204)
  expect((await call('GET', path, { as: member })).body.status, 'somebody works on it').toBe('deleting')
  await world.accounts.context.store.write((tables) => tables.proxy_records.update({ id: record.id }, { status: 'erroring' }))
  await call('DELETE', path, { as: admin })
  expect(await call('GET', path, { as: member })).toMatchObject(refused(404, 'not_found'))
})
