import { describe, expect, test } from 'vitest'
import type { z } from 'zod'
import type { WaymarkError } from '../../../src/errors/errors.ts'
import { check } from '../../../src/service/accounts/fields.ts'
import { foreignWords, left, misspelled, oddValues, placesOf, sample } from '../../harness/schema-places.ts'
import { withHome } from './conversation.ts'
import { type PlacedRow, placedRows } from './creating.ts'

// Every field of every body: left out, of another type, of an unknown value, misspelled. What is said of it names the field, in words of our own.

const held = withHome()
const withBody = placedRows.filter(({ row }) => row.body !== null && !row.name.startsWith('query.'))
const titled = withBody.map((placed): [string, PlacedRow] => [placed.row.name, placed])
const shapeOf = ({ row }: PlacedRow): readonly string[] => {
  const schema = row.body as z.ZodObject & { readonly element?: z.ZodObject }
  return Object.keys((schema.element ?? schema).shape)
}

const urlOf = ({ row, path }: PlacedRow): string =>
  `${path.replace(/:(\w+)/g, (_, name: string) => {
    if (name === 'uuid') return '@me'
    return name.endsWith('_id') || row.reach.endsWith('record') ? '@current' : '1'
  })}/`

test.each(titled)('a misspelled field is ignored, and named in a header with the likely name: %s', async (_, placed) => {
  const { home } = held
  const { row } = placed
  const [name] = shapeOf(placed)
  const wrong = misspelled(name!)
  const as = row.reach === 'open' ? null : row.level === 'owner' ? home.owner : home.admin
  const body = { [wrong]: 'x', csrfmiddlewaretoken: 'x' }
  const sent = row.body!._zod.def.type === 'array' ? [body, body] : body
  const { status, body: answer, headers } = await home.call(row.method, urlOf(placed), { as, body: sent })
  expect(headers.get('x-ignored-fields'), JSON.stringify([status, answer])).toBe(`${wrong} (${name}?)`)
  expect(answer?.attr ?? null).not.toBe(wrong)
})

describe('ignored fields', () => {
  const change = async (body: unknown) => {
    const { call, owner } = held.home
    const answer = await call('PATCH', '/api/projects/@current/', { as: owner, body })
    expect(answer.status).toBe(200)
    return answer.headers.get('x-ignored-fields')
  }

  test('are named whether the request succeeds or not', async () => {
    const { call, owner } = held.home
    expect(await change({ name: 'Shop', nme: 'x', timezon: 'UTC', tile: 1 })).toBe('nme (name?), timezon (timezone?), tile')
    expect(await change({ name: 'Shop' })).toBe(null)
    const missing = await call('POST', '/api/projects/@current/actions/', { as: owner, body: { nme: 'Paid' } })
    expect([missing.status, missing.body.attr, missing.headers.get('x-ignored-fields')]).toEqual([400, 'name', 'nme (name?)'])
    expect(missing.headers.get('access-control-expose-headers')).toContain('X-Ignored-Fields')
  })

  test('are named again when an Idempotency-Key is repeated', async () => {
    const { call, owner } = held.home
    const once = { as: owner, body: { name: 'Once', tile: 1 }, headers: { 'idempotency-key': 'ignored' } }
    for (const _ of [1, 2])
      expect((await call('POST', '/api/projects/@current/actions/', once)).headers.get('x-ignored-fields')).toBe('tile')
  })

  test.each([
    ['a line end, a comma, a bracket', 'a\r\nset-cookie: b, (c?)', 'a%0D%0Aset-cookie%3A%20b%2C%20%28c%3F%29'],
    ['letters beyond Latin', 'größe 价', 'gr%C3%B6%C3%9Fe%20%E4%BB%B7'],
    ['half a character', 'a\ud83d', 'a%EF%BF%BD'],
    ['a long name', 'q'.repeat(500), `${'q'.repeat(80)}...`],
    ['a long name of long characters', '价'.repeat(500), `${'%E4%BB%B7'.repeat(8)}%E4%BB...`],
    ['the empty name', '', '""'],
    ['a name of every object', 'constructor', 'constructor'],
  ])('%s is safe in a header', async (_, name, shown) => {
    expect(await change({ [name]: 1 })).toBe(shown)
  })

  test('are counted when there are many', async () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`zz${i}`, i]))
    expect(await change(many)).toBe(`${Array.from({ length: 10 }, (_, i) => `zz${i}`).join(', ')} and 9990 more`)
  })
})

