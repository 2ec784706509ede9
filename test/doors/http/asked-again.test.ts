import { describe, expect, test } from 'vitest'
import { destinations } from '../../../src/service/exports/destinations/registry.ts'
import { refused, withHome } from './conversation.ts'

// Stored secrets go to the place for which they were entered. Whoever changes the place enters them again, or gets others.

const held = withHome()
const project = () => `/api/projects/${held.home.project.id}`
const stars = '****************'

describe('batch exports', () => {
  const s3 = {
    bucket_name: 'ours',
    region: 'eu-west-1',
    prefix: 'a/',
    aws_access_key_id: 'id',
    aws_secret_access_key: 'secret',
    endpoint_url: 'https://s3.ours.test',
  }
  const snowflake = { account: 'ours', user: 'u', database: 'd', warehouse: 'w', schema: 's', password: 'secret' }
  const bigQuery = {
    project_id: 'ours',
    dataset_id: 'd',
    private_key: 'k',
    private_key_id: 'i',
    token_uri: 'https://oauth2.ours.test/token',
    client_email: 'a@b.c',
  }
  const postgres = { host: 'db.ours.test', database: 'd', user: 'u', password: 'secret' }
  const http = { url: 'https://hooks.ours.test/in', token: 'very secret' }
  const rows: [type: string, config: object, change: object, again: object][] = [
    ['S3', s3, { endpoint_url: 'https://evil.test' }, { aws_access_key_id: 'i', aws_secret_access_key: 's' }],
    ['HTTP', http, { url: 'https://evil.test/in' }, { token: 'x' }],
    ['HTTP', http, { url: 'http://hooks.ours.test/in' }, { token: 'x' }],
    ['Snowflake', snowflake, { account: 'evil' }, { user: 'u', password: 'p' }],
    ['BigQuery', bigQuery, { token_uri: 'https://evil.test/token' }, { private_key: 'k', private_key_id: 'i', client_email: 'a@b.c' }],
    ['Postgres', postgres, { host: 'evil.test' }, { user: 'u', password: 'p' }],
    ['Redshift', postgres, { port: 5555 }, { user: 'u', password: 'p' }],
  ]
  test('every destination with secrets says what they are sent to', () => {
    for (const { type, secrets, sentTo = [] } of destinations.values()) {
      if (secrets.length > 0) expect(sentTo.length, type).toBeGreaterThan(0)
      if (secrets.length > 0) expect(rows.map(([name]) => name)).toContain(type)
    }
  })

  test('another bucket of the same endpoint takes no secrets: requests are signed, and the keys are not sent', async () => {
    const { call, member } = held.home
    const path = `${project()}/batch_exports/`
    const body = { name: 'x', interval: 'hour', paused: true, destination: { type: 'S3', config: s3 } }
    const { body: made } = await call('POST', path, { as: member, body })
    const destination = { type: 'S3', config: { bucket_name: 'another', region: 'us-east-1' } }
    const { status, body: changed } = await call('PATCH', `${path}${made.id}/`, { as: member, body: { destination } })
    expect([status, changed.destination?.config.bucket_name]).toEqual([200, 'another'])
  })

  test.each(rows)('%s: %o becomes %o only with its secrets', async (type, config, change, again) => {
    const { call, member } = held.home
    const path = `${project()}/batch_exports/`
    const made = await call('POST', path, {
      as: member,
      body: { name: 'x', interval: 'hour', paused: true, destination: { type, config } },
    })
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    const own = `${path}${made.body.id}/`
    const [first] = Object.keys(again)
    const answer = refused(
      400,
      'required',
      expect.stringContaining('again: stored secrets are not sent to another') as never,
      `destination__config__${first}`,
    )
    const destination = { type, config: change }
    expect(await call('PATCH', own, { as: member, body: { destination } })).toMatchObject(answer)
    expect(await call('POST', `${own}run_test_step/`, { as: member, body: { destination, step: 0 } })).toMatchObject(answer)
    expect((await call('PATCH', own, { as: member, body: { destination: { type, config: { ...change, ...again } } } })).status).toBe(200)
  })

  test('another path of the same server needs none', async () => {
    const { call, member } = held.home
    const path = `${project()}/batch_exports/`
    const made = await call('POST', path, {
      as: member,
      body: { name: 'x', interval: 'hour', paused: true, destination: { type: 'HTTP', config: http } },
    })
    const destination = { type: 'HTTP', config: { url: 'https://hooks.ours.test/other' } }
    expect((await call('PATCH', `${path}${made.body.id}/`, { as: member, body: { destination } })).status).toBe(200)
  })
})

