import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createMailer } from '../../../src/service/network/smtp.ts'
import { startSmtp } from '../../harness/smtp-server.ts'
import { parseXml, textsOf } from '../../harness/xml.ts'
import { refused, withHome } from './conversation.ts'

const held = withHome()

interface Hook {
  readonly url: string
  readonly requests: { readonly headers: Readonly<Record<string, string | string[] | undefined>>; readonly text: string }[]
  status: number
  redirectsTo: string | null
  close(): Promise<void>
}
let hook: Hook

async function startHook(): Promise<Hook> {
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const part of request.setEncoding('utf8')) text += part
    made.requests.push({ headers: request.headers, text })
    response.writeHead(made.redirectsTo ? 302 : made.status, made.redirectsTo ? { location: made.redirectsTo } : {}).end()
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const made: Hook = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?token=hidden`,
    requests: [],
    status: 200,
    redirectsTo: null,
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
  return made
}

const start = new Date('2026-01-07T10:30:00Z') // a Wednesday
const minutes = (count: number) => count * 60_000
const days = (count: number) => count * 86_400_000
const url = (path: string) => `/api/projects/${held.home.project.id}/${path}`
const call = (method: string, path: string, body?: object, as = held.home.owner) => held.home.call(method, url(path), { as, body })
const later = (ms: number) => {
  const { world } = held.home
  world.now = new Date((world.now ?? start).getTime() + ms)
}
/** Does everything that is due now. */
const run = async () => {
  const { scheduler } = held.home.world.waymark.notifications
  for (;;) {
    await scheduler.tick()
    if (scheduler.running === 0) return
    await scheduler.settled()
  }
}

const signups = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'signup' }], dateRange: { date_from: '-7d' }, interval: 'day' }
let insight: { id: number; short_id: string }
const makeInsight = async (query: object = signups, name = 'Signups') => (await call('POST', 'insights/', { name, query })).body
const rule = (more: object = {}) => ({
  insight: insight.id,
  name: 'Few signups',
  condition: { type: 'absolute_value' },
  threshold: { configuration: { type: 'absolute', bounds: { upper: 2 } } },
  config: { type: 'TrendsAlertConfig', series_index: 0 },
  calculation_interval: 'daily',
  ...more,
})

const schedule = (more: object = {}) => ({
  insight: insight.id,
  target_type: 'webhook',
  target_value: hook.url,
  frequency: 'daily',
  start_date: '2026-01-01T09:00:00Z',
  title: 'Numbers',
  ...more,
})

beforeAll(async () => {
  hook = await startHook()
  const { home } = held
  home.world.now = start
  const project = await home.world.projectData(home.project.id)
  // 1, 2, 3, … signups on the days up to today.
  const batch = Array.from({ length: 8 }, (_, day) =>
    Array.from({ length: day + 1 }, (_, i) => ({
      event: 'signup',
      distinct_id: `u${i}`,
      timestamp: new Date(start.getTime() - days(7 - day) - i * 1000).toISOString(),
      properties: { browser: i % 2 === 0 ? 'Chrome' : 'Firefox' },
    })),
  ).flat()
  await project.ingest({ batch })
  insight = await makeInsight()
})
beforeEach(async () => {
  const { world } = held.home
  Object.assign(world, { now: start, hasMail: false, mailer: null, reachesPrivate: true })
  Object.assign(world.limits, { shared: [] })
  world.limits = { api: [], query: [], draft: [], shared: [], test: [] }
  world.outbox.length = 0
  hook.requests.length = 0
  Object.assign(hook, { status: 200, redirectsTo: null })
  await world.accounts.context.store.write(async (tables) => {
    for (const table of ['alerts', 'alert_checks', 'subscriptions', 'notices', 'notice_deliveries'] as const) await tables[table].remove({})
  })
})
afterAll(() => hook.close())

describe('an alert', () => {
  test('is checked at once, and then at its interval', async () => {
    const made = await call('POST', 'alerts/', rule())
    expect(made).toMatchObject({
      status: 201,
      body: { state: 'Not firing', enabled: true, insight: { id: insight.id }, checks: [], next_check_at: '2026-01-07T10:30:00Z' },
    })
    await run()
    const { body } = await call('GET', `alerts/${made.body.id}/`)
    // Yesterday, the last day that is over, has 7.
    expect(body).toMatchObject({
      state: 'Firing',
      last_value: 7,
      last_checked_at: '2026-01-07T10:30:00Z',
      checks: [{ calculated_value: 7, state: 'Firing', error: null }],
    })
    expect(body.next_check_at).toMatch(/^2026-01-08T01:0/)
    await run()
    expect((await call('GET', `alerts/${made.body.id}/checks/`)).body.count).toBe(1)
    later(days(1))
    await run()
    expect((await call('GET', `alerts/${made.body.id}/checks/`)).body.count).toBe(2)
  })

  test.each([
    ['above an upper bound', { threshold: { configuration: { type: 'absolute', bounds: { upper: 6.5 } } } }, 'Firing', 7],
    ['at the upper bound', { threshold: { configuration: { type: 'absolute', bounds: { upper: 7 } } } }, 'Not firing', 7],
    ['below a lower bound', { threshold: { configuration: { type: 'absolute', bounds: { lower: 8 } } } }, 'Firing', 7],
    ['inside both', { threshold: { configuration: { type: 'absolute', bounds: { lower: 7, upper: 7 } } } }, 'Not firing', 7],
    [
      'today too',
      {
        config: { series_index: 0, check_ongoing_interval: true },
        threshold: { configuration: { type: 'absolute', bounds: { upper: 7.5 } } },
      },
      'Firing',
      8,
    ],
    [
      'an increase',
      { condition: { type: 'relative_increase' }, threshold: { configuration: { type: 'absolute', bounds: { upper: 0.5 } } } },
      'Firing',
      1,
    ],
    [
      'no decrease',
      { condition: { type: 'relative_decrease' }, threshold: { configuration: { type: 'absolute', bounds: { upper: 0 } } } },
      'Not firing',
      -1,
    ],
    [
      'a share',
      { condition: { type: 'relative_increase' }, threshold: { configuration: { type: 'percentage', bounds: { upper: 0.1 } } } },
      'Firing',
      1 / 6,
    ],
    [
      'a smaller share',
      { condition: { type: 'relative_increase' }, threshold: { configuration: { type: 'percentage', bounds: { upper: 0.2 } } } },
      'Not firing',
      1 / 6,
    ],
  ])('%s', async (_, more, state, value) => {
    const { body } = await call('POST', 'alerts/', rule(more))
    await run()
    const checked = (await call('GET', `alerts/${body.id}/`)).body
    expect(checked.state).toBe(state)
    expect(checked.last_value).toBeCloseTo(value, 9)
  })

  test('fires when one value of a breakdown is outside', async () => {
    const split = await makeInsight({ ...signups, breakdownFilter: { breakdown: 'browser', breakdown_type: 'event' } })
    const { body } = await call(
      'POST',
      'alerts/',
      rule({ insight: split.id, threshold: { configuration: { type: 'absolute', bounds: { lower: 4 } } } }),
    )
    await run()
    expect((await call('GET', `alerts/${body.id}/`)).body).toMatchObject({ state: 'Firing', last_value: 3 })
  })

  test('of one number for the range', async () => {
    const number = await makeInsight({ ...signups, trendsFilter: { display: 'BoldNumber' } })
    const { body } = await call('POST', 'alerts/', rule({ insight: number.id }))
    await run()
    expect((await call('GET', `alerts/${body.id}/`)).body.last_value).toBeGreaterThan(20)
    const relative = await call('POST', 'alerts/', rule({ insight: number.id, condition: { type: 'relative_increase' } }))
    expect(relative).toMatchObject(refused(400, 'invalid_input', undefined, 'condition__type'))
  })

  test('sends a webhook that is signed, and mails to its members', async () => {
    const { home } = held
    home.world.hasMail = true
    const made = await call('POST', 'alerts/', rule({ webhook_url: hook.url, subscribed_users: [home.member.id, home.admin.id] }))
    const secret = made.body.webhook_secret as string
    expect(secret).toMatch(/^whsec_/)
    await run()
    expect(hook.requests).toHaveLength(1)
    const [{ headers, text }] = hook.requests as [Hook['requests'][0]]
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`
    expect(headers['webhook-signature']).toBe(
      `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
        .update(signed)
        .digest('base64')}`,
    )
    const body = JSON.parse(text)
    expect(body).toMatchObject({
      type: 'alert.firing',
      data: {
        alert: {
          id: made.body.id,
          state: 'Firing',
          calculated_value: 7,
          breaches: ['The value of signup is 7, above the upper threshold of 2.'],
        },
        insights: [{ id: insight.id, short_id: insight.short_id, kind: 'TrendsQuery', columns: ['Interval', 'signup'] }],
      },
    })
    expect(textsOf(parseXml(body.data.insights[0].picture))).toContain('Signups')
    expect(home.world.outbox.map(({ to }) => to).sort()).toEqual(['admin@acme.test', 'member@acme.test'])
    expect(home.world.outbox[0]).toMatchObject({
      subject: 'Alert: Few signups',
      text: expect.stringContaining('above the upper threshold of 2'),
    })
    // Told once for this check.
    await run()
    expect([hook.requests.length, home.world.outbox.length]).toEqual([1, 2])
    expect((await call('GET', `alerts/${made.body.id}/`)).body.webhook_secret).toBeNull()
    expect((await call('GET', `alerts/${made.body.id}/deliveries/`)).body).toMatchObject({
      count: 3,
      results: [{ status: 'delivered', attempts: 1, error: null }, {}, {}],
    })
  })

  test('is silent while it is snoozed, and awake afterwards', async () => {
    const { body } = await call('POST', 'alerts/', rule({ webhook_url: hook.url, calculation_interval: 'hourly' }))
    await run()
    const snoozed = await call('PATCH', `alerts/${body.id}/`, { snoozed_until: '3h' })
    expect(snoozed.body).toMatchObject({ state: 'Snoozed', snoozed_until: '2026-01-07T13:30:00Z' })
    for (let i = 0; i < 2; i++) {
      later(minutes(65))
      await run()
    }
    expect(hook.requests).toHaveLength(1)
    later(minutes(65))
    await run()
    expect(hook.requests).toHaveLength(2)
    expect((await call('GET', `alerts/${body.id}/`)).body).toMatchObject({ state: 'Firing', snoozed_until: null })
    await call('PATCH', `alerts/${body.id}/`, { snoozed_until: '2d' })
    expect((await call('PATCH', `alerts/${body.id}/`, { snoozed_until: null })).body).toMatchObject({
      state: 'Not firing',
      snoozed_until: null,
    })
  })

  test('is due at its interval again when a snooze ends early', async () => {
    const { body } = await call('POST', 'alerts/', rule({ calculation_interval: 'hourly' }))
    await run()
    await call('PATCH', `alerts/${body.id}/`, { snoozed_until: '30d' })
    later(minutes(65))
    await run()
    const awake = await call('PATCH', `alerts/${body.id}/`, { snoozed_until: null })
    expect(awake.body.next_check_at).toMatch(/^2026-01-07T1[12]:0/)
    later(minutes(65))
    await run()
    expect((await call('GET', `alerts/${body.id}/checks/`)).body.count).toBe(2)
  })

  test('of a private project is not sent to members without access', async () => {
    const { home } = held
    home.world.hasMail = true
    const project = await home.world.makeProject(home.organization.id, { name: 'Private' })
    const path = `/api/projects/${project.id}`
    const its = await home.call('POST', `${path}/insights/`, { as: home.owner, body: { name: 'Own', query: signups } })
    const body = rule({
      insight: its.body.id,
      subscribed_users: [home.member.id, home.admin.id],
      threshold: { configuration: { type: 'absolute', bounds: { lower: 1 } } },
    })
    const made = await home.call('POST', `${path}/alerts/`, { as: home.owner, body })
    expect(made.status).toBe(201)
    await home.world.accounts.context.store.write((tables) => tables.projects.update({ id: project.id }, { access_control: true }))
    await run()
    expect(home.world.outbox.map(({ to }) => to)).toEqual(['admin@acme.test'])
    const again = await home.call('PATCH', `${path}/alerts/${made.body.id}/`, {
      as: home.owner,
      body: { subscribed_users: [home.member.id] },
    })
    expect(again).toMatchObject(refused(400, 'does_not_exist', undefined, 'subscribed_users'))
  })

  test('that waits for another attempt is not sent to a member who lost access meanwhile', async () => {
    const { world, organization } = held.home
    world.mailer = { send: () => Promise.reject(Object.assign(new Error('later'), { responseCode: 450 })) } as never
    const leaver = await world.user('waiting@acme.test', organization.id)
    const { body } = await call('POST', 'alerts/', rule({ subscribed_users: [leaver.id] }))
    await run()
    expect((await call('GET', `alerts/${body.id}/`)).body.last_delivery).toMatchObject({ status: 'waiting' })
    await world.accounts.context.store.write((tables) => tables.memberships.remove({ user_id: leaver.id }))
    Object.assign(world, { mailer: null, hasMail: true })
    later(minutes(10))
    await run()
    expect(world.outbox).toEqual([])
    expect((await call('GET', `alerts/${body.id}/`)).body.last_delivery).toMatchObject({ status: 'failed' })
  })

  test('is not checked while it is disabled, and at once when it is enabled', async () => {
    const { body } = await call('POST', 'alerts/', rule({ enabled: false }))
    await run()
    expect((await call('GET', `alerts/${body.id}/`)).body).toMatchObject({ checks: [], next_check_at: null })
    await call('PATCH', `alerts/${body.id}/`, { enabled: true })
    await run()
    expect((await call('GET', `alerts/${body.id}/`)).body.checks).toHaveLength(1)
  })

  test('with another rule is checked at once', async () => {
    const { body } = await call('POST', 'alerts/', rule())
    await run()
    const changed = await call('PATCH', `alerts/${body.id}/`, {
      threshold: { configuration: { type: 'absolute', bounds: { upper: 100 } } },
    })
    expect(changed.body.state).toBe('Not firing')
    await run()
    expect((await call('GET', `alerts/${body.id}/checks/`)).body.results.map((one: { state: string }) => one.state)).toEqual([
      'Not firing',
      'Firing',
    ])
  })

  test('whose insight is deleted says so and stops', async () => {
    const gone = await makeInsight()
    const { body } = await call('POST', 'alerts/', rule({ insight: gone.id }))
    await call('PATCH', `insights/${gone.id}/`, { deleted: true })
    await run()
    expect((await call('GET', `alerts/${body.id}/`)).body).toMatchObject({
      state: 'Errored',
      enabled: false,
      checks: [{ error: 'The insight was deleted.' }],
    })
  })

  test('that cannot be answered is told once', async () => {
    const { body } = await call('POST', 'alerts/', rule({ webhook_url: hook.url }))
    const { store } = held.home.world.accounts.context
    const broken = {
      kind: 'TrendsQuery',
      series: [{ kind: 'EventsNode', event: 'signup', math: 'hogql', math_hogql: 'sum(nothing_like_it)' }],
    }
    const other = await makeInsight()
    await store.write(async (tables) => {
      await tables.insights.update({ id: other.id }, { query: broken })
      await tables.alerts.update({ id: body.id }, { insight_id: other.id })
    })
    await run()
    later(days(1))
    await run()
    expect((await call('GET', `alerts/${body.id}/`)).body).toMatchObject({
      state: 'Errored',
      checks: [{ state: 'Errored', targets_notified: false }, { targets_notified: true }],
    })
    expect(hook.requests.map(({ text }) => JSON.parse(text).type)).toEqual(['alert.errored'])
  })

  test('keeps what was due while nothing ran to one check', async () => {
    const { body } = await call('POST', 'alerts/', rule({ calculation_interval: 'hourly' }))
    await run()
    later(days(3))
    await run()
    const { results } = (await call('GET', `alerts/${body.id}/checks/`)).body
    expect(results).toHaveLength(2)
    expect(results[0].due_at).toMatch(/^2026-01-07T11:0/)
    expect((await call('GET', `alerts/${body.id}/`)).body.next_check_at).toMatch(/^2026-01-10T1[01]:/)
  })

  test.each([
    ['no insight', { insight: undefined }, 'insight'],
    ['an unknown insight', { insight: 999_999 }, 'insight'],
    ['an insight as text', { insight: 'x' }, 'insight'],
    ['no bounds', { threshold: { configuration: { type: 'absolute', bounds: {} } } }, 'threshold__configuration__bounds'],
    [
      'bounds the wrong way around',
      { threshold: { configuration: { type: 'absolute', bounds: { lower: 3, upper: 1 } } } },
      'threshold__configuration__bounds',
    ],
    [
      'a bound as text',
      { threshold: { configuration: { type: 'absolute', bounds: { upper: '3' } } } },
      'threshold__configuration__bounds__upper',
    ],
    ['an unknown condition', { condition: { type: 'sometimes' } }, 'condition__type'],
    [
      'a share of a value',
      { threshold: { configuration: { type: 'percentage', bounds: { upper: 1 } } } },
      'threshold__configuration__type',
    ],
    ['a series that is not there', { config: { series_index: 1 } }, 'config__series_index'],
    ['an unknown interval', { calculation_interval: 'yearly' }, 'calculation_interval'],
    ['a stranger', { subscribed_users: [999_999] }, 'subscribed_users'],
    ['a webhook that is a file', { webhook_url: 'file:///etc/passwd' }, 'webhook_url'],
    ['a webhook with a password', { webhook_url: 'http://a:b@example.com/' }, 'webhook_url'],
    ['a snooze without end', { snoozed_until: 'for ever' }, 'snoozed_until'],
    ['NUL in its name', { name: 'a\0b' }, 'name'],
  ])('%s is refused', async (_, more, attr) => {
    expect(await call('POST', 'alerts/', rule(more))).toMatchObject({ status: 400, body: { attr } })
  })

  const week = { dateRange: { date_from: '-7d' } }
  const node = { kind: 'EventsNode', event: 'signup' }
  const entity = { id: 'signup', type: 'events' }
  const statement = (query: string) => ({ kind: 'HogQLQuery', query })
  const byDay = statement('select toStartOfDay(timestamp) as day, count() as n from events group by day order by day desc')
  const byBrowser = statement('select properties.browser as browser, count() as n from events group by browser order by browser')
  // Day n of eight has the people 0 to n, so yesterday has seven of them.
  test.each<[what: string, query: object, more: { upper: number; index?: number; condition?: string }, breach: string]>([
    [
      'a formula',
      { ...signups, trendsFilter: { formulaNodes: [{ formula: 'A * 10' }] } },
      { upper: 69 },
      'is 70, above the upper threshold of 69.',
    ],
    [
      'a whole funnel',
      { kind: 'FunnelsQuery', series: [node, node], ...week },
      { upper: 87 },
      'The conversion is 87.5%, above the upper threshold of 87%.',
    ],
    [
      'a step of a funnel',
      { kind: 'FunnelsQuery', series: [node, node, node], ...week },
      { upper: 85, index: 2 },
      // Seven of eight are there on two days and more, six of them on three.
      'The conversion is 85.7143%, above the upper threshold of 85%.',
    ],
    [
      'a retention',
      {
        kind: 'RetentionQuery',
        ...week,
        retentionFilter: { period: 'Day', totalIntervals: 8, targetEntity: entity, returningEntity: entity },
      },
      { upper: 50, index: 2 },
      'The share who came back is 100%, above the upper threshold of 50%.',
    ],
    [
      'a stickiness',
      { kind: 'StickinessQuery', series: [node], interval: 'day', ...week },
      { upper: 4 },
      'is 4.5, above the upper threshold of 4.',
    ],
    [
      'returning people',
      { kind: 'LifecycleQuery', series: [node], interval: 'day', ...week },
      { upper: 5, index: 1 },
      'The number of returning people is 6, above the upper threshold of 5.',
    ],
    [
      'a number of a statement',
      statement('select count() as all_events from events'),
      { upper: 35 },
      'all_events is 36, above the upper threshold of 35.',
    ],
    ['the last row of a statement by time', byDay, { upper: 7 }, 'n is 8, above the upper threshold of 7.'],
    ['its change', byDay, { upper: 0, condition: 'relative_increase' }, 'The increase is 1, above the upper threshold of 0.'],
    ['a row of another statement', byBrowser, { upper: 18 }, 'n of Chrome is 20, above the upper threshold of 18.'],
  ])('compares %s', async (_, query, { upper, index = 0, condition = 'absolute_value' }, breach) => {
    const made = await makeInsight(query)
    const set = { insight: made.id, condition: { type: condition }, config: { series_index: index }, webhook_url: hook.url }
    const bounds = (upper: number) => ({ threshold: { configuration: { type: 'absolute', bounds: { upper } } } })
    const { status, body } = await call('POST', 'alerts/', rule({ ...set, ...bounds(upper) }))
    expect(status).toBe(201)
    await run()
    const fired = await call('GET', `alerts/${body.id}/`)
    expect(fired.body).toMatchObject({ state: 'Firing', last_error: null })
    const [{ data }] = hook.requests.map(({ text }) => JSON.parse(text))
    expect(data.alert.breaches).toEqual([expect.stringContaining(breach)])
    // Not above its own value.
    await call('PATCH', `alerts/${body.id}/`, bounds(fired.body.last_value))
    await run()
    expect((await call('GET', `alerts/${body.id}/`)).body).toMatchObject({ state: 'Not firing', last_value: fired.body.last_value })
  })

  test.each<[what: string, query: object, more: object, message: RegExp]>([
    ['paths', { kind: 'PathsQuery', ...week }, {}, /cannot check a PathsQuery: its answer has no number/],
    [
      'a step that is not there',
      { kind: 'FunnelsQuery', series: [node, node], ...week },
      { config: { series_index: 2 } },
      /0 for the whole funnel/,
    ],
    [
      'the change of a funnel',
      { kind: 'FunnelsQuery', series: [node, node], ...week },
      { condition: { type: 'relative_increase' } },
      /one number for the whole range/,
    ],
    [
      'the first interval of a retention',
      { kind: 'RetentionQuery', ...week, retentionFilter: { targetEntity: entity, returningEntity: entity } },
      {},
      /from 1 to 6/,
    ],
    [
      'a fifth status',
      { kind: 'LifecycleQuery', series: [node], ...week },
      { config: { series_index: 4 } },
      /new, returning, resurrecting, dormant/,
    ],
  ])('of %s is refused', async (_, query, more, message) => {
    const made = await makeInsight(query)
    const { status, body } = await call('POST', 'alerts/', rule({ insight: made.id, ...more }))
    expect([status, body.detail]).toEqual([400, expect.stringMatching(message)])
  })

  test('of another project is not found, nor is one of its insights', async () => {
    const { home } = held
    const { body } = await call('POST', 'alerts/', rule())
    const other = await home.world.makeProject(home.organization.id, { name: 'Other' })
    for (const path of ['', 'checks/', 'deliveries/'])
      expect((await home.call('GET', `/api/projects/${other.id}/alerts/${body.id}/${path}`, { as: home.owner })).status).toBe(404)
    expect((await home.call('POST', `/api/projects/${other.id}/alerts/`, { as: home.owner, body: rule() })).status).toBe(400)
    expect((await call('GET', 'alerts/none/')).status).toBe(404)
  })

  test('is removed with its checks and what is waiting', async () => {
    hook.status = 503
    const { body } = await call('POST', 'alerts/', rule({ webhook_url: hook.url }))
    await run()
    expect((await call('DELETE', `alerts/${body.id}/`)).status).toBe(204)
    hook.status = 200
    later(days(1))
    await run()
    expect(hook.requests).toHaveLength(1)
    expect((await call('GET', `alerts/${body.id}/`)).status).toBe(404)
    const activity = await call('GET', `alerts/${body.id}/activity/`)
    expect(activity.body.results.map((one: { activity: string }) => one.activity)).toEqual(['deleted', 'created'])
  })
})

