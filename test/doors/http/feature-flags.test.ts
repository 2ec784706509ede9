import { beforeAll, describe, expect, test } from 'vitest'
import { refused, withHome } from './conversation.ts'

// Feature flags over HTTP: records, and what clients are told.

const held = withHome()
const urlOf = (path = '') => `/api/projects/${held.home.project.id}/feature_flags/${path}`
const create = async (body: object) => {
  const answer = await held.home.call('POST', urlOf(), { as: held.home.owner, body })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body as { id: number; key: string; version: number }
}
const person = (key: string, value: unknown, operator = 'exact') => ({ type: 'person', key, value, operator })

interface Asked {
  readonly [field: string]: unknown
}
const flagsFor = async (distinct_id: string, more: Asked = {}, version = '2') => {
  const { home } = held
  const { body } = await home.call('POST', `/flags/?v=${version}`, { body: { token: home.project.api_token, distinct_id, ...more } })
  return body
}
const valuesFor = async (id: string, more: Asked = {}) => {
  const { flags } = (await flagsFor(id, more)) as { flags: Record<string, { enabled: boolean; variant: string | null }> }
  return Object.fromEntries(Object.entries(flags).map(([key, { enabled, variant }]) => [key, variant ?? enabled]))
}

beforeAll(async () => {
  const { home } = held
  const project = await home.world.projectData(home.project.id)
  await project.importPersons([
    { distinct_ids: ['ada', 'ada-phone'], properties: { plan: 'pro', email: 'ada@acme.com' } },
    { distinct_ids: ['bob'], properties: { plan: 'free' } },
  ])
  await project.ingest({ batch: [{ event: 'seen', distinct_id: 'ada' }] })
  await project.importGroups([{ group_type: 'company', group_key: 'acme', properties: { size: 40 } }])
  const cohort = await project.createCohort({
    name: 'Pros',
    filters: { properties: { type: 'OR', values: [person('plan', ['pro'])] } },
  } as never)
  await create({ key: 'everybody', filters: { groups: [{ rollout_percentage: 100 }], payloads: { true: '{"color":"red"}' } } })
  await create({ key: 'nobody' })
  await create({ key: 'pros', filters: { groups: [{ properties: [person('plan', ['pro'])] }] } })
  await create({ key: 'in-cohort', filters: { groups: [{ properties: [{ type: 'cohort', key: 'id', value: cohort.id }] }] } })
  await create({
    key: 'large',
    filters: {
      aggregation_group_type_index: 0,
      groups: [{ properties: [{ type: 'group', key: 'size', value: 10, operator: 'gt', group_type_index: 0 }] }],
    },
  })
  await create({
    key: 'colors',
    filters: {
      groups: [{ properties: [] }],
      multivariate: { variants: [{ key: 'red', rollout_percentage: 100 }] },
      payloads: { red: 'true' },
    },
  })
  await create({ key: 'off', active: false, filters: { groups: [{ rollout_percentage: 100 }] } })
})

