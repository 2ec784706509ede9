import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newRun } from '../../../src/service/exports/running/new-run.ts'
import { refused, withHome } from './conversation.ts'

const held = withHome()
const path = '/api/projects/@current/batch_exports/'
const config = { prefix: 'a/', exclude_events: ['$ping'] }
const body = { name: 'Nightly', destination: { type: 'LocalFiles', config }, interval: 'hour' }
const http = { type: 'HTTP', config: { url: 'https://hooks.example.com/in', token: 'very secret' } }

beforeAll(async () => {
  const { accounts } = held.home.world
  const { project, organization, member, admin } = held.home
  for (const { id } of [member, admin])
    await accounts.context.store.write((tables) =>
      tables.users.update({ id }, { current_organization_id: organization.id, current_project_id: project.id }),
    )
})
beforeEach(async () => {
  const { world } = held.home
  world.now = new Date('2026-03-02T12:34:56Z')
  await world.accounts.context.store.write(async (tables) => {
    for (const table of [tables.batch_exports, tables.batch_export_runs, tables.batch_export_backfills, tables.batch_export_logs])
      await table.remove({})
  })
})

const create = async (given: object = {}) => {
  const { call, member } = held.home
  const { status, body: made } = await call('POST', path, { as: member, body: { ...body, ...given } })
  expect(status).toBe(201)
  return made
}
const store = () => held.home.world.accounts.context.store
const recordOf = async (id: string) => (await store().read.batch_exports.first({ id }))!

/** A server for everybody: destinations are in public networks only. */
describe('an address that a run would be refused at', () => {
  const table = { user: 'u', password: 'p', database: 'd' }
  const s3 = { bucket_name: 'b', region: 'r', prefix: 'p' }
  const bigQuery = { project_id: 'p', dataset_id: 'd', private_key: 'k', private_key_id: 'i', client_email: 'a@b.test' }
  test.each<[type: string, setting: string, value: unknown, isTaken: boolean, rest: object]>([
    ['HTTP', 'url', 'http://127.0.0.1:9/x', false, { token: 't' }],
    ['HTTP', 'url', 'http://169.254.169.254/latest', false, { token: 't' }],
    ['HTTP', 'url', 'http://0x7f000001/', false, { token: 't' }],
    ['HTTP', 'url', 'http://localhost/', false, { token: 't' }],
    ['HTTP', 'url', 'ftp://example.com/', false, { token: 't' }],
    ['HTTP', 'url', 'https://', false, { token: 't' }],
    ['HTTP', 'url', 'https://exa\nmple.com/', false, { token: 't' }],
    ['HTTP', 'url', 'https://example.com:99999/', false, { token: 't' }],
    ['HTTP', 'url', 'https://sink.internal/', true, { token: 't' }],
    ['S3', 'endpoint_url', 'http://10.0.0.1:9000', false, s3],
    ['S3', 'endpoint_url', 'minio:9000', false, s3],
    ['S3', 'endpoint_url', 'https://s3.internal', true, s3],
    ['S3', 'endpoint_url', '', true, s3],
    ['BigQuery', 'token_uri', 'http://[::1]/token', false, bigQuery],
    ['BigQuery', 'token_uri', 'token', false, bigQuery],
    ...['Postgres', 'Redshift'].flatMap((type): [string, string, unknown, boolean, object][] => [
      [type, 'host', '192.168.1.1', false, table],
      [type, 'host', '::1', false, table],
      [type, 'host', '127.1', false, table],
      [type, 'host', 'localhost', false, table],
      [type, 'host', '/var/run/postgresql', false, table],
      [type, 'host', 'db.example.com:5432', false, table],
      [type, 'host', 'db.exam\nple.com', false, table],
      [type, 'host', 'postgres://db.example.com', false, table],
      [type, 'host', 'db.internal', true, table],
      [type, 'port', 99_999, false, { ...table, host: 'db.internal' }],
    ]),
  ])('%s %s %j', async (type, setting, value, isTaken, rest) => {
    const { call, member, world } = held.home
    const settings = world.settings
    world.settings = { ...settings, isHosted: true }
    try {
      const destination = { type, config: { ...rest, [setting]: value } }
      const told = expect.objectContaining({ status: 400, body: expect.objectContaining({ attr: `destination__config__${setting}` }) })
      const saved = await call('POST', path, { as: member, body: { ...body, destination } })
      expect(saved).toEqual(isTaken ? expect.objectContaining({ status: 201 }) : told)
      const known = isTaken ? saved.body : await create({ destination: http })
      const changed = await call('PATCH', `${path}${known.id}/`, { as: member, body: { destination } })
      expect(changed).toEqual(isTaken ? expect.objectContaining({ status: 200 }) : told)
      // What stands already may stay.
      expect((await call('PATCH', `${path}${known.id}/`, { as: member, body: { name: 'Renamed' } })).status).toBe(200)
    } finally {
      world.settings = settings
    }
  })

  test('is stored without spaces around it', async () => {
    const { call, member } = held.home
    const made = await create({ destination: { type: 'HTTP', config: { url: ' https://hooks.example.com/in\n', token: ' t ' } } })
    expect(made.destination.config).toEqual({ url: 'https://hooks.example.com/in' })
    const changed = { type: 'HTTP', config: { url: '\thttps://hooks.example.com/other ', token: 't' } }
    const { body: after } = await call('PATCH', `${path}${made.id}/`, { as: member, body: { destination: changed } })
    expect(after.destination.config.url).toBe('https://hooks.example.com/other')
  })
})