describe('whether the newest notice has arrived', () => {
  const alertOf = async (id: string) => (await call('GET', `alerts/${id}/`)).body

  test('an alert whose webhook is refused fires, and says that nobody was told', async () => {
    const { body } = await call('POST', 'alerts/', rule({ webhook_url: hook.url }))
    expect(body.last_delivery).toBeNull()
    held.home.world.reachesPrivate = false
    await run()
    const last_delivery = {
      created_at: '2026-01-07T10:30:00Z',
      status: 'failed',
      delivered: 0,
      waiting: 0,
      failed: 1,
      target_type: 'webhook',
      target: hook.url,
      error: expect.stringContaining('this server connects only to public addresses'),
      next_attempt_at: null,
    }
    expect(await alertOf(body.id)).toMatchObject({
      state: 'Firing',
      last_notified_at: null,
      last_delivery,
      checks: [{ state: 'Firing', targets_notified: false }],
    })
    expect((await call('GET', 'alerts/')).body.results).toMatchObject([{ state: 'Firing', last_delivery }])
    expect((await call('GET', `alerts/${body.id}/checks/`)).body.results).toMatchObject([{ targets_notified: false }])
  })

  test('an alert whose mails wait for a mail server says so, and is told when there is one', async () => {
    const { world, member } = held.home
    world.hasMail = true
    const { body } = await call('POST', 'alerts/', rule({ subscribed_users: [member.id] }))
    world.hasMail = false
    await run()
    expect(await alertOf(body.id)).toMatchObject({
      last_notified_at: null,
      last_delivery: { status: 'waiting', waiting: 1, target: 'member@acme.test', error: expect.stringContaining('no mail server') },
      checks: [{ targets_notified: false }],
    })
    world.hasMail = true
    later(minutes(1))
    await run()
    expect(await alertOf(body.id)).toMatchObject({
      last_notified_at: '2026-01-07T10:31:00Z',
      last_delivery: { status: 'delivered', delivered: 1, error: null },
      checks: [{ targets_notified: true }],
    })
  })

  test('one receiver of two that did not get it is enough to say so', async () => {
    held.home.world.hasMail = true
    hook.status = 410
    const { body } = await call('POST', 'alerts/', rule({ webhook_url: hook.url, subscribed_users: [held.home.member.id] }))
    await run()
    expect(await alertOf(body.id)).toMatchObject({
      last_delivery: { status: 'failed', delivered: 1, failed: 1, target_type: 'webhook', error: expect.stringContaining('410') },
      checks: [{ targets_notified: true }],
    })
  })

  test('the newest one counts, and a test does not', async () => {
    hook.status = 410
    const { body } = await call('POST', 'alerts/', rule({ webhook_url: hook.url }))
    await run()
    hook.status = 200
    later(minutes(1))
    expect((await call('POST', `alerts/${body.id}/test-delivery/`)).body.deliveries).toMatchObject([{ status: 'delivered' }])
    expect(await alertOf(body.id)).toMatchObject({ last_notified_at: null, last_delivery: { status: 'failed' } })
    later(days(1))
    await run()
    expect(await alertOf(body.id)).toMatchObject({
      last_delivery: { status: 'delivered', failed: 0 },
      checks: [{ targets_notified: true }, { targets_notified: false }],
    })
  })

  test('however many tests came after it, the newest notice decides', async () => {
    const { world, admin, member, owner } = held.home
    world.hasMail = true
    hook.status = 410
    const told = { webhook_url: hook.url, subscribed_users: [owner.id, admin.id, member.id] }
    const { body } = await call('POST', 'alerts/', rule({ ...told, calculation_interval: 'monthly' }))
    await run()
    hook.status = 200
    // Four deliveries each.
    for (let i = 0; i < 26; i++) {
      later(1000)
      expect((await call('POST', `alerts/${body.id}/test-delivery/`)).body.deliveries).toHaveLength(4)
    }
    expect((await alertOf(body.id)).last_delivery).toMatchObject({ status: 'failed', delivered: 3, failed: 1, target: hook.url })
  })

  test('a list asks for the newest notices of all its alerts and subscriptions with one statement each', async () => {
    const { store } = held.home.world.accounts.context
    for (let i = 0; i < 4; i++) await call('POST', 'alerts/', rule({ name: `${i}`, webhook_url: hook.url }))
    for (let i = 0; i < 4; i++) await call('POST', 'subscriptions/', schedule())
    hook.status = 410
    await run()
    later(days(8))
    hook.status = 200
    await run()
    for (const path of ['alerts/', 'subscriptions/']) {
      const asked = vi.spyOn(store.read.notice_deliveries, 'find')
      const { body } = await call('GET', path)
      expect(asked).toHaveBeenCalledTimes(1)
      asked.mockRestore()
      const alone = await Promise.all(
        body.results.map(async ({ id }: { id: string }) => (await call('GET', `${path}${id}/`)).body.last_delivery),
      )
      expect(body.results).toHaveLength(4)
      expect(alone.every((one) => one !== null)).toBe(true)
      expect(body.results.map((one: { last_delivery: unknown }) => one.last_delivery)).toEqual(alone)
    }
  })

  test('one alert with many deliveries does not hide the newest notice of another one', async () => {
    const { store } = held.home.world.accounts.context
    const quiet = (await call('POST', 'alerts/', rule({ webhook_url: hook.url }))).body
    await run()
    later(days(1))
    const loud = (await call('POST', 'alerts/', rule({ webhook_url: hook.url }))).body
    const row = (await store.read.notice_deliveries.first({ alert_id: quiet.id }))!
    await store.write(async (tables) => {
      for (let i = 0; i < 250; i++)
        await tables.notice_deliveries.insert({
          ...row,
          id: `many-${i}`,
          notice_id: `n-${i}`,
          alert_id: loud.id,
          created_at: new Date(held.home.world.now!.getTime() + i),
        })
    })
    const { body } = await call('GET', 'alerts/')
    expect(body.results.map((one: { last_delivery: unknown }) => one.last_delivery !== null)).toEqual([true, true])
  })

  describe('a test of an alert whose deliveries wait', () => {
    /** As many deliveries as an alert keeps: some have ended. */
    const full = async (ended: number) => {
      const { store } = held.home.world.accounts.context
      const { id } = (await call('POST', 'alerts/', rule({ webhook_url: hook.url }))).body
      await run()
      const row = (await store.read.notice_deliveries.first({ alert_id: id }))!
      await store.write(async (tables) => {
        await tables.notice_deliveries.remove({ alert_id: id })
        for (let i = 0; i < 1_000; i++) {
          const status = i >= 500 && i < 500 + ended ? 'delivered' : 'waiting'
          const due_at = new Date('2030-01-01T00:00:00Z')
          await tables.notice_deliveries.insert({
            ...row,
            id: `full-${i}`,
            notice_id: `n-${i}`,
            status,
            due_at,
            created_at: new Date(row.created_at.getTime() + i),
          })
        }
      })
      return { id, waiting: () => store.read.notice_deliveries.count({ alert_id: id, status: 'waiting' }) }
    }

    test('takes the place of deliveries that have ended', async () => {
      const { id, waiting } = await full(3)
      expect((await call('POST', `alerts/${id}/test-delivery/`)).body.deliveries).toMatchObject([{ status: 'delivered' }])
      expect(await waiting()).toBe(997)
      // The test before leaves first.
      expect((await call('POST', `alerts/${id}/test-delivery/`)).status).toBe(200)
      const { store } = held.home.world.accounts.context
      expect(await store.read.notice_deliveries.count({ alert_id: id, is_test: true })).toBe(1)
      expect(await waiting()).toBe(997)
    })

    test('is refused where all of them wait', async () => {
      const { id, waiting } = await full(0)
      const told = await call('POST', `alerts/${id}/test-delivery/`)
      expect(told).toMatchObject({ status: 400, body: { detail: expect.stringContaining('deliveries are waiting') } })
      expect(await waiting()).toBe(1_000)
    })

    test('does not take the place of a notice whose deliveries wait', async () => {
      const { store } = held.home.world.accounts.context
      const { id } = (await call('POST', 'alerts/', rule({ webhook_url: hook.url }))).body
      hook.status = 503
      await run()
      const notice = (await store.read.notices.first({ alert_id: id }))!
      const row = (await store.read.notice_deliveries.first({ alert_id: id }))!
      await store.write(async (tables) => {
        await tables.notices.remove({ alert_id: id })
        for (let i = 0; i < 100; i++) {
          const at = { created_at: new Date(notice.created_at.getTime() + i) }
          await tables.notices.insert({ ...notice, id: `kept-${i}`, ...at })
          await tables.notice_deliveries.insert({
            ...row,
            id: `of-${i}`,
            notice_id: `kept-${i}`,
            status: i === 50 ? 'failed' : 'waiting',
            due_at: new Date('2030-01-01T00:00:00Z'),
            ...at,
          })
        }
      })
      hook.status = 200
      expect((await call('POST', `alerts/${id}/test-delivery/`)).status).toBe(200)
      const kept = new Set((await store.read.notices.find({ alert_id: id })).map((one) => one.id))
      expect([kept.has('kept-0'), kept.has('kept-50'), kept.has('kept-99')]).toEqual([true, false, true])
    })
  })

  test('members see the server of a webhook, and not its token', async () => {
    const { body } = await call('POST', 'alerts/', rule({ webhook_url: hook.url }))
    held.home.world.reachesPrivate = false
    await run()
    const { home } = held
    const seen = await home.call('GET', url(`alerts/${body.id}/`), { as: home.member })
    expect(seen.body.last_delivery).toMatchObject({ status: 'failed', target: expect.stringContaining('****') })
    expect(JSON.stringify(seen.body)).not.toContain('hidden')
  })

  test('the list says why a check has failed', async () => {
    const gone = await makeInsight()
    await call('POST', 'alerts/', rule({ insight: gone.id }))
    await call('PATCH', `insights/${gone.id}/`, { deleted: true })
    await run()
    expect((await call('GET', 'alerts/')).body.results).toMatchObject([{ state: 'Errored', last_error: 'The insight was deleted.' }])
  })

  test('of a subscription too, with the name of what it shows', async () => {
    hook.status = 410
    const made = await call('POST', 'subscriptions/', schedule())
    expect(made.body).toMatchObject({ last_delivery: null, resource_name: 'Signups', insight_short_id: insight.short_id })
    later(days(1))
    await run()
    const failed = { last_delivery: { status: 'failed', failed: 1, error: expect.stringContaining('410') } }
    expect((await call('GET', 'subscriptions/')).body.results).toMatchObject([failed])
    expect((await call('GET', `subscriptions/${made.body.id}/`)).body).toMatchObject(failed)
  })
})