describe('plugins', () => {
  const schema = [
    { key: 'host', type: 'string' },
    { key: 'apiKey', type: 'string', secret: true },
    { key: 'target', type: 'string' },
    { key: 'mirrorUrl', type: 'string', secret: true },
    { key: 'except', type: 'string' },
    { key: 'file', type: 'attachment' },
  ]
  const config = { host: 'https://ours.test', apiKey: 'secret', target: 'plain', except: 'a' }
  const makeConfig = async (more: object = {}) => {
    const { call, member, organization } = held.home
    const plugin = await call('POST', `/api/organizations/${organization.id}/plugins/`, {
      as: member,
      body: { plugin_type: 'source', name: 'Places', config_schema: schema },
    })
    const made = await call('POST', `${project()}/plugin_configs/`, { as: member, body: { plugin: plugin.body.id, config, ...more } })
    expect(made.status).toBe(201)
    return `${project()}/plugin_configs/${made.body.id}/`
  }
  const rows: [name: string, change: object, attr: string | null][] = [
    ['another host, the secret left out', { host: 'https://evil.test' }, 'config__apiKey'],
    ['another host, the secret as its mask', { host: 'https://evil.test', apiKey: stars }, 'config__apiKey'],
    ['another host, with the secret', { host: 'https://evil.test', apiKey: 'secret' }, null],
    ['another host, without the secret any more', { host: 'https://evil.test', apiKey: '' }, null],
    ['the host left out', { host: undefined }, 'config__apiKey'],
    ['a field that becomes an address', { target: 'http://evil.test' }, 'config__apiKey'],
    ['a field that becomes a name of a server', { target: 'evil.test:8080/x' }, 'config__apiKey'],
    ['a field that becomes an IP address', { target: '127.0.0.1' }, 'config__apiKey'],
    ['a secret address, the other secret kept', { mirrorUrl: 'https://evil.test' }, 'config__apiKey'],
    ['another setting', { except: 'b' }, null],
    ['nothing', {}, null],
  ]
  test.each(rows)('%s', async (_, change, attr) => {
    const { call, member } = held.home
    const path = await makeConfig()
    const { apiKey: __, ...plain } = config
    const answer = await call('PATCH', path, { as: member, body: { config: { ...plain, ...change } } })
    if (attr === null) return expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200 })
    expect(answer).toMatchObject(refused(400, 'required', expect.stringContaining('is not sent to another') as never, attr))
  })

  test('files count as secrets', async () => {
    const { call, member } = held.home
    const file = { name: 'key.json', type: 'application/json', contents: Buffer.from('{}').toString('base64') }
    const path = await makeConfig({ add_attachment: { file } })
    const body = { config: { ...config, host: 'https://evil.test' } }
    expect(await call('PATCH', path, { as: member, body })).toMatchObject(refused(400, 'required', undefined, 'config__file'))
    expect((await call('PATCH', path, { as: member, body: { ...body, add_attachment: { file } } })).status).toBe(200)
    const back = { config, remove_attachment: { file: true } }
    expect((await call('PATCH', path, { as: member, body: back })).status).toBe(200)
  })

  test('creating it again is the same change', async () => {
    const { call, member } = held.home
    const { plugin } = (await call('GET', await makeConfig(), { as: member })).body
    const { apiKey: _, ...plain } = config
    const body = { plugin, config: { ...plain, host: 'https://evil.test' } }
    expect(await call('POST', `${project()}/plugin_configs/`, { as: member, body })).toMatchObject(
      refused(400, 'required', undefined, 'config__apiKey'),
    )
  })
})

