import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { parseXml, textsOf } from '../../harness/xml.ts'
import { refused, withHome } from './conversation.ts'

const held = withHome()

const trend = (event: string) => ({
  kind: 'InsightVizNode',
  source: { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event }], dateRange: { date_from: '-7d' } },
})

const urlOf = (path: string) => `/api/projects/${held.home.project.id}/${path}`
const makeInsight = async (fields: object = {}) => {
  const { home } = held
  const { body } = await home.call('POST', urlOf('insights/'), {
    as: home.owner,
    body: { name: 'Signups', query: trend('signup'), ...fields },
  })
  return body as { id: number; short_id: string }
}
const makeDashboard = async (insights: readonly number[]) => {
  const { home } = held
  const { body } = await home.call('POST', urlOf('dashboards/'), { as: home.owner, body: { name: 'Board', description: 'For all' } })
  for (const id of insights) await home.call('PATCH', urlOf(`insights/${id}/`), { as: home.owner, body: { dashboards: [body.id] } })
  return body as { id: number }
}
const share = (path: string, body: object = { enabled: true }) =>
  held.home.call('PATCH', urlOf(`${path}/sharing/`), { as: held.home.owner, body })
const open = (token: string, kind = 'shared') => held.home.call('GET', `/${kind}/${token}`)

beforeAll(async () => {
  const { home } = held
  const project = await home.world.projectData(home.project.id)
  await project.ingest({
    batch: Array.from({ length: 7 }, (_, i) => ({ event: 'signup', distinct_id: `u${i}`, properties: { secret: 'plan-x' } })),
  })
})