describe('the record', () => {
  test('is created with the usual values, and read under the project and the organization', async () => {
    const { call, member, project, organization } = held.home
    const made = await create()
    const expected = {
      id: expect.any(String),
      team_id: project.id,
      name: 'Nightly',
      model: 'events',
      destination: { type: 'LocalFiles', config },
      interval: 'hour',
      paused: false,
      paused_reason: null,
      created_at: '2026-03-02T12:34:56Z',
      last_updated_at: '2026-03-02T12:34:56Z',
      last_paused_at: null,
      start_at: null,
      end_at: null,
      latest_runs: [],
      sql_like_query: null,
      schema: null,
      filters: null,
    }
    expect(made).toEqual(expected)
    expect((await call('GET', `${path}${made.id}`, { as: member })).body).toEqual(made)
    const ofOrganization = `/api/organizations/${organization.id}/batch_exports/`
    expect((await call('GET', `${ofOrganization}${made.id}/`, { as: member })).body).toEqual(made)
    expect((await call('GET', ofOrganization, { as: member })).body).toMatchObject({ count: 1, results: [made] })
    const { body: other } = await call('POST', ofOrganization, { as: member, body })
    expect(other).toMatchObject({ team_id: project.id })
  })

  test('lists the newest first, page by page', async () => {
    const { call, member, world } = held.home
    for (const name of ['one', 'two', 'three']) {
      world.now = new Date(world.now!.getTime() + 1000)
      await create({ name })
    }
    const { body: page } = await call('GET', `${path}?limit=2`, { as: member })
    expect(page).toMatchObject({ count: 3, next: expect.stringContaining('offset=2'), results: [{ name: 'three' }, { name: 'two' }] })
  })

  test('secrets are never returned, are encrypted at rest, and stay when a change leaves them out', async () => {
    const { call, member } = held.home
    const made = await create({ destination: http })
    expect(made.destination).toEqual({ type: 'HTTP', config: { url: http.config.url } })
    const stored = await recordOf(made.id)
    expect(JSON.stringify(stored)).not.toContain('very secret')
    expect(stored.secrets).toMatch(/^v1\./)
    const change = { destination: { type: 'HTTP', config: { url: 'https://hooks.example.com/other' } } }
    const { body: changed } = await call('PATCH', `${path}${made.id}`, { as: member, body: change })
    expect(changed.destination).toEqual(change.destination)
    expect((await recordOf(made.id)).secrets).not.toBeNull()
    const { settings } = held.home.world.waymark.exports.service.settingsToTest(await recordOf(made.id), {})
    expect(settings).toMatchObject({ url: 'https://hooks.example.com/other', token: 'very secret' })
    const [entry] = await store().read.activity.find({ scope: 'BatchExport', item_id: made.id, activity: 'updated' })
    expect(entry).toMatchObject({ detail: { changes: [{ field: 'config' }] } })
    expect(JSON.stringify(entry)).not.toContain('very secret')
  })

  test('stored secrets are not sent to another host: neither by a change nor by a check', async () => {
    const { call, member } = held.home
    const place = { host: 'db.example.com', database: 'shop' }
    const made = await create({ destination: { type: 'Postgres', config: { ...place, user: 'exporter', password: 'very secret' } } })
    const own = `${path}${made.id}`
    const detail = 'Enter user and password again: stored secrets are not sent to another host or port.'
    for (const change of [{ host: 'evil.example.com' }, { port: 6000 }, { host: 'evil.example.com', user: 'exporter' }]) {
      const destination = { type: 'Postgres', config: { ...place, ...change } }
      const missing = 'user' in change ? 'password' : 'user'
      const answer = refused(
        400,
        'required',
        'user' in change ? detail.replace('user and ', '') : detail,
        `destination__config__${missing}`,
      )
      expect(await call('PATCH', own, { as: member, body: { destination } })).toMatchObject(answer)
      expect(await call('POST', `${own}/run_test_step`, { as: member, body: { destination, step: 0 } })).toMatchObject(answer)
    }
    const same = { destination: { type: 'Postgres', config: { ...place, table_name: 'other' } } }
    expect((await call('PATCH', own, { as: member, body: same })).status).toBe(200)
    const again = { destination: { type: 'Postgres', config: { host: 'new.example.com', user: 'u', password: 'p' } } }
    expect((await call('PATCH', own, { as: member, body: again })).status).toBe(200)
    const { settings } = held.home.world.waymark.exports.service.settingsToTest(await recordOf(made.id), {})
    expect(settings).toMatchObject({ host: 'new.example.com', user: 'u', password: 'p', table_name: 'other' })
  })

  test('unknown settings are stored and shown, and not passed to the destination', async () => {
    const made = await create({ destination: { type: 'LocalFiles', config: { ...config, invalid_key: 'x' } } })
    expect(made.destination.config).toEqual({ ...config, invalid_key: 'x' })
    const { settings } = held.home.world.waymark.exports.service.settingsToTest(await recordOf(made.id), {})
    expect(settings).not.toHaveProperty('invalid_key')
  })

  test.each<[object, number, string | null]>([
    [{ port: '5433', has_self_signed_cert: 'true' }, 201, null],
    [{ user: 5, schema: ' reports ' }, 201, null],
    [{ port: null, schema: null }, 201, null],
    [{ port: '70000' }, 400, 'port'],
    [{ port: 'x' }, 400, 'port'],
    [{ include_events: 'x', port: 'x' }, 400, 'include_events'],
  ])('settings may come as text: %j', async (given, status, attr) => {
    const { call, member } = held.home
    const settings = { host: 'db.example.com', database: 'd', user: 'u', password: 'p', ...given }
    const answer = await call('POST', path, { as: member, body: { ...body, destination: { type: 'Postgres', config: settings } } })
    expect(answer).toMatchObject({ status, ...(attr && { body: { attr: `destination__config__${attr}` } }) })
  })

  test('PUT needs what is required and keeps what is not sent; another interval continues at the same place', async () => {
    const { call, member } = held.home
    const made = await create({ start_at: '2023-07-19 00:00:00', end_at: '2023-07-20T02:00:00+02:00' })
    expect(made).toMatchObject({ start_at: '2023-07-19T00:00:00Z', end_at: '2023-07-20T00:00:00Z' })
    expect(await call('PUT', `${path}${made.id}`, { as: member, body: { name: 'x', interval: 'hour' } })).toMatchObject(
      refused(400, 'required', undefined, 'destination'),
    )
    const replaced = { ...body, interval: 'day', start_at: '2022-07-19 00:00:00' }
    const { body: after } = await call('PUT', `${path}${made.id}`, { as: member, body: replaced })
    expect(after).toMatchObject({ interval: 'day', start_at: '2022-07-19T00:00:00Z', end_at: '2023-07-20T00:00:00Z' })
    expect((await recordOf(made.id)).cut_at).toEqual(new Date('2026-03-02T12:00:00Z'))
  })

  test('a deleted export is hidden, and its runs and backfills are cancelled', async () => {
    const { call, member, world } = held.home
    const made = await create({ destination: { type: 'NoOp', config: {} } })
    const range = { start_at: '2023-10-23 00:00:00', end_at: '2023-10-24 00:00:00' }
    const { status, body: answer } = await call('POST', `${path}${made.id}/backfill/`, { as: member, body: range })
    expect(status).toBe(200)
    expect(answer).toMatchObject({
      id: made.id,
      backfill_id: `${made.id}-Backfill-2023-10-23T00:00:00+00:00-2023-10-24T00:00:00+00:00`,
    })
    await world.waymark.exports.scheduler.tick()
    await call('DELETE', `${path}${made.id}/`, { as: member })
    await world.waymark.exports.scheduler.settled()
    expect((await call('GET', `${path}${made.id}/`, { as: member })).status).toBe(404)
    expect((await call('GET', path, { as: member })).body.count).toBe(0)
    expect(await store().read.batch_export_backfills.find({ batch_export_id: made.id })).toMatchObject([{ status: 'Cancelled' }])
    expect(await store().read.batch_export_runs.find({ status: ['Starting', 'Running'] })).toEqual([])
  })
})