describe('a test', () => {
  test('of an alert is a marked notice, sent now, and its outcome is the answer', async () => {
    held.home.world.hasMail = true
    const { body } = await call('POST', 'alerts/', rule({ webhook_url: hook.url, subscribed_users: [held.home.member.id], enabled: false }))
    const tested = await call('POST', `alerts/${body.id}/test-delivery/`)
    expect(tested.status).toBe(200)
    expect(tested.body.deliveries).toHaveLength(2)
    for (const one of tested.body.deliveries) expect(one).toMatchObject({ status: 'delivered', attempts: 1, is_test: true, error: null })
    expect(JSON.parse(hook.requests[0]!.text)).toMatchObject({
      type: 'alert.test',
      data: { subject: 'Test: Alert: Few signups', alert: { id: body.id, is_test: true }, insights: [{ picture: expect.any(String) }] },
    })
    expect(held.home.world.outbox).toMatchObject([{ to: 'member@acme.test', subject: 'Test: Alert: Few signups' }])
    // It is neither a check nor a notice of the alert.
    expect((await call('GET', `alerts/${body.id}/`)).body).toMatchObject({ state: 'Not firing', last_checked_at: null, checks: [] })
    await run()
    expect(hook.requests).toHaveLength(1)
  })

  test.each([
    ['busy', 503, 'answered with status 503'],
    ['gone', 410, 'answered with status 410'],
  ])('that meets a server which is %s has failed at once, and is not tried again', async (_, status, error) => {
    hook.status = status
    const { body } = await call('POST', 'alerts/', rule({ webhook_url: hook.url, enabled: false }))
    const tested = await call('POST', `alerts/${body.id}/test-delivery/`)
    expect(tested.body.deliveries).toMatchObject([{ status: 'failed', attempts: 1, error: expect.stringContaining(error) }])
    // Tests have a limit of their own, which this would not count toward.
    const again = await call('POST', `alerts/${body.id}/deliveries/${tested.body.deliveries[0].id}/retry/`)
    expect(again).toMatchObject({ status: 400, body: { detail: expect.stringContaining('Send another test') } })
    later(days(1))
    await run()
    expect(hook.requests).toHaveLength(1)
  })

  test('of a subscription answers what became of it, and one of nothing is refused', async () => {
    hook.status = 410
    const { body } = await call('POST', 'subscriptions/', schedule())
    const tested = await call('POST', `subscriptions/${body.id}/test-delivery/`)
    expect(tested).toMatchObject({ status: 202, body: { deliveries: [{ status: 'failed', is_test: true }] } })
    expect((await call('GET', `subscriptions/${body.id}/`)).body.last_delivery).toBeNull()
    const gone = await makeInsight()
    const other = await call('POST', 'subscriptions/', schedule({ insight: gone.id }))
    await call('PATCH', `insights/${gone.id}/`, { deleted: true })
    expect((await call('POST', `subscriptions/${other.body.id}/test-delivery/`)).status).toBe(400)
  })

  test('of an alert that tells nobody is refused, and one of another project is not found', async () => {
    const { home } = held
    const { body } = await call('POST', 'alerts/', rule())
    expect(await call('POST', `alerts/${body.id}/test-delivery/`)).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('has no receivers') },
    })
    const other = await home.world.makeProject(home.organization.id, { name: 'Other' })
    expect((await home.call('POST', `/api/projects/${other.id}/alerts/${body.id}/test-delivery/`, { as: home.owner })).status).toBe(404)
  })

  test('has a limit of its own, for all members of a project together', async () => {
    const { home } = held
    home.world.limits = { ...home.world.limits, test: [{ count: 3, seconds: 60 }] }
    const alert = await call('POST', 'alerts/', rule({ webhook_url: hook.url, enabled: false }))
    const subscription = await call('POST', 'subscriptions/', schedule())
    const test = (path: string, as = home.owner) => home.call('POST', url(`${path}/test-delivery/`), { as })
    expect((await test(`alerts/${alert.body.id}`)).status).toBe(200)
    expect((await test(`alerts/${alert.body.id}`, home.admin)).status).toBe(200)
    expect((await test(`subscriptions/${subscription.body.id}`, home.member)).status).toBe(202)
    for (const as of [home.owner, home.admin, home.member]) {
      const refused = await test(`alerts/${alert.body.id}`, as)
      expect(refused.status).toBe(429)
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    // What is sent again counts too.
    for (const of of [`alerts/${alert.body.id}`, `subscriptions/${subscription.body.id}`])
      expect((await home.call('POST', url(`${of}/deliveries/${crypto.randomUUID()}/retry/`), { as: home.owner })).status).toBe(429)
    expect(hook.requests).toHaveLength(3)
    // Nothing else is slowed down.
    expect((await call('GET', 'alerts/')).status).toBe(200)
    later(minutes(2))
    expect((await test(`alerts/${alert.body.id}`)).status).toBe(200)
  })
})

