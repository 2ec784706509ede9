import { expect, test } from 'vitest'
import { refused, withHome } from './conversation.ts'

const held = withHome()
const base = '/api/projects/@current/'
const ask = (method: string, path = '', body?: unknown) =>
  held.home.call(method, `${base}annotations/${path}`, { as: held.home.member, ...(body === undefined ? {} : { body }) })
const contents = async (query = '') => (await ask('GET', query)).body.results.map((one: { content: string }) => one.content)

test('an annotation is made, read, changed, hidden and shown again', async () => {
  const { member } = held.home
  const { status, body } = await ask('POST', '', { content: 'Release 1', date_marker: '2026-01-05T10:00:00+01:00' })
  expect([status, body]).toEqual([
    201,
    {
      id: expect.any(Number),
      content: 'Release 1',
      date_marker: '2026-01-05T09:00:00Z',
      scope: 'project',
      creation_type: 'USR',
      dashboard_id: null,
      dashboard_name: null,
      dashboard_item: null,
      insight_short_id: null,
      insight_name: null,
      insight_derived_name: null,
      deleted: false,
      created_at: expect.any(String),
      created_by: expect.objectContaining({ id: member.id }),
      updated_at: expect.any(String),
    },
  ])
  const one = `${body.id}/`
  expect((await ask('PATCH', one, { content: 'Release one' })).body).toMatchObject({
    content: 'Release one',
    date_marker: body.date_marker,
  })
  expect((await ask('PUT', one, { content: 'Release I' })).body).toMatchObject({ content: 'Release I', date_marker: null })
  await ask('PATCH', one, { deleted: true })
  expect(await contents()).toEqual([])
  expect(await ask('GET', one)).toMatchObject(refused(404, 'not_found', expect.stringContaining('deleted')))
  await ask('PATCH', one, { deleted: false })
  expect(await contents()).toEqual(['Release I'])
  expect(await ask('DELETE', one)).toMatchObject(refused(405, 'method_not_allowed'))
  await ask('PATCH', one, { deleted: true })
})

test('lists are searched, filtered and in order of their times', async () => {
  for (const [content, day] of [
    ['First 100%', 1],
    ['Second', 3],
    ['Third', 2],
  ] as const)
    await ask('POST', '', { content, date_marker: `2026-02-0${day}T00:00:00Z` })
  expect(await contents()).toEqual(['Second', 'Third', 'First 100%'])
  expect([await contents('?search=iR'), await contents('?search=%25'), await contents('?search=_')]).toEqual([
    ['Third', 'First 100%'],
    ['First 100%'],
    [],
  ])
  expect(await contents('?date_from=2026-02-02&date_to=2026-02-03')).toEqual(['Third'])
  expect(await contents('?scope=dashboard')).toEqual([])
  expect(await ask('GET', '?date_from=soon')).toMatchObject(refused(400, 'invalid_input', undefined, 'date_from'))
})

test('those of the organization are shown in its other projects, the others are not', async () => {
  const { call, owner, organization, world, outsider } = held.home
  await world.setFeature(organization.id, 'organizations_projects', true)
  const { body: other } = await call('POST', `/api/organizations/${organization.id}/projects/`, { as: owner, body: { name: 'Other' } })
  const theirs = `/api/projects/${other.id}/annotations/`
  const { body: everywhere } = await ask('POST', '', { content: 'Everywhere', scope: 'organization' })
  const { body: here } = await ask('POST', '', { content: 'Here' })
  const list = (await call('GET', theirs, { as: owner })).body.results
  expect(list.map((one: { content: string }) => one.content)).toEqual(['Everywhere'])
  expect(await call('GET', `${theirs}${here.id}/`, { as: owner })).toMatchObject(refused(404, 'not_found'))
  expect((await call('GET', `${theirs}${everywhere.id}/`, { as: owner })).status).toBe(200)
  const [elsewhere] = (await call('GET', '/api/projects/', { as: outsider })).body.results
  if (elsewhere) expect((await call('GET', `/api/projects/${elsewhere.id}/annotations/`, { as: outsider })).body.count).toBe(0)
})

test('an annotation of an insight and a dashboard has their names', async () => {
  const { member, call } = held.home
  const query = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode' }] }
  const { body: insight } = await call('POST', `${base}insights/`, { as: member, body: { name: 'Chart', query } })
  const { body: dashboard } = await call('POST', `${base}dashboards/`, { as: member, body: { name: 'Board' } })
  const { body } = await ask('POST', '', { scope: 'dashboard_item', dashboard_item: insight.id, dashboard_id: dashboard.id })
  expect(body).toMatchObject({
    insight_name: 'Chart',
    insight_short_id: insight.short_id,
    dashboard_name: 'Board',
    dashboard_item: insight.id,
  })
})

test.each([
  [{ scope: 'world' }, 'invalid_choice', 'scope'],
  [{ content: 'x'.repeat(8193) }, 'max_length', 'content'],
  [{ content: 'a\0b' }, 'null_characters_not_allowed', 'content'],
  [{ date_marker: 'tomorrow' }, 'invalid_input', 'date_marker'],
  [{ date_marker: 5 }, 'invalid_input', 'date_marker'],
  [{ dashboard_id: 999 }, 'does_not_exist', 'dashboard_id'],
  [{ dashboard_item: 999 }, 'does_not_exist', 'dashboard_item'],
  [[], 'invalid_input', null],
])('%j is refused', async (body, code, attr) => {
  expect(await ask('POST', '', body)).toMatchObject(refused(400, code, undefined, attr))
})