describe('values', () => {
  test('are computed from what is stored', async () => {
    const off = { nobody: false, large: false }
    expect(await valuesFor('ada')).toEqual({ everybody: true, pros: true, 'in-cohort': true, colors: 'red', ...off })
    expect(await valuesFor('ada-phone')).toEqual(await valuesFor('ada'))
    expect(await valuesFor('bob')).toEqual({ everybody: true, pros: false, 'in-cohort': false, colors: 'red', ...off })
    expect(await valuesFor('a stranger')).toEqual({ everybody: true, pros: false, 'in-cohort': false, colors: 'red', ...off })
  })

  test('are computed from what the client says, which counts more', async () => {
    expect(await valuesFor('bob', { person_properties: { plan: 'pro' } })).toMatchObject({ pros: true, 'in-cohort': false })
    expect(await valuesFor('bob', { groups: { company: 'acme' } })).toMatchObject({ large: true })
    expect(await valuesFor('bob', { groups: { company: 'acme' }, group_properties: { company: { size: 1 } } })).toMatchObject({
      large: false,
    })
    expect(await valuesFor('bob', { groups: { planet: 'mars' } })).toMatchObject({ large: false })
    expect(await valuesFor('ada', { flag_keys_to_evaluate: ['pros'] })).toEqual({ pros: true })
    expect(await valuesFor('ada', { disable_flags: true })).toEqual({})
  })

  test('are none for an id that nobody has, however long it is, and long texts are looked at to their first part', async () => {
    expect(await flagsFor('x'.repeat(1_500_000))).toMatchObject({ flags: {}, errorsWhileComputingFlags: true })
    const long = { plan: 'p'.repeat(500_000), more: Array.from({ length: 100_000 }, (_, i) => i) }
    expect(await valuesFor('bob', { person_properties: long })).toMatchObject({ pros: false, everybody: true })
  })

  test('come in the form of each version', async () => {
    const newest = await flagsFor('ada')
    expect(newest).toMatchObject({ errorsWhileComputingFlags: false, requestId: expect.any(String), evaluatedAt: expect.any(Number) })
    expect(newest.flags.everybody).toEqual({
      key: 'everybody',
      enabled: true,
      variant: null,
      reason: { code: 'condition_match', condition_index: 0, description: 'Matched condition set 1' },
      metadata: { id: expect.any(Number), version: 1, description: null, payload: '{"color":"red"}' },
    })
    expect(newest.flags.nobody.reason).toEqual({ code: 'out_of_rollout_bound', condition_index: 0, description: 'Out of rollout bound' })
    expect(newest.flags.large.reason.code).toBe('no_group_type')
    const { home } = held
    const decide = async (version: string) =>
      (await home.call('POST', `/decide/?v=${version}`, { body: { token: home.project.api_token, distinct_id: 'bob' } })).body
    expect((await decide('1')).featureFlags.toSorted()).toEqual(['colors', 'everybody'])
    expect((await decide('2')).featureFlags).toEqual({ everybody: true, colors: 'red' })
    expect(await decide('3')).toMatchObject({
      featureFlags: { everybody: true, colors: 'red', pros: false, nobody: false },
      featureFlagPayloads: { everybody: '{"color":"red"}', colors: 'true' },
      errorsWhileComputingFlags: false,
    })
    expect((await decide('4')).flags.colors).toMatchObject({ enabled: true, variant: 'red' })
  })

  test('are none for an unknown project, and the configuration says whether there are flags', async () => {
    const { home } = held
    expect((await home.call('POST', '/flags/?v=2', { body: { token: 'phc_nobody', distinct_id: 'ada' } })).status).toBe(401)
    const config = await home.call('GET', `/array/${home.project.api_token}/config`)
    expect(config.body.hasFeatureFlags).toBe(true)
  })
})