describe('what is refused', () => {
  test.each<[string, object, number, string, string | null]>([
    ['no name', { name: undefined }, 400, 'required', 'name'],
    ['an empty name', { name: '' }, 400, 'blank', 'name'],
    ['an unknown interval', { interval: 'minute' }, 400, 'invalid_choice', 'interval'],
    ['an unknown model', { model: 'groups' }, 400, 'invalid_choice', 'model'],
    ['no destination', { destination: undefined }, 400, 'required', 'destination'],
    ['an unknown type', { destination: { type: 'FTP', config: {} } }, 400, 'invalid_choice', 'destination__type'],
    ['settings that are a list', { destination: { type: 'NoOp', config: [] } }, 400, 'invalid_input', 'destination__config'],
    [
      'a missing setting',
      { destination: { type: 'HTTP', config: { url: 'https://x.example' } } },
      400,
      'required',
      'destination__config__token',
    ],
    [
      'a compression that the format does not have',
      { destination: { type: 'LocalFiles', config: { file_format: 'JSONLines', compression: 'zstd' } } },
      400,
      'invalid_input',
      'destination__config__compression',
    ],
    [
      'events that are a text',
      { destination: { type: 'NoOp', config: { include_events: 'x' } } },
      400,
      'invalid_input',
      'destination__config__include_events',
    ],
    ...['..', '../other', 'a/../../b', '..\\b', '{table}/..', 'a\0b'].map((prefix): [string, object, number, string, string] => [
      `the prefix ${JSON.stringify(prefix)}`,
      { destination: { type: 'LocalFiles', config: { prefix } } },
      400,
      'invalid_input',
      'destination__config__prefix',
    ]),
    ['a time that is none', { start_at: 'soon' }, 400, 'invalid_input', 'start_at'],
    ['an end before the start', { start_at: '2026-01-02', end_at: '2026-01-01' }, 400, 'invalid_input', 'start_at'],
  ])('%s', async (_, given, status, code, attr) => {
    const { call, member } = held.home
    expect(await call('POST', path, { as: member, body: { ...body, ...given } })).toMatchObject(refused(status, code, undefined, attr))
  })

  test('every 5 minutes without the feature', async () => {
    const { call, member, world, organization } = held.home
    await world.setFeature(organization.id, 'high_frequency_batch_exports', false)
    const frequent = { ...body, interval: 'every 5 minutes' }
    const detail = 'Higher frequency batch exports are not enabled for this team.'
    expect(await call('POST', path, { as: member, body: frequent })).toMatchObject(refused(403, 'permission_denied', detail))
    await world.setFeature(organization.id, 'high_frequency_batch_exports', true)
    expect((await call('POST', path, { as: member, body: frequent })).status).toBe(201)
  })

  test('strangers, other projects, and keys without the scope', async () => {
    const { call, member, outsider, project, organization, key, world, owner } = held.home
    const made = await create()
    const own = `/api/projects/${project.id}/batch_exports/${made.id}/`
    expect((await call('GET', own, { as: outsider })).status).toBe(403)
    expect((await call('POST', `${own}backfill`, { as: outsider, body: {} })).status).toBe(403)
    const second = await world.makeProject(organization.id, { name: 'Second' })
    const there = `/api/projects/${second.id}/batch_exports/${made.id}/`
    for (const action of ['pause', 'unpause']) expect((await call('POST', `${there}${action}`, { as: member })).status).toBe(404)
    const range = { start_at: '2021-01-01T00:00:00', end_at: '2021-01-01T01:00:00' }
    expect((await call('POST', `${there}backfill`, { as: member, body: range })).status).toBe(404)
    const reader = await key(owner, ['batch_export:read'])
    expect((await call('GET', own, { as: reader })).status).toBe(200)
    expect(await call('POST', `${own}pause`, { as: reader })).toMatchObject(
      refused(403, 'permission_denied', "API key missing required scope 'batch_export:write'"),
    )
  })
})