test.each(titled)('each field is checked in words of ours: %s', (_, { row }) => {
  const failure = (body: unknown): WaymarkError | null => {
    try {
      check(row.body!, body)
      return null
    } catch (error) {
      return error as WaymarkError
    }
  }
  const other = failure(sample(row.body!))?.detail
  for (const { path, isRequired, values, body } of placesOf(row.body!)) {
    if (row.body!._zod.def.type === 'array') return
    for (const value of [...oddValues, ...(isRequired && path.length === 1 ? [left] : [])]) {
      const found = failure(body(value))
      if (!found || found.detail === other) continue
      const shown = `${path.join('.')} = ${String(value)}: ${found.detail}`
      expect(found.detail, shown).not.toMatch(foreignWords)
      if (path.length > 0) expect(found.attr?.split('__')[0], shown).toBe(String(path[0]))
    }
    if (values.length > 1 && other === undefined)
      expect(failure(body('zzz'))?.detail, path.join('.')).toContain(`Choose one of ${values.join(', ')}`)
  }
})

describe('a record that was read can be written back', () => {
  test.each([
    ['PATCH', '/api/organizations/@current/'],
    ['PATCH', '/api/projects/@current/'],
    ['PATCH', '/api/users/@me/'],
  ])('%s %s', async (method, path) => {
    const { call, owner } = held.home
    const { body } = await call('GET', path, { as: owner })
    expect((await call(method, path, { as: owner, body })).body).toMatchObject({ id: body.id })
  })

  test.each([
    ['actions', { name: 'Paid', steps: [{ event: 'purchase' }] }],
    ['cohorts', { name: 'Pros', is_static: true }],
  ])('%s', async (name, fields) => {
    const { call, owner } = held.home
    const list = `/api/projects/@current/${name}/`
    const made = await call('POST', list, { as: owner, body: fields })
    expect(made.status).toBe(201)
    expect(await call('PATCH', `${list}${made.body.id}/`, { as: owner, body: made.body })).toMatchObject({ status: 200 })
  })

  test.each([
    ['roles', { name: 'Engineers' }],
    ['domains', { domain: 'round.example.com' }],
  ])('%s', async (name, fields) => {
    const { call, owner } = held.home
    const list = `/api/organizations/@current/${name}/`
    const made = await call('POST', list, { as: owner, body: fields })
    expect(made.status).toBe(201)
    const { jit_provisioning_enabled: _, sso_enforcement: __, ...body } = made.body
    expect(await call('PATCH', `${list}${made.body.id}/`, { as: owner, body })).toMatchObject({ status: 200 })
  })
})

test('a field of a step is named where it stands', async () => {
  const { call, owner } = held.home
  const body = { name: 'Paid', steps: [{ event: 'a' }, { evnt: 'purchase' }] }
  expect(await call('POST', '/api/projects/@current/actions/', { as: owner, body })).toMatchObject({
    status: 400,
    body: { attr: 'steps__1__evnt', detail: 'Unknown field "evnt". Did you mean "event"?' },
  })
  const data = await held.home.world.projectData(held.home.project.id)
  await expect(data.createAction(body as never)).rejects.toMatchObject({ attr: 'steps__1__evnt' })
  const filters = { properties: { type: 'AND', values: [{ type: 'behavioral', key: 'a', value: 'performed_event', time_valu: 3 }] } }
  await expect(data.createCohort({ name: 'a', filters })).rejects.toMatchObject({
    attr: 'filters__properties__values__0__time_valu',
    message: expect.stringContaining('"time_value"'),
  })
})
