import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorld, type World } from '../../../conformance/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

const call = async (method: string, path: string, body?: unknown) => {
  const response = await fetch(`${world.url}${path}`, {
    method,
    headers: { 'content-type': 'application/json', origin: world.url },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.json(), cookie: response.headers.getSetCookie()[0] ?? '' }
}

test('the first owner takes the account with the secret, once', async () => {
  const { firstOwner } = world.accounts
  expect(await firstOwner.allow('before there is anybody')).toBe(false)
  const { user, organization, project } = await world.accounts.firstStart({})
  const demo = await world.accounts.createProject({ name: 'Demo shop', is_demo: true })
  expect((await call('GET', '/api/setup/')).body, 'no secret was given out').toEqual({ is_waiting: false })
  expect(await firstOwner.allow('the secret')).toBe(true)
  expect((await call('GET', '/api/setup/')).body).toEqual({ is_waiting: true })

  const form = {
    email: 'Ada@Example.com',
    first_name: 'Ada',
    password: 'correct horse',
    organization_name: 'Acme',
    timezone: 'Europe/Berlin',
    secret: 'the secret',
  }
  for (const [change, attr] of [
    [{ secret: 'another one' }, 'secret'],
    [{ secret: '' }, 'secret'],
    [{ email: 'nobody' }, 'email'],
    [{ password: 'short' }, 'password'],
    [{ first_name: ' ' }, 'first_name'],
    [{ timezone: 'Mars/Olympus' }, 'timezone'],
  ] as const)
    expect(await call('POST', '/api/setup/', { ...form, ...change })).toMatchObject({ status: 400, body: { attr } })

  await world.user('taken@example.com', organization.id)
  expect(await call('POST', '/api/setup/', { ...form, email: 'taken@example.com' })).toMatchObject({ status: 400, body: { attr: 'email' } })
  // Two at once: one of them becomes the owner.
  const both = await Promise.all([call('POST', '/api/setup/', form), call('POST', '/api/setup/', { ...form, password: 'another horse' })])
  expect(both.map(({ status }) => status).sort()).toEqual([201, 400])
  const won = both.find(({ status }) => status === 201)!
  expect(won.body).toMatchObject({ uuid: user.uuid, email: expect.stringMatching(/^ada@example\.com$/i), first_name: 'Ada' })
  expect(won.cookie).toMatch(/^waymark_session=.*HttpOnly/)
  expect((await world.accounts.organizations.byId(organization.id))?.name).toBe('Acme')
  // The first project counts days as its owner does.
  const zones = await world.accounts.context.store.read.projects.find({ id: [project.id, demo.id] })
  expect(new Map(zones.map(({ id, timezone }) => [id, timezone]))).toEqual(
    new Map([
      [project.id, 'Europe/Berlin'],
      [demo.id, 'UTC'],
    ]),
  )
  const noted = await world.accounts.context.store.read.activity.find({ user_id: user.id, activity: 'updated' })
  expect(noted.map(({ scope }) => scope).sort()).toEqual(['Organization', 'Team', 'User'])
  expect(JSON.stringify(noted)).not.toMatch(/scrypt|horse|the secret/)
  expect((await call('GET', '/api/setup/')).body).toEqual({ is_waiting: false })
  expect(await call('POST', '/api/setup/', form)).toMatchObject({ status: 400, body: { attr: 'secret' } })
  expect(await firstOwner.allow('again')).toBe(false)
})
