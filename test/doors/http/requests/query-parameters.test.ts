import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { checkParameters, effectless, parametersOf } from '../../../../src/doors/http/requests/query-parameters.ts'
import { refused, withHome } from '../conversation.ts'
import { placedRows } from '../creating.ts'

// Parameters that a route does not have are refused with their name, on every route; and what a route declares is read.

const held = withHome()
const strict = placedRows.filter(({ row }) => row.ignoresParameters === null)
const thrown = (work: () => void): unknown => {
  try {
    work()
    return null
  } catch (error) {
    return error
  }
}

test.each(strict.map((one) => ({ title: one.row.name, ...one })))('$title refuses what it does not have', ({ row }) => {
  const check = (text: string) => thrown(() => checkParameters(row, new URLSearchParams(text)))
  expect(check('no_such_thing=1')).toMatchObject({ code: 'invalid-value', attr: 'no_such_thing' })
  expect(check('constructor=1')).toMatchObject({ attr: 'constructor' })
  expect(check('__proto__=1')).toMatchObject({ attr: '__proto__' })
  for (const [name, parameter] of Object.entries(parametersOf(row))) {
    expect(check(`${name}=1`), name).toBeNull()
    expect(check(`${name}=1&${name}=1`), `${name} twice the same`).toBeNull()
    if (typeof parameter === 'string') expect(check(`${name}=1&${name}=2`), name).toMatchObject({ attr: name })
    else expect(check(`${name}=1&${name}=2`), name).toBeNull()
    if (name.length > 4) {
      const misspelled = name.slice(0, -2) + name.at(-1)
      if (!Object.hasOwn(parametersOf(row), misspelled) && !Object.hasOwn(effectless, misspelled))
        expect(check(`${misspelled}=1`), misspelled).toMatchObject({ attr: misspelled, message: expect.stringContaining('Did you mean') })
    }
  }
})

test('what is taken without effect is declared nowhere else, and has a reason', () => {
  for (const [name, { reason }] of Object.entries(effectless)) {
    expect(reason.length, name).toBeGreaterThan(20)
    // `limit` has an effect where there are pages, and `token` is the secret of a link.
    for (const { row } of strict)
      if (name !== 'limit' && row.name !== 'password_links.look') expect(Object.keys(row.queryParameters)).not.toContain(name)
  }
})

test('routes that take anything say why: pages that people open, and features that do not exist', () => {
  const free = placedRows.filter(({ row }) => row.ignoresParameters !== null).map(({ row }) => row.name)
  expect(
    free.filter(
      (name) =>
        !/^(oidc\.finish|oauth\.authorize|consents\.retrieve|shared\.|early_access|experiments|feature_flags|notebooks|session_recordings|surveys)/.test(
          name,
        ),
    ),
  ).toEqual([])
})

describe('over HTTP', () => {
  const get = (path: string) => held.home.call('GET', path, { as: held.home.owner })
  test('each list', async () => {
    const { organization, project } = held.home
    const lists = strict.filter(
      ({ path, row }) => row.method === 'GET' && !path.replace(':organization_id', '').replace(':project_id', '').includes(':'),
    )
    expect(lists.length).toBeGreaterThan(40)
    for (const { path, row } of lists) {
      if (row.reach === 'open') continue
      const filled = path.replace(':organization_id', organization.id).replace(':project_id', String(project.id))
      expect(await get(`${filled}/?emial=x`), row.name).toMatchObject(refused(400, 'invalid_input', undefined, 'emial'))
    }
  })

  test('the name and the likely one', async () => {
    expect(await get('/api/projects/@current/persons/?emial=x')).toMatchObject(
      refused(400, 'invalid_input', 'There is no parameter "emial" here. Did you mean email?', 'emial'),
    )
    expect(await get('/api/projects/@current/annotations/?search=a&search=b')).toMatchObject(
      refused(400, 'invalid_input', undefined, 'search'),
    )
    expect((await get('/api/projects/@current/persons/?_=1700000000&format=json&token=phc_x')).status).toBe(200)
    expect(await get('/api/projects/@current/persons/?format=csv')).toMatchObject(refused(400, 'invalid_input', undefined, 'format'))
  })

  test('a refused change is not made', async () => {
    const { call, owner } = held.home
    const body = { content: 'not written' }
    expect((await call('POST', '/api/projects/@current/annotations/?dry_run=true', { as: owner, body })).status).toBe(400)
    expect((await get('/api/projects/@current/annotations/')).body.count).toBe(0)
  })
})