describe('the query of an export', () => {
  test('is checked by the query language, and its printed form is stored', async () => {
    const query = "select uuid, event as name, 1 + 1 as two, properties.plan, 'plan' || 'b' as t from events where event != 'x'"
    const made = await create({ sql_like_query: query })
    const columns = "uuid, event AS name, plus(1, 1) AS two, properties.plan, concat('plan', 'b') AS t"
    const text = `SELECT ${columns} FROM events WHERE notEquals(event, 'x')`
    expect(made).toMatchObject({
      sql_like_query: text,
      schema: {
        fields: [
          { expression: 'uuid', alias: 'uuid' },
          { expression: 'event', alias: 'name' },
          { expression: 'plus(1, 1)', alias: 'two' },
          { expression: 'properties[{value_0}]', alias: 'plan' },
          { expression: 'concat({value_0}, {value_1})', alias: 't' },
        ],
        values: { value_0: 'plan', value_1: 'b' },
        hogql_query: text,
      },
    })
    const { call, member, project } = held.home
    const { fields, values } = made.schema
    const shown = fields.map(({ expression, alias }: { expression: string; alias: string }) => `${expression} as ${alias}`)
    const asked = { kind: 'HogQLQuery', query: `select ${shown.join(', ')} from events`, values }
    expect((await call('POST', `/api/projects/${project.id}/query/`, { as: member, body: { query: asked } })).status).toBe(200)
    const { body: without } = await call('PATCH', `${path}${made.id}`, { as: member, body: { hogql_query: null } })
    expect(without).toMatchObject({ sql_like_query: null, schema: null })
  })

  test.each([
    ['select event from', 'Failed to parse query: '],
    ['select event from events union all select event from events', 'UNIONs are not supported'],
    ['select 1', 'Query must SELECT FROM events'],
    ['select id from persons', 'Query must only SELECT FROM events'],
    ['select event from (select event from events)', 'Query must only SELECT FROM events'],
    ['select e.event from events e join persons p on p.id = e.person_id', 'JOINs are not supported'],
    ['select evnt from events', 'Invalid query: '],
    ['select toUper(event) from events', 'Invalid query: '],
    ['select * from events', 'Unsupported * in the query'],
    ['select count() from events', 'Unsupported aggregate'],
    ['select row_number() over () from events', 'Unsupported aggregate or window'],
    ['select event from events where event in (select event from events)', 'Unsupported subquery'],
    ['select distinct event from events', 'Unsupported DISTINCT'],
    ['select event from events group by event', 'Unsupported GROUP BY'],
    ['select event from events order by event', 'Unsupported ORDER BY'],
    ['select event from events limit 5', 'Unsupported LIMIT'],
    ['select event, distinct_id as event from events', 'Two columns are named "event"'],
  ])('%s', async (query, message) => {
    const { call, member } = held.home
    const answer = await call('POST', path, { as: member, body: { ...body, sql_like_query: query } })
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_input', attr: 'sql_like_query' } })
    expect(answer.body.detail).toContain(message)
    const older = await call('POST', path, { as: member, body: { ...body, hogql_query: query } })
    expect(older.body).toEqual({ ...answer.body, attr: 'hogql_query' })
  })

  test('is for events only', async () => {
    const { call, member } = held.home
    const given = { ...body, model: 'persons', sql_like_query: 'select event from events' }
    expect(await call('POST', path, { as: member, body: given })).toMatchObject(refused(400, 'invalid_input', undefined, 'sql_like_query'))
  })
})