describe('webhooks', () => {
  const url = 'https://hooks.ours.test/services/T0/token?key=hidden'
  const masked = `https://hooks.ours.test/${stars}`
  const insight = async () => {
    const { call, admin } = held.home
    const query = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'a' }] }
    return (await call('POST', `${project()}/insights/`, { as: admin, body: { name: 'x', query } })).body.id as number
  }
  const makers: [string, (given: object) => Promise<object>, field: string][] = [
    [
      'alerts',
      async (given) => ({
        insight: await insight(),
        condition: { type: 'absolute_value' },
        threshold: { configuration: { type: 'absolute', bounds: { upper: 1 } } },
        ...given,
      }),
      'webhook_url',
    ],
    [
      'subscriptions',
      async (given) => ({
        insight: await insight(),
        target_type: 'webhook',
        frequency: 'weekly',
        start_date: '2030-01-01T00:00:00Z',
        ...given,
      }),
      'target_value',
    ],
  ]
  test.each(makers)('%s: another address gets another secret, the same one keeps it', async (name, bodyOf, field) => {
    const { call, admin } = held.home
    const path = `${project()}/${name}/`
    const made = await call('POST', path, { as: admin, body: await bodyOf({ [field]: url }) })
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    const own = `${path}${made.body.id}/`
    const change = async (given: object) => (await call('PATCH', own, { as: admin, body: given })).body.webhook_secret
    expect(made.body.webhook_secret).toMatch(/^whsec_/)
    expect(await change({ [field]: url })).toBeNull()
    const moved = await change({ [field]: 'https://evil.test/' })
    expect(moved).toMatch(/^whsec_/)
    expect(moved).not.toBe(made.body.webhook_secret)
    expect(await change({ [field]: url, webhook_secret: 'given by the caller' })).toBe('given by the caller')
  })

  test.each(makers)(
    '%s: members see the server of an address, not the token in it, and keep it when they send it back',
    async (name, bodyOf, field) => {
      const { call, admin, member, owner } = held.home
      const path = `${project()}/${name}/`
      const made = await call('POST', path, { as: admin, body: await bodyOf({ [field]: url }) })
      const own = `${path}${made.body.id}/`
      const seen = async (as: typeof member) => (await call('GET', own, { as })).body[field]
      expect([await seen(admin), await seen(owner), await seen(member)]).toEqual([url, url, masked])
      expect(JSON.stringify((await call('GET', path, { as: member })).body)).not.toContain('token?key')
      const kept = await call('PATCH', own, { as: member, body: { [field]: masked } })
      expect(kept).toMatchObject({ status: 200, body: { [field]: masked, webhook_secret: null } })
      expect(await seen(admin)).toBe(url)
      const ofMember = await call('POST', path, { as: member, body: await bodyOf({ [field]: url }) })
      expect(ofMember.body[field], 'the own one').toBe(url)
    },
  )

  test('the webhook of a project', async () => {
    const { call, admin, member } = held.home
    const seen = async (as: typeof member) => (await call('GET', `${project()}/`, { as })).body.slack_incoming_webhook
    await call('PATCH', `${project()}/`, { as: admin, body: { slack_incoming_webhook: url } })
    expect([await seen(admin), await seen(member)]).toEqual([url, masked])
    await call('PATCH', `${project()}/`, { as: member, body: { slack_incoming_webhook: masked } })
    expect(await seen(admin)).toBe(url)
    const { activity } = held.home.world.accounts.context.store.read
    expect(JSON.stringify(await activity.find({ scope: 'Team' }))).not.toContain('token?key')
  })
})