describe('the link of an insight', () => {
  test('exists after it is enabled, and the same token comes back', async () => {
    const { home } = held
    const { id } = await makeInsight()
    const before = await home.call('GET', urlOf(`insights/${id}/sharing/`), { as: home.member })
    expect(before).toMatchObject({ status: 200, body: { enabled: false, access_token: null, url: null } })
    const shared = await share(`insights/${id}`)
    expect(shared).toMatchObject({ status: 200, body: { enabled: true, access_token: expect.stringMatching(/^[\w-]{32}$/) } })
    expect(shared.body.url).toBe(`${home.world.url}/shared/${shared.body.access_token}`)
    const off = await share(`insights/${id}`, { enabled: false })
    expect(off.body).toMatchObject({ enabled: false, url: null })
    expect((await share(`insights/${id}`)).body.access_token).toBe(shared.body.access_token)
  })

  test('opens a page with its picture and one script of ours, and nothing of the insight runs', async () => {
    const { id } = await makeInsight({ name: 'Sign <ups>' })
    const { body } = await share(`insights/${id}`)
    const page = await open(body.access_token)
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = page.headers.get('content-security-policy')!
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'sha256-\S+'; style-src 'sha256-\S+' 'sha256-\S+'; base-uri 'none'; form-action 'none'; sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox; frame-ancestors 'none'$/,
    )
    expect(page.headers.get('x-robots-tag')).toBe('noindex, nofollow')
    expect(page.headers.get('set-cookie')).toBeNull()
    const text = page.body as string
    expect(text).not.toMatch(/<ups>| on\w+=|style=|href=/)
    const svg = parseXml(/<svg[\s\S]*?<\/svg>/.exec(text)![0])
    expect(textsOf(svg)).toEqual(expect.arrayContaining(['signup']))
    expect(text).toContain('<h1>Sign &lt;ups&gt;</h1>')
    // The policy allows exactly the styles and the script of the page.
    const parts = [...text.matchAll(/<(style|script)>([\s\S]*?)<\/\1>/g)]
    expect(parts.map(([, name]) => name)).toEqual(['style', 'style', 'script'])
    for (const [, , part] of parts) expect(policy).toContain(createHash('sha256').update(part!).digest('base64'))
  })

  test('opens the answer as JSON, without the question', async () => {
    const filtered = { ...trend('signup').source, properties: [{ type: 'event', key: 'secret', value: 'plan-x', operator: 'exact' }] }
    const { id } = await makeInsight({ query: filtered })
    const { body } = await share(`insights/${id}`)
    const answer = await open(`${body.access_token}.json`)
    expect(answer).toMatchObject({ status: 200, body: { type: 'insight', insight: { id, kind: 'TrendsQuery', name: 'Signups' } } })
    expect(answer.body.insight.result[0]).toMatchObject({ label: 'signup', count: 7 })
    expect(JSON.stringify(answer.body)).not.toMatch(/plan-x|acme\.test|"filter"|"query"/)
  })

  test('has both periods of a compared funnel', async () => {
    const funnel = (funnelVizType: string) => ({
      kind: 'FunnelsQuery',
      series: [
        { kind: 'EventsNode', event: 'signup' },
        { kind: 'EventsNode', event: 'purchase' },
      ],
      funnelsFilter: { funnelVizType },
      compareFilter: { compare: true },
    })
    const resultOf = async (view: string) => {
      const { id } = await makeInsight({ query: { kind: 'InsightVizNode', source: funnel(view) } })
      const { body } = await share(`insights/${id}`)
      return (await open(`${body.access_token}.json`)).body.insight as object
    }
    const dates = { resolved_compare_date_range: { date_from: expect.any(String) as string } }
    const nobody = { average_conversion_time: null, median_conversion_time: null, bins: [] }
    expect(await resultOf('time_to_convert')).toMatchObject({ result: nobody, compare_results: nobody, ...dates })
    expect(await resultOf('steps')).toMatchObject({ total_median_conversion_time: null, ...dates })
  })

  test('may be framed when it is embedded', async () => {
    const { id } = await makeInsight()
    const { body } = await share(`insights/${id}`)
    const page = await open(body.access_token, 'embedded')
    expect(page.headers.get('content-security-policy')).toMatch(/frame-ancestors \*$/)
    expect(page.headers.get('x-frame-options')).toBeNull()
    expect((await open(body.access_token)).headers.get('x-frame-options')).toBe('DENY')
  })

  test('is found by its short id too', async () => {
    const { id, short_id } = await makeInsight()
    const { body } = await share(`insights/${short_id}`)
    expect((await share(`insights/${id}`)).body.access_token).toBe(body.access_token)
  })

  test('is gone from the next request on when it is withdrawn, refreshed, or its insight is deleted', async () => {
    const { home } = held
    const { id } = await makeInsight()
    const { access_token: first } = (await share(`insights/${id}`)).body
    const kinds = async (token: string) => Promise.all([open(token), open(`${token}.json`), open(token, 'embedded')])
    expect((await kinds(first)).map(({ status }) => status)).toEqual([200, 200, 200])
    const { body } = await home.call('POST', urlOf(`insights/${id}/sharing/refresh/`), { as: home.owner })
    expect(body.access_token).not.toBe(first)
    expect((await kinds(first)).map(({ status }) => status)).toEqual([404, 404, 404])
    expect((await open(body.access_token)).status).toBe(200)
    await share(`insights/${id}`, { enabled: false })
    expect(await open(body.access_token)).toMatchObject(refused(404, 'not_found'))
    await share(`insights/${id}`)
    await home.call('PATCH', urlOf(`insights/${id}/`), { as: home.owner, body: { deleted: true } })
    expect((await kinds(body.access_token)).map(({ status }) => status)).toEqual([404, 404, 404])
    expect((await home.call('GET', urlOf(`insights/${id}/sharing/`), { as: home.owner })).status).toBe(404)
  })

  test('opens nothing else', async () => {
    const { home } = held
    const { id } = await makeInsight()
    const other = await makeInsight({ name: 'Other' })
    const { access_token } = (await share(`insights/${id}`)).body
    for (const path of [`insights/${id}/`, `insights/${other.id}/`, 'insights/', 'query/', 'dashboards/', `insights/${id}/sharing/`]) {
      expect((await home.call('GET', urlOf(path), { as: access_token })).status, path).toBe(401)
      expect((await home.call('GET', `${urlOf(path)}?sharing_access_token=${access_token}`)).status, path).toBe(401)
    }
    expect((await open(`${access_token}/../${other.short_id}`)).status).toBe(404)
  })

  test.each(['', 'x', '%00', '../etc', 'a'.repeat(32), 'a'.repeat(5000), '.json', '__proto__', 'null'])(
    'the token %j is not found',
    async (token) => {
      expect((await open(token)).status).toBe(404)
    },
  )
})

describe('the link of a dashboard', () => {
  test('shows its tiles and its texts', async () => {
    const { home } = held
    const [a, b] = [
      await makeInsight({ name: 'First' }),
      await makeInsight({ name: 'Second', query: { kind: 'HogQLQuery', query: 'select event, count() from events group by event' } }),
    ]
    const { id } = await makeDashboard([a.id, b.id])
    await home.call('PATCH', urlOf(`dashboards/${id}/`), { as: home.owner, body: { tiles: [{ text: { body: 'A <b>text</b>' } }] } })
    const { access_token } = (await share(`dashboards/${id}`)).body
    const { body } = await open(`${access_token}.json`)
    expect(body).toMatchObject({ type: 'dashboard', dashboard: { name: 'Board', description: 'For all' } })
    const tiles = body.dashboard.tiles as { insight?: { name: string; result: unknown }; text?: { body: string } }[]
    expect(tiles.map((tile) => tile.insight?.name ?? tile.text?.body).sort()).toEqual(['A <b>text</b>', 'First', 'Second'])
    expect(tiles.find((tile) => tile.insight?.name === 'Second')!.insight!.result).toEqual([['signup', 7]])
    const page = (await open(access_token)).body as string
    // The rows of a statement are a table; the trend is a picture in several widths.
    expect([page.match(/<details>/g), page.match(/<table>/g)].map((all) => all?.length)).toEqual([1, 2])
    expect(page.match(/<svg/g)!.length).toBeGreaterThan(1)
    expect(page).toContain('A &lt;b&gt;text&lt;/b&gt;')
  })

  test('an insight that cannot be answered says so, and the others are shown', async () => {
    const [a, b] = [
      await makeInsight({ name: 'Good' }),
      await makeInsight({ name: 'Bad', query: { kind: 'HogQLQuery', query: 'select throwIf(1) from events' } }),
    ]
    const { id } = await makeDashboard([a.id, ...(b?.id ? [b.id] : [])])
    const { access_token } = (await share(`dashboards/${id}`)).body
    const page = await open(access_token)
    expect(page.status).toBe(200)
    expect(page.body).toContain('Good')
  })
})