describe('pausing', () => {
  test('a pause is kept until it is ended, and what changes nothing is no update', async () => {
    const { call, member, world } = held.home
    const made = await create()
    const later = (minutes: number) => {
      world.now = new Date(Date.parse('2026-03-02T12:34:56Z') + minutes * 60_000)
    }
    later(1)
    expect((await call('POST', `${path}${made.id}/unpause`, { as: member, body: { backfill: false } })).body.last_updated_at).toBe(
      made.last_updated_at,
    )
    const paused = (await call('POST', `${path}${made.id}/pause/`, { as: member })).body
    expect(paused).toMatchObject({ paused: true, last_paused_at: '2026-03-02T12:35:56Z', last_updated_at: '2026-03-02T12:35:56Z' })
    later(2)
    expect((await call('POST', `${path}${made.id}/pause/`, { as: member })).body).toEqual(paused)
    later(300)
    expect((await call('POST', `${path}${made.id}/unpause/`, { as: member })).body).toMatchObject({ paused: false })
    expect((await recordOf(made.id)).cut_at).toEqual(new Date('2026-03-02T17:00:00Z'))
    await call('POST', `${path}${made.id}/pause/`, { as: member })
    later(900)
    await call('POST', `${path}${made.id}/unpause/`, { as: member, body: { backfill: true } })
    expect((await recordOf(made.id)).cut_at).toEqual(new Date('2026-03-02T17:00:00Z'))
  })
})