describe('an address that a delivery would refuse', () => {
  const privateOnes = ['http://127.0.0.1:9/x', 'http://[::1]/x', 'http://10.0.0.1/x', 'http://localhost:9/x', 'http://[::ffff:127.0.0.1]/x']
  const never = ['http://169.254.169.254/latest/meta-data', 'http://[fe80::1]/x']
  const wrong = ['ftp://example.com/x', 'javascript:alert(1)', 'https://a:b@example.com/']

  /** What a delivery says, whatever was checked before. */
  const saidAtDelivery = async (address: string): Promise<string> => {
    const { store } = held.home.world.accounts.context
    const { body } = await call('POST', 'subscriptions/', schedule({ target_value: 'https://hooks.example.com/in' }))
    await store.write((tables) => tables.subscriptions.update({ id: body.id }, { target_value: address }))
    const tested = await call('POST', `subscriptions/${body.id}/test-delivery/`)
    expect(tested.body.deliveries, address).toMatchObject([{ status: 'failed' }])
    return tested.body.deliveries[0].error
  }

  test.each([...privateOnes, ...never])('%s is refused when it is saved, with the words of the delivery', async (address) => {
    held.home.world.reachesPrivate = false
    const said = await saidAtDelivery(address)
    const detail = expect.stringContaining('this server connects only to public addresses')
    expect(said).toEqual(detail)
    const alert = await call('POST', 'alerts/', rule({ webhook_url: address }))
    expect(alert).toMatchObject({ status: 400, body: { attr: 'webhook_url', detail } })
    expect(alert.body.detail).toBe(said.replace(address, new URL(address).host))
    expect(await call('POST', 'subscriptions/', schedule({ target_value: address }))).toMatchObject({
      status: 400,
      body: { attr: 'target_value', detail },
    })
  })

  test.each([...never, ...wrong])('%s is refused even where private networks are allowed', async (address) => {
    expect(await call('POST', 'alerts/', rule({ webhook_url: address }))).toMatchObject({ status: 400, body: { attr: 'webhook_url' } })
    expect(await call('POST', 'subscriptions/', schedule({ target_value: address }))).toMatchObject({
      status: 400,
      body: { attr: 'target_value' },
    })
  })

  test('is refused as a change, and what stands already may stay', async () => {
    const { world } = held.home
    const alert = (await call('POST', 'alerts/', rule({ webhook_url: hook.url }))).body
    const subscription = (await call('POST', 'subscriptions/', schedule())).body
    world.reachesPrivate = false
    const other = 'http://127.0.0.1:1/other'
    expect(await call('PATCH', `alerts/${alert.id}/`, { webhook_url: other })).toMatchObject(
      refused(400, 'invalid_input', undefined, 'webhook_url'),
    )
    expect(await call('PUT', `alerts/${alert.id}/`, rule({ webhook_url: other }))).toMatchObject({ status: 400 })
    expect(await call('PATCH', `subscriptions/${subscription.id}/`, { target_value: other })).toMatchObject({ status: 400 })
    expect((await call('PATCH', `alerts/${alert.id}/`, { webhook_url: hook.url, name: 'Same' })).status).toBe(200)
    expect((await call('PATCH', `alerts/${alert.id}/`, { enabled: false })).status).toBe(200)
    expect((await call('PATCH', `subscriptions/${subscription.id}/`, { target_value: hook.url, title: 'Same' })).status).toBe(200)
  })

  test('a name that is not found may be found later', async () => {
    held.home.world.reachesPrivate = false
    expect((await call('POST', 'alerts/', rule({ webhook_url: 'https://hooks.invalid/in' }))).status).toBe(201)
  })

  test('members are not told by mail where there is no mail server, and those of before stay', async () => {
    const { world, member, admin } = held.home
    const told = { subscribed_users: [member.id] }
    expect(await call('POST', 'alerts/', rule(told))).toMatchObject({
      status: 400,
      body: { attr: 'subscribed_users', detail: expect.stringContaining('no mail server is configured') },
    })
    world.hasMail = true
    const { body } = await call('POST', 'alerts/', rule(told))
    world.hasMail = false
    expect((await call('PATCH', `alerts/${body.id}/`, { ...told, name: 'Same' })).status).toBe(200)
    expect((await call('PATCH', `alerts/${body.id}/`, { subscribed_users: [member.id, admin.id] })).status).toBe(400)
    expect((await call('PATCH', `alerts/${body.id}/`, { subscribed_users: [] })).status).toBe(200)
  })
})

