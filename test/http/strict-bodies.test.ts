import { describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { check } from '../../src/accounts/fields.ts'
import type { WaymarkError } from '../../src/errors/errors.ts'
import { leftOutFields } from '../../src/http/left-out-fields.ts'
import { foreignWords, left, misspelled, oddValues, placesOf, sample } from '../harness/schema-places.ts'
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

test.each(titled)('a misspelled field is refused with the likely name, and what tools send besides is not: %s', async (_, placed) => {
  const { home } = held
  const { row } = placed
  const [name] = shapeOf(placed)
  const wrong = misspelled(name!)
  const url = urlOf(placed)
  const as = row.reach === 'open' ? null : row.level === 'owner' ? home.owner : home.admin
  const send = (body: object) => home.call(row.method, url, { as, body: row.body!._zod.def.type === 'array' ? [body] : body })
  expect(await send({ [wrong]: 'x' })).toMatchObject({
    status: 400,
    body: {
      type: 'validation_error',
      attr: wrong,
      detail: `Unknown field "${wrong}". Did you mean "${name}"?`,
      extra: { suggestions: [name] },
    },
  })
  const resource = row.name.split('.')[0]!.replace(/^(organization_projects|organization_project_list|project_list)$/, 'projects')
  const besides = Object.fromEntries((leftOutFields[resource] ?? []).map((one) => [one, 'x']))
  const answer = await send({ ...besides, [wrong]: 'x' })
  expect(answer.body.attr, 'the first field to blame').toBe(wrong)
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