describe('definitions', () => {
  test('are for members of the project alone', async () => {
    const { home } = held
    const { call, owner, outsider, project } = home
    const key = await home.key(owner, ['feature_flag:read'])
    const stranger = await home.key(outsider, ['feature_flag:read'])
    for (const path of [
      `/flags/definitions?token=${project.api_token}&send_cohorts`,
      `/api/feature_flag/local_evaluation/?token=${project.api_token}&send_cohorts`,
      urlOf('local_evaluation/?send_cohorts'),
    ]) {
      const { status, body, headers } = await call('GET', path, { as: key })
      expect(status, path).toBe(200)
      expect(body.flags.map((one: { key: string }) => one.key)).toEqual(['everybody', 'nobody', 'pros', 'in-cohort', 'large', 'colors'])
      expect(body.group_type_mapping).toEqual({ '0': 'company' })
      expect(Object.values(body.cohorts)).toMatchObject([{ type: 'OR', values: [{ key: 'plan' }] }])
      expect((await call('GET', path, { as: key, headers: { 'if-none-match': headers.get('etag')! } })).status).toBe(304)
      expect((await call('GET', path, { as: stranger })).status, path).toBe(403)
      expect((await call('GET', path)).status).toBe(401)
      expect((await call('GET', path, { as: project.api_token })).status).toBe(401)
    }
    expect((await call('GET', '/flags/definitions?token=phc_nobody', { as: key })).status).toBeGreaterThanOrEqual(400)
  })

  test('have the payload of one flag', async () => {
    const { call, owner } = held.home
    expect((await call('GET', urlOf('everybody/remote_config/'), { as: owner })).body).toBe('{"color":"red"}')
    expect((await call('GET', urlOf('nobody/remote_config/'), { as: owner })).body).toBeNull()
    expect((await call('GET', urlOf('unknown/remote_config/'), { as: owner })).body).toBeNull()
  })

  test('say why somebody gets a value', async () => {
    const { call, owner } = held.home
    const { body } = await call('GET', urlOf('evaluation_reasons/?distinct_id=ada&groups={"company":"acme"}'), { as: owner })
    expect(body).toMatchObject({
      pros: { value: true, evaluation: { reason: 'condition_match', condition_index: 0 } },
      large: { value: true },
    })
    expect(await call('GET', urlOf('evaluation_reasons/'), { as: owner })).toMatchObject(refused(400, 'required', undefined, 'distinct_id'))
    expect(await call('GET', urlOf('evaluation_reasons/?distinct_id=a&groups={'), { as: owner })).toMatchObject(
      refused(400, 'invalid_input', undefined, 'groups'),
    )
  })
})

describe('records', () => {
  test('are changed, hidden and shown again; each change is a version', async () => {
    const { call, owner, member } = held.home
    const flag = await create({ key: 'to-change', name: 'For a while' })
    const changed = await call('PATCH', urlOf(`${flag.id}/`), { as: member, body: { filters: { groups: [{ rollout_percentage: 100 }] } } })
    expect(changed.body).toMatchObject({ version: 2, name: 'For a while', rollout_percentage: 100, is_simple_flag: true })
    expect(await valuesFor('bob')).toMatchObject({ 'to-change': true })
    expect((await call('PATCH', urlOf(`${flag.id}/`), { as: owner, body: { deleted: true } })).body.deleted).toBe(true)
    expect(await valuesFor('bob')).not.toHaveProperty('to-change')
    expect((await call('GET', urlOf(`${flag.id}/`), { as: owner })).status).toBe(404)
    const second = await create({ key: 'to-change' })
    expect(await call('PATCH', urlOf(`${flag.id}/`), { as: owner, body: { deleted: false } })).toMatchObject(
      refused(400, 'unique', undefined, 'key'),
    )
    await call('PATCH', urlOf(`${second.id}/`), { as: owner, body: { deleted: true } })
    const { body } = await call('GET', urlOf(`${flag.id}/activity/`), { as: owner })
    expect(body.results.map((one: { activity: string }) => one.activity)).toEqual(['deleted', 'updated', 'created'])
  })

  const variants = (...shares: number[]) => ({ variants: shares.map((rollout_percentage, i) => ({ key: `v${i}`, rollout_percentage })) })
  test.each([
    ['without a key', {}, 'key'],
    ['with a key that clients could not send', { key: 'a b' }, 'key'],
    ['with a key that is there', { key: 'pros' }, 'key'],
    ['for more than everybody', { key: 'x', filters: { groups: [{ rollout_percentage: 101 }] } }, 'filters__groups__0__rollout_percentage'],
    ['with variants that make 90', { key: 'x', filters: { groups: [], multivariate: variants(50, 40) } }, 'filters'],
    [
      'with one variant twice',
      {
        key: 'x',
        filters: {
          multivariate: {
            variants: [
              { key: 'a', rollout_percentage: 50 },
              { key: 'a', rollout_percentage: 50 },
            ],
          },
        },
      },
      'filters',
    ],
    [
      'with a condition for a variant that is not there',
      { key: 'x', filters: { groups: [{ variant: 'c' }], multivariate: variants(100) } },
      'filters',
    ],
    ['with a payload for a variant that is not there', { key: 'x', filters: { payloads: { c: '1' } } }, 'filters'],
    [
      'with an operator that is none',
      { key: 'x', filters: { groups: [{ properties: [person('a', 'b', 'equals')] }] } },
      'filters__groups__0__properties__0__operator',
    ],
    [
      'with a value that is missing',
      { key: 'x', filters: { groups: [{ properties: [{ type: 'person', key: 'a', operator: 'exact' }] }] } },
      'filters',
    ],
    ['with a pattern that is none', { key: 'x', filters: { groups: [{ properties: [person('a', '(', 'regex')] }] } }, 'filters'],
    [
      'that depends on another flag',
      { key: 'x', filters: { groups: [{ properties: [{ type: 'flag', key: '1', value: true }] }] } },
      'filters__groups__0__properties__0__type',
    ],
    ['that keeps its value', { key: 'x', ensure_experience_continuity: true }, 'ensure_experience_continuity'],
  ])('are not made %s', async (_, body, attr) => {
    const { call, owner } = held.home
    expect(await call('POST', urlOf(), { as: owner, body })).toMatchObject({ status: 400, body: { attr } })
  })
})