describe('backfills', () => {
  test.each<[string, object, string]>([
    ['no times', {}, "Both 'start_at' and 'end_at' must be specified"],
    ['one time', { end_at: '2021-01-01T00:00:00Z' }, "Both 'start_at' and 'end_at' must be specified"],
    ['no time', { start_at: 'yesterday', end_at: null }, 'Input yesterday is not a valid ISO formatted datetime.'],
    ['equal times', { start_at: '2021-01-01T01:00:00', end_at: '2021-01-01T01:00:00' }, 'must be before'],
    ['an end before the start', { start_at: '2021-01-01T01:00:00', end_at: '2020-01-01T01:00:00' }, 'must be before'],
    ['an end in the future', { start_at: '2021-01-01T01:00:00', end_at: '2026-03-02T13:35:00Z' }, 'too far into the future'],
    ['an open start without rows', { start_at: null, end_at: null }, 'nothing to backfill'],
  ])('%s', async (_, range, message) => {
    const { call, member } = held.home
    const made = await create()
    const answer = await call('POST', `${path}${made.id}/backfill`, { as: member, body: range })
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_input' } })
    expect(answer.body.detail).toContain(message)
  })

  test('have at most 105,408 intervals', async () => {
    const { call, member } = held.home
    const days = await create({ interval: 'day' })
    const five = await create({ interval: 'every 5 minutes' })
    const start = async (id: string, start_at: string, end_at: string | null) =>
      call('POST', `${path}${id}/backfill`, { as: member, body: { start_at, end_at } })
    for (const [id, start_at, end_at, n] of [
      [five.id, '0001-01-01T00:00:00Z', null, '213,026,839 of'],
      [five.id, '2020-01-01T00:00:00Z', '2021-01-01T00:00:01Z', '105,409 of the interval every 5 minutes'],
      [days.id, '1700-01-01T00:00:00Z', null, '119,130 of'],
    ] as const) {
      const answer = await start(id, start_at, end_at)
      expect(answer).toMatchObject(refused(400, 'invalid_input', undefined, 'start_at'))
      expect(answer.body.detail).toMatch(/^A backfill has at most 105,408 intervals, but this range has /)
      expect(answer.body.detail).toContain(`this range has ${n}`)
    }
    expect(await store().read.batch_export_backfills.count({})).toBe(0)
    expect((await start(five.id, '2020-01-01T00:00:00Z', '2021-01-01T00:00:00Z')).status).toBe(200)
    expect(await store().read.batch_export_backfills.find({})).toMatchObject([{ total_runs: 105_408 }])
  })

  test('are listed, read and cancelled', async () => {
    const { call, member } = held.home
    const made = await create()
    const range = { start_at: '2023-10-23T00:00:00Z', end_at: '2023-10-23T03:30:00Z' }
    const { status, body: backfill } = await call('POST', `${path}${made.id}/backfills`, { as: member, body: range })
    expect(status).toBe(201)
    expect(backfill).toMatchObject({ status: 'Running', progress: { total_runs: 4, finished_runs: 0, progress: 0 } })
    expect((await call('GET', `${path}${made.id}/backfills`, { as: member })).body).toEqual({
      next: null,
      previous: null,
      results: [backfill],
    })
    expect((await call('GET', `${path}${made.id}/backfills/${backfill.id}`, { as: member })).body).toEqual(backfill)
    const { body: cancelled } = await call('POST', `${path}${made.id}/backfills/${backfill.id}/cancel`, { as: member })
    expect(cancelled).toMatchObject({ status: 'Cancelled', finished_at: '2026-03-02T12:34:56Z' })
    expect(await call('POST', `${path}${made.id}/backfills/${backfill.id}/cancel`, { as: member })).toMatchObject(
      refused(400, 'invalid_input', "Cannot cancel a backfill that is in 'Cancelled' status"),
    )
  })
})

