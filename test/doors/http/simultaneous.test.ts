import { expect, test } from 'vitest'
import { withHome } from './conversation.ts'

// Requests that come at once leave what they would leave one after the other.

const held = withHome()

test('a domain has one proxy record', async () => {
  const { call, admin } = held.home
  const path = '/api/organizations/@current/proxy_records/'
  const answers = await Promise.all([1, 2, 3, 4].map(() => call('POST', path, { as: admin, body: { domain: 'e.acme.example' } })))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400])
  expect((await call('GET', path, { as: admin })).body.count).toBe(1)
})

test('an organization has one owner', async () => {
  const { call, world } = held.home
  const giver = await world.user('giver@acme.test', null)
  const { id } = (await call('POST', '/api/organizations/', { as: giver, body: { name: 'Given' } })).body
  const takers = await Promise.all([1, 2, 3].map((n) => world.user(`taker${n}@acme.test`, id)))
  const give = (taker: (typeof takers)[number]) =>
    call('PATCH', `/api/organizations/${id}/members/${taker.uuid}/`, { as: giver, body: { level: 15 } })
  const answers = await Promise.all(takers.map(give))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 403, 403])
  expect(await world.accounts.context.store.read.memberships.count({ organization_id: id, level: 15 })).toBe(1)
})

test('each of the settings that are changed is changed', async () => {
  const { call, member } = held.home
  const settings = {
    app_urls: ['https://a.example'],
    anonymize_ips: true,
    slack_incoming_webhook: 'https://b.example',
    surveys_opt_in: true,
  }
  const change = (path: string, all: object) =>
    Promise.all(Object.entries(all).map(([name, value]) => call('PATCH', path, { as: member, body: { [name]: value } })))
  await change('/api/projects/@current/', settings)
  expect((await call('GET', '/api/projects/@current/', { as: member })).body).toMatchObject(settings)
  const preferences = { theme_mode: 'dark', email_opt_in: true, anonymize_data: true }
  await change('/api/users/@me/', preferences)
  expect((await call('GET', '/api/users/@me/', { as: member })).body).toMatchObject(preferences)
})
