import { describe, expect, test } from 'vitest'
import { refused, withHome } from '../conversation.ts'
import { creatingRows, newBody, pathIn, placedRows } from '../creating.ts'

// Every route that makes records, with an Idempotency-Key: the table is generated from the rows.

const held = withHome()

test('what is answered with 201 makes records, but for those who are not known yet, and of what works once', () => {
  const made = placedRows.filter(({ row }) => row.status === 201).map(({ row }) => row.name)
  expect(
    [
      ...creatingRows.map(({ row }) => row.name),
      'signup.create',
      'setup.create',
      'passkeys.create',
      'scim.create_user',
      'scim.create_group',
      'oauth.register',
    ].sort(),
  ).toEqual([...made, 'invites.create_many'].sort())
})

describe.each(creatingRows.map((one) => ({ title: `${one.row.method} ${one.path}`, ...one })))('$title', (placed) => {
  test('the same key twice is one record and one answer; another body is a conflict', async () => {
    const { call, owner, admin } = held.home
    const path = await pathIn(placed.path, held.home)
    const [body, other] = [await newBody(placed, held.home), await newBody(placed, held.home)]
    const list = path.replace(/bulk\/$/, '')
    const type = placed.row.name === 'groups.create' ? '&group_type_index=0' : ''
    const count = async () => {
      const { body: found } = await call('GET', `${list}?limit=1000${type}`, { as: owner })
      return Array.isArray(found) ? found.length : (found.count ?? found.results.length)
    }
    const post = (sent: unknown, key = `key of ${placed.row.name}`, as = owner) =>
      call('POST', path, { as, body: sent, headers: { 'idempotency-key': key } })
    const before = await count()
    const [first, second] = [await post(body), await post(body)]
    expect(first.status).toBe(placed.row.status)
    expect(await count()).toBe(before + (Array.isArray(body) ? body.length : 1))
    const withoutSecrets = (one: object) => ({ ...one, ...Object.fromEntries(placed.row.secrets.map((name) => [name, null])) })
    for (const one of [first.body].flat()) for (const name of placed.row.secrets) expect(one[name]).toEqual(expect.any(String))
    const kept = Array.isArray(first.body) ? first.body.map(withoutSecrets) : withoutSecrets(first.body)
    expect([second.status, second.body]).toEqual([first.status, kept])
    const after = await count()
    expect(await post(other)).toMatchObject(refused(409, 'conflict', 'This Idempotency-Key was used for another request.'))
    expect(await count()).toBe(after)
    expect((await post(other, `second key of ${placed.row.name}`)).status).toBe(placed.row.status)
    expect((await post(await newBody(placed, held.home), undefined, admin)).status, 'keys belong to their user').toBe(placed.row.status)
  })
})

test('a refusal is not kept: the request may be mended', async () => {
  const { call, owner, organization } = held.home
  const path = `/api/organizations/${organization.id}/roles/`
  const headers = { 'idempotency-key': 'mended' }
  expect(await call('POST', path, { as: owner, body: {}, headers })).toMatchObject(refused(400, 'required', undefined, 'name'))
  expect((await call('POST', path, { as: owner, body: { name: 'Mended' }, headers })).status).toBe(201)
  expect(await call('POST', path, { as: owner, body: { name: 'x' }, headers: { 'idempotency-key': 'x'.repeat(256) } })).toMatchObject(
    refused(400, 'parse_error'),
  )
})

test('kept for a day, then forgotten', async () => {
  const { call, owner, organization, world } = held.home
  const post = () =>
    call('POST', `/api/organizations/${organization.id}/invites/`, {
      as: owner,
      body: { target_email: 'daily@acme.test' },
      headers: { 'idempotency-key': 'daily' },
    })
  const first = await post()
  world.now = new Date(Date.now() + 86_390_000)
  expect((await post()).body.id).toBe(first.body.id)
  world.now = new Date(Date.now() + 86_410_000)
  expect((await post()).body.id).not.toBe(first.body.id)
  world.now = null
  expect(await world.accounts.context.store.read.idempotent_answers.count({}), 'those of the day before are gone').toBe(1)
})

test('@current is what it meant: the same key in another project or organization is another request', async () => {
  const { call, owner, organization, project, world } = held.home
  const next = await world.makeProject(organization.id, { name: 'Next' })
  const headers = { 'idempotency-key': 'of two projects' }
  const make = () => call('POST', '/api/projects/@current/annotations/', { as: owner, headers, body: { content: 'once' } })
  const at = (id: number) => call('PATCH', '/api/users/@me/', { as: owner, body: { set_current_team: id } })
  await at(project.id)
  const first = await make()
  expect(first.status).toBe(201)
  expect((await make()).body).toEqual(first.body)
  await at(next.id)
  expect(await make()).toMatchObject(refused(409, 'conflict', 'This Idempotency-Key was used for another request.'))
  await at(project.id)
  expect((await make()).body).toEqual(first.body)
})