describe("OpenFeature's protocol", () => {
  const ask = async (path: string, body: unknown, headers: Record<string, string> = { 'x-api-key': held.home.project.api_token }) => {
    const { url } = held.home.world
    const response = await fetch(`${url}/ofrep/v1/evaluate/flags${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? null : JSON.parse(text), etag: response.headers.get('etag') }
  }

  test('answers one flag', async () => {
    const context = { targetingKey: 'ada' }
    expect((await ask('/pros', { context })).body).toEqual({
      key: 'pros',
      value: true,
      reason: 'TARGETING_MATCH',
      metadata: { version: 1 },
    })
    expect((await ask('/colors', { context })).body).toMatchObject({
      value: 'red',
      variant: 'red',
      reason: 'SPLIT',
      metadata: { payload: 'true' },
    })
    expect((await ask('/pros', { context: { targetingKey: 'x', plan: 'pro' } })).body.value).toBe(true)
    expect((await ask('/large', { context: { targetingKey: 'x', groups: { company: 'acme' } } })).body.value).toBe(true)
    expect((await ask('/nobody', { context })).body).toMatchObject({ value: false, reason: 'DEFAULT' })
  })

  test('answers all of them, and 304 while they are the same', async () => {
    const all = await ask('', { context: { targetingKey: 'ada' } }, { authorization: `Bearer ${held.home.project.api_token}` })
    expect(all.body.flags.map((one: { key: string }) => one.key)).toEqual(['everybody', 'nobody', 'pros', 'in-cohort', 'large', 'colors'])
    const again = await ask(
      '',
      { context: { targetingKey: 'ada' } },
      { 'x-api-key': held.home.project.api_token, 'if-none-match': all.etag! },
    )
    expect(again.status).toBe(304)
  })

  test('refuses in its own form', async () => {
    expect(await ask('/pros', {})).toMatchObject({ status: 400, body: { key: 'pros', errorCode: 'TARGETING_KEY_MISSING' } })
    expect(await ask('/unknown', { context: { targetingKey: 'a' } })).toMatchObject({ status: 404, body: { errorCode: 'FLAG_NOT_FOUND' } })
    expect((await ask('/pros', { context: { targetingKey: 'a' } }, { 'x-api-key': 'phc_nobody' })).status).toBe(401)
    expect((await ask('/pros', { context: { targetingKey: 'a' } }, {})).status).toBe(401)
  })
})
