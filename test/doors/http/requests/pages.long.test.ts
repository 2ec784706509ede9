import { describe, expect, test } from 'vitest'
import { sessionOf } from '../../../harness/session-of.ts'
import { type Answer, withHome } from '../conversation.ts'
import { creatingRows, newBody, pathIn, placedRows } from '../creating.ts'

// Every route that lists something, page by page: the table is generated from the rows.

const held = withHome()
/** Waymark keeps no flags, nothing is wrong with the events, no export has run, and no plugin has logged. */
const isEmpty = (path: string) =>
  /\/(ingestion_warnings|slow_queries|batch_exports\/:id\/logs|plugin_configs?\/:id\/logs|pipeline_\w+_configs\/:id\/logs)$/.test(path)
/** Runs come from the scheduler: batch-exports.test.ts reads their logs. */
const listing = placedRows.filter(
  ({ path, row }) => (row.isPaged || (row.method === 'GET' && 'offset' in row.queryParameters)) && !path.includes(':run_id'),
)

/** Groups have a key instead of an id. */
const ids = (answer: Answer) => answer.body.results.map((one: { id?: unknown; group_key?: unknown }) => one.id ?? one.group_key)

/** The id of a cohort with people in it. */
const cohortOfThree = async (): Promise<string> => {
  const { call, owner, project } = held.home
  const distinct_ids = ['a', 'b', 'c']
  const batch = distinct_ids.map((distinct_id) => ({ event: 'signup', distinct_id, properties: {} }))
  await call('POST', '/batch/', { body: { api_key: project.api_token, batch } })
  const { body } = await call('POST', `/api/projects/${project.id}/cohorts/`, {
    as: owner,
    body: { name: 'Three', is_static: true, distinct_ids },
  })
  return String(body.id)
}

const passkeyNamed = (name: string) => ({
  id: held.home.world.accounts.context.newId(),
  user_id: held.home.owner.id,
  name,
  credential_id: name,
  public_key: '',
  counter: 0,
  transports: [],
  is_backup_eligible: false,
  is_backed_up: false,
  created_at: new Date(),
  last_used_at: null,
})

/** Pages of events lead back in time, without a count; groups are listed by their type. Both have tests of their own. */
const ofTheirOwn = /\/(events|groups)$/

describe.each(listing.filter(({ path }) => !ofTheirOwn.test(path)).map((one) => ({ title: one.path, ...one })))(
  '$title',
  ({ path: pattern, row }) => {
    test('pages', async () => {
      const { call, owner, project, world } = held.home
      if (/_definitions$/.test(pattern)) {
        const batch = ['a', 'b', 'c'].map((name) => ({ event: name, distinct_id: 'u', properties: { [`is_${name}`]: true } }))
        await call('POST', '/batch/', { body: { api_key: project.api_token, batch } })
      }
      const data = await world.projectData(project.id)
      if (pattern.endsWith('/persons')) await data.importPersons(['p1', 'p2', 'p3'].map((id) => ({ distinct_ids: [id] })))
      if (pattern.endsWith('/groups'))
        await data.importGroups(['g1', 'g2', 'g3'].map((group_key) => ({ group_type: 'company', group_key })))
      const maker = creatingRows.find((one) => one.path === pattern)
      const path = await pathIn(pattern.includes('/cohorts/:id/') ? pattern.replace(':id', await cohortOfThree()) : pattern, held.home)
      if (maker) for (let i = 0; i < 3; i++) await call('POST', path, { as: owner, body: await newBody(maker, held.home) })
      const get = (query: string) => call('GET', path + query, { as: owner })
      if (pattern.endsWith('/person_deletions'))
        await world.accounts.context.store.write(async (tables) => {
          for (const events of [1, 2, 3]) await world.accounts.deletions.retained(tables, project, { events, persons: 0 })
        })
      if (pattern.endsWith('/passkeys'))
        await world.accounts.context.store.write(async (tables) => {
          for (const name of ['one', 'two', 'three']) await tables.passkeys.insert(passkeyNamed(name))
        })
      if (pattern.endsWith('/sessions')) for (let i = 0; i < 3; i++) await sessionOf(world.accounts, owner)
      const url = (query: string) => world.url + path + query
      const whole = await get('')
      expect(whole).toMatchObject({ status: 200, body: { next: null, previous: null } })
      expect(Object.keys(whole.body).sort(), row.name).toEqual(['count', 'next', 'previous', 'results'])
      const { count } = whole.body
      expect(count).toBe(whole.body.results.length)
      if (isEmpty(pattern)) expect(count).toBe(0)
      else expect(count, 'enough to turn pages').toBeGreaterThanOrEqual(3)

      for (const bad of ['limit=0', 'limit=-1', 'limit=abc', 'limit=', 'offset=-1', 'offset=abc', 'limit=1000000'])
        expect((await get(`?${bad}`)).body, bad).toEqual(whole.body)

      const walked: unknown[] = []
      let page = await get('?limit=2&_=y')
      for (;;) {
        expect(page.body.count).toBe(count)
        walked.push(...ids(page))
        if (page.body.next === null) break
        expect(page.body.next).toBe(url(`?limit=2&_=y&offset=${walked.length}`))
        page = await get(page.body.next.slice(url('').length))
      }
      expect(walked).toEqual(ids(whole))
      expect(new Set(walked).size).toBe(count)

      const past = await get(`?offset=${count + 7}&limit=5`)
      expect(past.body).toEqual({ count, next: null, previous: url(`?offset=${count + 2}&limit=5`), results: [] })
      const second = await get('?limit=2&offset=2')
      expect(second.body.previous, 'the first page has no offset').toBe(url('?limit=2'))
      expect(second.body.results).toEqual(whole.body.results.slice(2, 4))
    })
  },
)