describe('runs and logs', () => {
  const addRun = async (exportId: string, change: object = {}) => {
    const record = await recordOf(exportId)
    const { accounts } = held.home.world
    const run = {
      ...newRun(record, accounts.context.clock(), {
        id: accounts.context.newId(),
        lane: 'schedule',
        backfill_id: null,
        key: 'k',
        data_interval_start: new Date('2026-03-02T11:00:00Z'),
        data_interval_end: new Date('2026-03-02T12:00:00Z'),
        range: { by: 'arrival', after: 0, to: 5 },
      }),
      ...change,
    }
    await store().write((tables) => tables.batch_export_runs.insert(run))
    return run
  }

  test('a run is read, listed with its export, cancelled while it is active, and retried once it has ended', async () => {
    const { call, member } = held.home
    const made = await create()
    const run = await addRun(made.id)
    const own = `${path}${made.id}/runs/${run.id}`
    expect((await call('GET', own, { as: member })).body).toMatchObject({
      id: run.id,
      batch_export: made.id,
      status: 'Starting',
      records_completed: 0,
      records_total_count: null,
      bytes_exported: null,
      latest_error: null,
      data_interval_start: '2026-03-02T11:00:00Z',
      data_interval_end: '2026-03-02T12:00:00Z',
      cursor: null,
      finished_at: null,
    })
    expect(await call('POST', `${own}/retry`, { as: member })).toMatchObject(
      refused(400, 'invalid_input', "Cannot retry a run that is in 'Starting' status"),
    )
    expect((await call('POST', `${own}/cancel`, { as: member })).body).toEqual({ cancelled: true })
    expect(await call('POST', `${own}/cancel`, { as: member })).toMatchObject(
      refused(400, 'invalid_input', "Cannot cancel a run that is in 'Cancelled' status"),
    )
    const { body: retried } = await call('POST', `${own}/retry`, { as: member })
    expect(retried).toMatchObject({
      backfill_id: `${made.id}-Backfill-2026-03-02T11:00:00+00:00-2026-03-02T12:00:00+00:00`,
      run: { status: 'Starting' },
    })
    const { latest_runs } = (await call('GET', `${path}${made.id}`, { as: member })).body
    expect(latest_runs.map(({ status }: { status: string }) => status)).toEqual(['Starting', 'Cancelled'])
    const again = await store().read.batch_export_runs.first({ id: retried.run.id })
    expect(again).toMatchObject({ key: run.key, range: run.range, lane: 'retry' })
  })

  test('are listed for seven days, page by page with a cursor', async () => {
    const { call, member } = held.home
    const made = await create()
    const at = (minutes: number) => new Date(Date.parse('2026-03-02T12:00:00Z') - minutes * 60_000)
    for (let i = 0; i < 130; i++) await addRun(made.id, { created_at: at(i), status: 'Completed', data_interval_start: at(i + 60) })
    await addRun(made.id, { created_at: at(8 * 24 * 60), status: 'Completed', data_interval_start: at(9 * 24 * 60) })
    const get = async (url: string) => (await call('GET', url, { as: member })).body
    const first = await get(`${path}${made.id}/runs`)
    expect(first).toMatchObject({ previous: null, next: expect.stringContaining('cursor=') })
    expect(first.results).toHaveLength(100)
    const second = await get(new URL(first.next).pathname + new URL(first.next).search)
    expect(second).toMatchObject({ next: null, previous: expect.stringContaining('cursor=') })
    expect(second.results).toHaveLength(30)
    const back = await get(new URL(second.previous).pathname + new URL(second.previous).search)
    expect(back.results).toEqual(first.results)
    expect((await get(`${path}${made.id}/runs?after=-30d&before=-7d`)).results).toHaveLength(1)
    expect((await get(`${path}${made.id}/runs?after=2026-03-02T11:55:00Z`)).results).toHaveLength(6)
    const byInterval = await get(`${path}${made.id}/runs?ordering=data_interval_start&start=2026-03-02T10:55:00Z`)
    expect(byInterval.results.map((run: { data_interval_start: string }) => run.data_interval_start)).toEqual([
      '2026-03-02T10:55:00Z',
      '2026-03-02T10:56:00Z',
      '2026-03-02T10:57:00Z',
      '2026-03-02T10:58:00Z',
      '2026-03-02T10:59:00Z',
      '2026-03-02T11:00:00Z',
    ])
    expect(await call('GET', `${path}${made.id}/runs?after=soon`, { as: member })).toMatchObject(
      refused(400, 'invalid_input', expect.stringContaining('Input soon is not a valid ISO formatted datetime.'), 'after'),
    )
  })

  test('a log is searched by text, level and time', async () => {
    const { call, member, world } = held.home
    const made = await create()
    const run = await addRun(made.id)
    await call('POST', `${path}${made.id}/runs/${run.id}/cancel`, { as: member })
    world.now = new Date('2026-03-02T12:40:00Z')
    await call('POST', `${path}${made.id}/pause`, { as: member })
    const messages = async (query = '', of = '') =>
      (await call('GET', `${path}${made.id}${of}/logs/${query}`, { as: member })).body.results.map(
        ({ message }: { message: string }) => message,
      )
    expect(await messages()).toEqual(['Paused by a user.', 'Cancelled by a user.'])
    expect(await messages('', `/runs/${run.id}`)).toEqual(['Cancelled by a user.'])
    expect(await messages('?search=PAUSED')).toEqual(['Paused by a user.'])
    expect(await messages('?level_filter=ERROR&level_filter=WARNING')).toEqual([])
    expect(await messages('?level_filter=ERROR&level_filter=INFO')).toHaveLength(2)
    expect(await messages('?before=2026-03-02T12:36:00Z')).toEqual(['Cancelled by a user.'])
    expect(await messages('?limit=1')).toEqual(['Paused by a user.'])
  })
})