describe('what a list declares is read', () => {
  /** How often each name was read. The check of all names reads each once. */
  const reads = new Map<string, number>()
  const count = (name: string) => reads.set(name, (reads.get(name) ?? 0) + 1)
  const { get: one, getAll: every } = URLSearchParams.prototype
  const watch = () => {
    reads.clear()
    vi.spyOn(URLSearchParams.prototype, 'get').mockImplementation(function (this: URLSearchParams, name: string) {
      count(name)
      return one.call(this, name)
    })
    vi.spyOn(URLSearchParams.prototype, 'getAll').mockImplementation(function (this: URLSearchParams, name: string) {
      count(name)
      return every.call(this, name)
    })
  }
  beforeAll(async () => {
    const { world, project } = held.home
    const data = await world.projectData(project.id)
    await data.ingest({ batch: [{ event: 'a', distinct_id: 'ann', timestamp: '2026-01-05T10:00:00Z', properties: { plan: 1 } }] })
    await data.importPersons([{ distinct_ids: ['ann'], properties: { plan: 'pro' } }])
    await data.importGroups([{ group_type: 'company', group_key: 'acme', properties: { size: 40 } }])
  })
  afterEach(() => vi.restoreAllMocks())
  const isList = (path: string) => !/:(?!organization_id|project_id)/.test(path)
  const lists = strict.filter(
    ({ path, row }) =>
      row.method === 'GET' &&
      row.reach !== 'open' &&
      isList(path) &&
      Object.keys(parametersOf(row)).length > 0 &&
      !/activity|query\./.test(row.name),
  )
  /** Needed beside others. */
  const beside: Readonly<Record<string, string>> = {
    'groups.find': 'group_type_index=0&group_key=acme',
    'groups.related': 'group_type_index=0&id=acme',
    'groups.property_values': 'group_type_index=0&key=size',
    'groups.list': 'group_type_index=0',
    'persons.values': 'key=plan',
    'events.values': 'key=plan',
    'persons.cohorts': 'person_id=ann',
    'property_definitions.list': 'event_names=["a"]',
  }
  const sample: Readonly<Record<string, string>> = {
    date_from: '-7d',
    date_to: '-1d',
    after: '-7d',
    before: '-1d',
    start: '-7d',
    end: '-1d',
    ordering: 'data_interval_start',
    order: '',
    orderBy: 'timestamp',
    limit: '5',
    offset: '0',
    page: '1',
    properties: '[]',
    filters_override: '{}',
    variables_override: '{}',
    destination: 'S3',
    cursor: 'x',
  }
  test.each(lists.map((one) => ({ title: one.row.name, ...one })))('$title', async ({ path, row }) => {
    const { organization, project } = held.home
    const filled = path.replace(':organization_id', organization.id).replace(':project_id', String(project.id))
    for (const name of Object.keys(parametersOf(row))) {
      if (name === 'start' || name === 'end') continue
      const value = name === 'ordering' && !row.name.includes('batch_exports') ? 'name' : (sample[name] ?? '0')
      // Of both names of the property, the newer one decides.
      const isKey = name === 'properties' && row.name.endsWith('values')
      const others = (beside[row.name] ?? '')
        .split('&')
        .filter((one) => one !== '' && !one.startsWith(`${name}=`) && !(isKey && one.startsWith('key=')))
      const asked = [...others, `${name}=${encodeURIComponent(value)}`].join('&')
      watch()
      await held.home.call('GET', `${filled}/?${asked}`, { as: held.home.owner })
      vi.restoreAllMocks()
      expect(reads.get(name) ?? 0, `${row.name} declares ${name} and does not read it (${asked})`).toBeGreaterThan(1)
    }
  })
})