describe('a webhook', () => {
  const fired = async (more: object = {}) => {
    const { body } = await call('POST', 'alerts/', rule({ webhook_url: hook.url, ...more }))
    await run()
    const delivery = async () => (await call('GET', `alerts/${body.id}/deliveries/`)).body.results[0]
    return { id: body.id as string, delivery }
  }

  test('that fails is tried again under the same id, and shown', async () => {
    hook.status = 503
    const { delivery } = await fired()
    const waiting = await delivery()
    expect(waiting).toMatchObject({
      status: 'waiting',
      attempts: 1,
      error: expect.stringMatching(/^127\.0\.0\.1:\d+ answered with status 503\.$/),
    })
    const wait = Date.parse(waiting.next_attempt_at) - Date.parse('2026-01-07T10:30:00Z')
    expect(wait, 'thirty seconds, a quarter more or less').toBeGreaterThanOrEqual(22_500)
    expect(wait).toBeLessThanOrEqual(37_500)
    later(minutes(1))
    await run()
    hook.status = 200
    later(minutes(2))
    await run()
    expect(await delivery()).toMatchObject({ status: 'delivered', attempts: 3, error: null })
    expect(new Set(hook.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(new Set(hook.requests.map(({ text }) => text)).size).toBe(1)
  })

  test('that says no is not tried again, until somebody asks', async () => {
    hook.status = 410
    const { id, delivery } = await fired()
    const failed = await delivery()
    expect(failed).toMatchObject({ status: 'failed', attempts: 1, next_attempt_at: null })
    later(minutes(60))
    await run()
    expect(hook.requests).toHaveLength(1)
    hook.status = 204
    expect((await call('POST', `alerts/${id}/deliveries/${failed.id}/retry/`)).body).toMatchObject({ status: 'waiting' })
    await run()
    expect(await delivery()).toMatchObject({ status: 'delivered' })
    expect((await call('POST', `alerts/${id}/deliveries/${failed.id}/retry/`)).status).toBe(400)
    expect((await call('POST', `alerts/${id}/deliveries/${id}/retry/`)).status).toBe(404)
  })

  test('that fails for hours is given up', async () => {
    hook.status = 500
    const { id, delivery } = await fired()
    await call('PATCH', `alerts/${id}/`, { snoozed_until: '30d' })
    for (let i = 0; i < 20; i++) {
      later(minutes(76)) // an hour, and a quarter of one
      await run()
    }
    expect(await delivery()).toMatchObject({ status: 'failed', attempts: 16 })
    expect(hook.requests).toHaveLength(16)
  })

  test('in a private network is refused unless the operator allows it', async () => {
    const { body } = await call('POST', 'alerts/', rule({ webhook_url: hook.url }))
    held.home.world.reachesPrivate = false
    await run()
    const delivery = async () => (await call('GET', `alerts/${body.id}/deliveries/`)).body.results[0]
    expect(await delivery()).toMatchObject({ status: 'failed', error: expect.stringContaining('127.0.0.1') })
    expect(hook.requests).toHaveLength(0)
  })

  test('that redirects has not got it', async () => {
    hook.redirectsTo = held.home.world.url
    const { delivery } = await fired()
    expect(await delivery()).toMatchObject({ status: 'failed', error: expect.stringContaining('redirects') })
  })

  test('that was delivered leaves no content behind, and what is old is removed', async () => {
    const { read } = held.home.world.accounts.context.store
    const { id } = await fired()
    hook.status = 410
    await fired()
    const counts = async () => Promise.all([read.notices.count({}), read.notice_deliveries.count({}), read.alert_checks.count({})])
    expect(await counts()).toEqual([1, 2, 2])
    await call('PATCH', `alerts/${id}/`, { enabled: false })
    later(days(31))
    await held.home.world.accounts.context.store.write((tables) => tables.alerts.update({}, { enabled: false }))
    await run()
    expect(await counts()).toEqual([0, 0, 2])
    later(days(60))
    await run()
    expect(await counts()).toEqual([0, 0, 0])
  })

  test('signs with a secret of its receiver', async () => {
    const secret = 'a secret of the receiver'
    await fired({ webhook_secret: secret })
    const { headers, text } = hook.requests[0]!
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`
    expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', secret).update(signed).digest('base64')}`)
    const { alerts } = held.home.world.accounts.context.store.read
    expect((await alerts.find({}))[0]!.webhook_secret).not.toContain(secret)
  })
})

describe('a subscription', () => {
  test('is sent when it is due, once', async () => {
    const made = await call('POST', 'subscriptions/', schedule())
    expect(made).toMatchObject({
      status: 201,
      body: { summary: 'sent every day', next_delivery_date: '2026-01-08T09:00:00Z', deleted: false },
    })
    await run()
    expect(hook.requests).toHaveLength(0)
    later(days(1))
    await run()
    await run()
    expect(hook.requests).toHaveLength(1)
    expect(JSON.parse(hook.requests[0]!.text)).toMatchObject({
      type: 'subscription.due',
      data: { due_at: '2026-01-08T09:00:00.000Z', subscription: { id: made.body.id } },
    })
    expect((await call('GET', `subscriptions/${made.body.id}/`)).body.next_delivery_date).toBe('2026-01-09T09:00:00Z')
    // Days without this server: one, not ten.
    later(days(10))
    await run()
    expect(hook.requests).toHaveLength(2)
  })

  test('of a dashboard has its insights', async () => {
    const ids: number[] = []
    for (let i = 0; i < 8; i++) ids.push((await makeInsight(signups, `Insight ${i}`)).id)
    const board = await call('POST', 'dashboards/', { name: 'Board' })
    for (const id of ids) await call('PATCH', `insights/${id}/`, { dashboards: [board.body.id] })
    await call('POST', 'subscriptions/', schedule({ insight: null, dashboard: board.body.id }))
    later(days(1))
    await run()
    const { data } = JSON.parse(hook.requests[0]!.text)
    expect(data.insights.map((one: { name: string }) => one.name)).toEqual([
      'Insight 0',
      'Insight 1',
      'Insight 2',
      'Insight 3',
      'Insight 4',
      'Insight 5',
    ])
    expect(data.messages).toContain('The dashboard has 2 more insights.')
  })

  test('goes out over SMTP, to each address on its own, with the numbers and the picture', async () => {
    const smtp = await startSmtp()
    const mailer = await createMailer(smtp.url, 'Waymark <no-reply@acme.test>')
    held.home.world.mailer = mailer
    smtp.answer = ({ to }) => (to[0] === 'no@else.test' ? '550 no such user' : to[0] === 'later@else.test' ? '451 try later' : '250 ok')
    const { body } = await call(
      'POST',
      'subscriptions/',
      schedule({ target_type: 'email', target_value: 'a@else.test, no@else.test,later@else.test' }),
    )
    later(days(1))
    await run()
    expect(smtp.mails.map(({ to }) => to)).toEqual([['a@else.test']])
    const [{ text }] = smtp.mails as [(typeof smtp.mails)[0]]
    expect(text).toMatch(/^Message-ID: <[0-9a-f-]{36}@127\.0\.0\.1>$/m)
    expect(text).toContain('Content-Type: image/svg+xml; name=Signups-1.svg')
    const states = async () =>
      Object.fromEntries(
        (await call('GET', `subscriptions/${body.id}/deliveries/`)).body.results.map((one: { target: string; status: string }) => [
          one.target,
          one.status,
        ]),
      )
    expect(await states()).toEqual({ 'a@else.test': 'delivered', 'no@else.test': 'failed', 'later@else.test': 'waiting' })
    smtp.answer = () => '250 ok'
    later(minutes(1))
    await run()
    expect(await states()).toMatchObject({ 'later@else.test': 'delivered' })
    expect(smtp.mails).toHaveLength(2)
    mailer.close()
    await smtp.close()
  })

  test('is sent for a test, and its schedule stays', async () => {
    const { body } = await call('POST', 'subscriptions/', schedule())
    expect((await call('POST', `subscriptions/${body.id}/test-delivery/`)).status).toBe(202)
    await run()
    expect(JSON.parse(hook.requests[0]!.text).type).toBe('subscription.test')
    expect((await call('GET', `subscriptions/${body.id}/`)).body.next_delivery_date).toBe('2026-01-08T09:00:00Z')
  })

  test('is paused, and goes on later with its next time', async () => {
    const { body } = await call('POST', 'subscriptions/', schedule())
    const path = `subscriptions/${body.id}/`
    expect(body.enabled).toBe(true)
    expect((await call('PATCH', path, { enabled: false })).body).toMatchObject({ enabled: false, next_delivery_date: null })
    expect((await call('PATCH', path, { title: 'Other' })).body).toMatchObject({ enabled: false, next_delivery_date: null })
    later(days(3))
    await run()
    expect(hook.requests).toHaveLength(0)
    expect((await call('PATCH', path, { enabled: true })).body).toMatchObject({
      enabled: true,
      next_delivery_date: '2026-01-11T09:00:00Z',
    })
    later(days(1))
    await run()
    expect(hook.requests).toHaveLength(1)
  })

  test('ends when it is deleted, and is listed no more', async () => {
    const { body } = await call('POST', 'subscriptions/', schedule())
    expect((await call('GET', 'subscriptions/')).body.count).toBe(1)
    expect((await call('PATCH', `subscriptions/${body.id}/`, { deleted: true })).body).toMatchObject({
      deleted: true,
      next_delivery_date: null,
    })
    later(days(3))
    await run()
    expect(hook.requests).toHaveLength(0)
    expect((await call('GET', 'subscriptions/')).body.count).toBe(0)
    expect((await call('DELETE', `subscriptions/${body.id}/`)).status).toBe(405)
  })

  test('is over after its last time', async () => {
    const { body } = await call('POST', 'subscriptions/', schedule({ until_date: '2026-01-08T12:00:00Z' }))
    later(days(1))
    await run()
    expect((await call('GET', `subscriptions/${body.id}/`)).body.next_delivery_date).toBeNull()
    later(days(5))
    await run()
    expect(hook.requests).toHaveLength(1)
  })

  test.each([
    ['neither', { insight: null }, null],
    ['both', { dashboard: 1 }, null],
    ['an unknown insight', { insight: 999_999 }, 'insight'],
    ['an unknown dashboard', { insight: null, dashboard: 999_999 }, 'dashboard'],
    ['an address that is none', { target_type: 'email', target_value: 'nobody' }, 'target_value'],
    ['no address', { target_type: 'email', target_value: ',' }, 'target_value'],
    ['mail without a mail server', { target_type: 'email', target_value: 'a@else.test' }, 'target_type'],
    ['slack', { target_type: 'slack' }, 'target_type'],
    ['a webhook without a host', { target_value: 'http://' }, 'target_value'],
    ['no start', { start_date: undefined }, 'start_date'],
    ['a start long ago', { start_date: '0001-01-01' }, 'start_date'],
    ['an end before the start', { until_date: '2025-01-01' }, 'until_date'],
    ['an unknown frequency', { frequency: 'hourly' }, 'frequency'],
    ['every 0 days', { interval: 0 }, 'interval'],
    ['every 1e9 days', { interval: 1e9 }, 'interval'],
    ['an unknown weekday', { byweekday: ['someday'] }, 'byweekday__0'],
    ['a position without weekdays', { bysetpos: 1 }, 'bysetpos'],
    ['a position of 0', { bysetpos: 0, byweekday: ['monday'] }, 'bysetpos'],
  ])('%s is refused', async (_, more, attr) => {
    expect(await call('POST', 'subscriptions/', schedule(more))).toMatchObject({ status: 400, body: { attr } })
  })

  test('of a hosted server goes to members only', async () => {
    const { world } = held.home
    Object.assign(world, { hasMail: true, settings: { ...world.settings, isHosted: true } })
    const mail = (target_value: string) => call('POST', 'subscriptions/', schedule({ target_type: 'email', target_value }))
    expect(await mail('member@acme.test,stranger@else.test')).toMatchObject(refused(400, 'invalid_input', undefined, 'target_value'))
    expect((await mail('Member@acme.test')).status).toBe(201)
    world.settings = { ...world.settings, isHosted: false }
  })

  test('of a hosted server is not sent to those who have left, or lost the project', async () => {
    const { home } = held
    const { world, organization } = home
    Object.assign(world, { hasMail: true, settings: { ...world.settings, isHosted: true } })
    const leaver = await world.user('leaver@acme.test', organization.id)
    const other = await world.makeProject(organization.id, { name: 'Private later' })
    const path = `/api/projects/${other.id}`
    const its = await home.call('POST', `${path}/insights/`, { as: home.owner, body: { name: 'Own', query: signups } })
    const mail = (target_value: string) =>
      home.call('POST', `${path}/subscriptions/`, {
        as: home.owner,
        body: schedule({ insight: its.body.id, target_type: 'email', target_value }),
      })
    const { body } = await mail('leaver@acme.test,member@acme.test,admin@acme.test')
    expect((await home.call('DELETE', `/api/organizations/${organization.id}/members/${leaver.uuid}/`, { as: home.owner })).status).toBe(
      204,
    )
    await world.accounts.context.store.write((tables) => tables.projects.update({ id: other.id }, { access_control: true }))
    later(days(1))
    await run()
    expect(world.outbox.map(({ to }) => to)).toEqual(['admin@acme.test'])
    const { results } = (await home.call('GET', `${path}/subscriptions/${body.id}/deliveries/`, { as: home.owner })).body
    expect(results.filter(({ status }: { status: string }) => status === 'failed').map(({ error }: { error: string }) => error)).toEqual(
      expect.arrayContaining([
        'leaver@acme.test is not the address of a member who can read the project.',
        'member@acme.test is not the address of a member who can read the project.',
      ]),
    )
    expect(await mail('member@acme.test')).toMatchObject(refused(400, 'invalid_input', undefined, 'target_value'))
    world.settings = { ...world.settings, isHosted: false }
  })

  test('is not sent to a deactivated account, and to any other address', async () => {
    const { world, organization } = held.home
    world.hasMail = true
    const { id } = await world.user('deactivated@acme.test', organization.id)
    await call('POST', 'subscriptions/', schedule({ target_type: 'email', target_value: 'Deactivated@acme.test,stranger@else.test' }))
    await world.accounts.context.store.write((tables) => tables.users.update({ id }, { is_active: false }))
    later(days(1))
    await run()
    expect(world.outbox.map(({ to }) => to)).toEqual(['stranger@else.test'])
  })

  test('of another project is not found', async () => {
    const { home } = held
    const { body } = await call('POST', 'subscriptions/', schedule())
    const other = await home.world.makeProject(home.organization.id, { name: 'Other' })
    expect((await home.call('GET', `/api/projects/${other.id}/subscriptions/${body.id}/`, { as: home.owner })).status).toBe(404)
    expect(
      (await home.call('PATCH', `/api/projects/${other.id}/subscriptions/${body.id}/`, { as: home.owner, body: { deleted: true } })).status,
    ).toBe(404)
  })
})

test('a project with many does not keep another waiting', async () => {
  const { home } = held
  const { store } = home.world.accounts.context
  const { body } = await call('POST', 'alerts/', rule())
  await store.write(async (tables) => {
    const alert = (await tables.alerts.first({ id: body.id }))!
    for (let i = 0; i < 30; i++)
      await tables.alerts.insert({
        ...alert,
        id: home.world.accounts.context.newId(),
        next_check_at: new Date(start.getTime() - minutes(60)),
      })
  })
  const other = await home.world.makeProject(home.organization.id, { name: 'Other' })
  const path = `/api/projects/${other.id}`
  const its = await home.call('POST', `${path}/insights/`, { as: home.owner, body: { name: 'Own', query: signups } })
  await home.call('POST', `${path}/alerts/`, { as: home.owner, body: rule({ insight: its.body.id }) })
  const { scheduler } = home.world.waymark.notifications
  await scheduler.tick()
  await scheduler.settled()
  const checked = await store.read.alert_checks.find({})
  expect(checked.filter(({ project_id }) => project_id === other.id)).toHaveLength(1)
  expect(checked.length, 'the others wait').toBeLessThan(10)
  await run()
  expect(await store.read.alert_checks.count({})).toBe(32)
})