test('destinations describe their settings: what they require is asked for at its field, and secrets are settings', async () => {
  const { call, member } = held.home
  const { body: described } = await call('GET', `${path}destinations/`, { as: member })
  const types = ['BigQuery', 'HTTP', 'LocalFiles', 'NoOp', 'Postgres', 'Redshift', 'S3', 'Snowflake']
  expect(described.map(({ type }: { type: string }) => type)).toEqual(types)
  for (const { type, config_schema, secrets } of described) {
    expect(Object.keys(config_schema.properties), type).toEqual(expect.arrayContaining([...secrets, 'include_events', 'exclude_events']))
    const answer = await call('POST', path, { as: member, body: { ...body, destination: { type, config: {} } } })
    const [first] = config_schema.required
    if (first === undefined) expect(answer.status, type).toBe(201)
    else expect(answer.body.attr, type).toMatch(new RegExp(`^destination__config__(${config_schema.required.join('|')})$`))
  }
})

describe('the test of a destination', () => {
  test('lists the checks of a type', async () => {
    const { call, member } = held.home
    const { body: answer } = await call('GET', `${path}test/?destination=LocalFiles`, { as: member })
    expect(answer).toEqual({ steps: [{ name: 'Check that files can be written', description: expect.any(String), result: null }] })
    expect((await call('GET', `${path}test/?destination=FTP`, { as: member })).status).toBe(404)
  })

  test('is not for keys, whatever they may do', async () => {
    const { call, member, key } = held.home
    const made = await create()
    const as = await key(member, ['*'])
    const noKeys = refused(403, 'permission_denied', 'This action does not support Personal API Key access')
    expect(await call('GET', `${path}test/?destination=LocalFiles`, { as })).toMatchObject(noKeys)
    for (const own of [`${path}run_test_step_new`, `${path}${made.id}/run_test_step`])
      expect(await call('POST', own, { as, body: { destination: body.destination, step: 0 } })).toMatchObject(noKeys)
    expect((await call('POST', `${path}${made.id}/pause`, { as })).status).toBe(200)
  })

  test('runs one check, with settings of the body or of the export', async () => {
    const { call, member } = held.home
    const result = { status: 'Failed', message: 'This server does not write exports to local files. Choose another destination.' }
    const fresh = { destination: body.destination, step: 0 }
    expect((await call('POST', `${path}run_test_step_new`, { as: member, body: fresh })).body).toMatchObject({ result })
    const made = await create()
    expect((await call('POST', `${path}${made.id}/run_test_step`, { as: member, body: { step: 0 } })).body).toMatchObject({ result })
    expect(await call('POST', `${path}${made.id}/run_test_step`, { as: member, body: { step: 7 } })).toMatchObject(
      refused(400, 'invalid_input', 'The destination LocalFiles has no step 7.', 'step'),
    )
  })
})