describe('who may share', () => {
  test('members, with a key that has the scope', async () => {
    const { home } = held
    const { id } = await makeInsight()
    const path = urlOf(`insights/${id}/sharing/`)
    const reads = await home.key(home.owner, ['sharing_configuration:read'])
    const writes = await home.key(home.owner, ['sharing_configuration:write'])
    expect((await home.call('PATCH', path, { as: reads, body: { enabled: true } })).status).toBe(403)
    expect((await home.call('PATCH', path, { as: writes, body: { enabled: true } })).status).toBe(200)
    expect((await home.call('PATCH', path, { as: home.outsider, body: { enabled: true } })).status).toBe(403)
    const other = await home.world.makeProject(home.organization.id, { name: 'Other' })
    expect((await home.call('GET', `/api/projects/${other.id}/insights/${id}/sharing/`, { as: home.owner })).status).toBe(404)
  })

  test.each([{ enabled: 'perhaps' }, { enabled: null }, { settings: [] }, { settings: 'x' }, []])('%j is refused', async (body) => {
    const { id } = await makeInsight()
    expect((await share(`insights/${id}`, body)).status).toBe(400)
  })

  test('it is in the activity of the insight', async () => {
    const { home } = held
    const { id } = await makeInsight()
    await share(`insights/${id}`)
    await share(`insights/${id}`)
    await share(`insights/${id}`, { enabled: false })
    const { body } = await home.call('GET', urlOf(`insights/${id}/activity/`), { as: home.owner })
    const names = (body.results as { activity: string }[]).map(({ activity }) => activity)
    expect(names.slice(0, 3)).toEqual(['sharing disabled', 'sharing enabled', 'created'])
  })
})

test('readers of one address are limited, and others are not', async () => {
  const { home } = held
  const { id } = await makeInsight()
  const { access_token } = (await share(`insights/${id}`)).body
  home.world.limits = { ...home.world.limits, shared: [{ count: 3, seconds: 60 }] }
  try {
    const statuses: number[] = []
    for (let i = 0; i < 5; i++) statuses.push((await open(i % 2 === 0 ? access_token : `${access_token}.json`)).status)
    expect(statuses.slice(-2)).toEqual([429, 429])
    expect((await home.call('GET', urlOf('insights/'), { as: home.owner })).status).toBe(200)
  } finally {
    home.world.limits = { ...home.world.limits, shared: [] }
  }
})

test('many readers at once ask the engine once', async () => {
  const { home } = held
  const { id } = await makeInsight({ query: { kind: 'HogQLQuery', query: 'select count() from events' } })
  const { access_token } = (await share(`insights/${id}`)).body
  home.world.limits = { ...home.world.limits, shared: [] }
  const asked = home.world.waymark.asking.ask
  let count = 0
  const counted = (...given: Parameters<typeof asked>) => {
    count++
    return asked(...given)
  }
  Object.assign(home.world.waymark.asking, { ask: counted })
  const answers = await Promise.all(Array.from({ length: 20 }, () => open(`${access_token}.json`)))
  Object.assign(home.world.waymark.asking, { ask: asked })
  expect(answers.every(({ status }) => status === 200)).toBe(true)
  expect(count).toBe(1)
})

test('a removed project takes its links along', async () => {
  const { home } = held
  const project = await home.world.makeProject(home.organization.id, { name: 'Short' })
  const path = `/api/projects/${project.id}/insights/`
  const { body } = await home.call('POST', path, { as: home.owner, body: { name: 'x', query: trend('signup') } })
  const shared = await home.call('PATCH', `${path}${body.id}/sharing/`, { as: home.owner, body: { enabled: true } })
  expect((await open(shared.body.access_token)).status).toBe(200)
  await home.call('DELETE', `/api/projects/${project.id}/`, { as: home.owner })
  expect((await open(shared.body.access_token)).status).toBe(404)
})