/** The id of a person or of a definition, or of nothing, after twelve changes. Null: the log is about something else. */
const changedTwelveTimes = async (pattern: string): Promise<string | null> => {
  const { call, owner, project, world } = held.home
  const base = `/api/projects/${project.id}`
  const times = async (method: string, path: string, body: (n: number) => object) => {
    for (let n = 0; n < 12; n++) expect((await call(method, base + path, { as: owner, body: body(n) })).status, path).toBe(200)
  }
  const data = await world.projectData(project.id)
  if (pattern.includes('/persons/')) {
    const [id] = (await data.importPersons([{ distinct_ids: ['changed'] }])).ids
    await times('PATCH', `/persons/${id}/`, (n) => ({ properties: { n } }))
    return id!
  }
  if (pattern.includes('/groups/')) {
    await data.importGroups([{ group_type: 'company', group_key: 'changed' }])
    await times('POST', '/groups/update_property/?group_type_index=0&group_key=changed', (n) => ({ key: 'n', value: n }))
    return ''
  }
  const list = /\/(\w+_definitions)\//.exec(pattern)?.[1]
  if (!list) return null
  await data.ingest([{ event: 'changed', distinct_id: 'u', properties: { changed: 1 } }])
  const { id } = (await call('GET', `${base}/${list}/`, { as: owner })).body.results[0]
  await times('PATCH', `/${list}/${id}/`, (n) => ({ description: `Version ${n}` }))
  return id
}
/** Of the record; most have a name. */
const changeOf = (path: string, i: number) =>
  path.endsWith('/annotations')
    ? { content: `Content ${i}` }
    : path.endsWith('/subscriptions')
      ? { title: `Name ${i}` }
      : { name: path.includes('/warehouse_') ? `name_${i}` : `Name ${i}` }

const logs = placedRows.filter(({ row }) => row.method === 'GET' && 'page' in row.queryParameters)
describe.each(logs.map((one) => ({ title: one.path, ...one })))('$title', ({ path: pattern }) => {
  test('pages of a log', async () => {
    const { call, owner, project, organization, world } = held.home
    const record = `/api/organizations/${organization.id}/projects/${project.id}/`
    for (let i = 0; i < 12; i++) await call('PATCH', record, { as: owner, body: { name: `Name ${i}` } })
    const isOfPlugins = pattern.includes('/:organization_id/p') && !pattern.includes('/projects')
    const made =
      pattern.includes(':project_id') || isOfPlugins
        ? creatingRows.find((one) => one.path === pattern.replace(/(\/:id)?\/activity$/, ''))
        : undefined
    let id = pattern.startsWith('/api/organizations/:id/') ? organization.id : String(project.id)
    if (made) {
      const list = await pathIn(made.path, held.home)
      const { body } = await call('POST', list, { as: owner, body: await newBody(made, held.home) })
      id = String(body.id)
      for (let i = 0; i < 11; i++) await call('PATCH', `${list}${id}/`, { as: owner, body: changeOf(made.path, i) })
    }
    const changed = await changedTwelveTimes(pattern)
    if (changed) id = changed
    const path = await pathIn(pattern.replace(':id', id), held.home)
    const get = (query: string) => call('GET', path + query, { as: owner })
    const first = await get('')
    expect(Object.keys(first.body).sort()).toEqual(['next', 'previous', 'results', 'total_count'])
    expect([first.body.results.length, first.body.previous, first.body.next]).toEqual([10, null, `${world.url}${path}?page=2`])
    const second = await get('?page=2&limit=10')
    expect(second.body.previous).toBe(`${world.url}${path}?page=1&limit=10`)
    const all = (await get('?limit=1000')).body.results
    expect(all).toHaveLength(first.body.total_count)
    expect([...first.body.results, ...second.body.results]).toEqual(all.slice(0, 20))
    const times = all.map((one: { created_at: string }) => Date.parse(one.created_at))
    expect(times).toEqual([...times].sort((a, b) => b - a))
    expect((await get('?page=99')).body).toMatchObject({ results: [], next: null })
  })
})
