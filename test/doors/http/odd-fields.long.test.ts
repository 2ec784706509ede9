import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Row } from '../../../src/doors/http/resource.ts'
import { routes } from '../../../src/doors/http/routes.ts'
import { describedDestinations } from '../../../src/service/exports/settings.ts'
import { withHome } from './conversation.ts'
import { creatingRows, newBody, pathIn } from './creating.ts'

// Every field of every route that makes or changes records, with values of every kind: whatever comes, the answer is one of ours.

const held = withHome()

const deep = JSON.parse(`${'['.repeat(40)}${']'.repeat(40)}`)
const odd: readonly unknown[] = [
  null,
  '',
  '5',
  'true',
  'a\0b',
  '\ud800',
  'x'.repeat(5000),
  '9999-12-31T23:59:59.999Z',
  0,
  1.5,
  1e300,
  [],
  [null],
  ['x'],
  [{}],
  {},
  { x: null },
  { kind: 'x', type: 'x', id: 'x', key: 'x' },
  deep,
]

const fieldsOf = (row: Row, body: unknown): string[] => {
  const schema = row.body && (z.toJSONSchema(row.body, { io: 'input', unrepresentable: 'any' }) as { properties?: object })
  return [...new Set([...Object.keys(schema?.properties ?? {}), ...Object.keys(body as object)])]
}

/** Resources that share a service share the schema. */
const distinct = creatingRows.filter(({ row }, i) => creatingRows.findIndex((other) => other.row.body === row.body) === i)

const objectOf = (body: unknown): Record<string, unknown> => (Array.isArray(body) ? body[0] : body) as Record<string, unknown>

test.each(distinct.map((placed) => [placed.row.name, placed] as const))('%s', async (_, placed) => {
  const { owner, call, world } = held.home
  world.limits = { api: [], query: [], draft: [], shared: [] }
  const path = await pathIn(placed.path, held.home)
  const changing = routes.find((one) => one.path === `${placed.path}/:id` || one.path === `${placed.path}/:uuid`)
  const change = changing?.rows.get('PATCH')
  const sample = await newBody(placed, held.home)
  const problems: string[] = []
  const send = async (method: string, to: string, body: unknown) => {
    const { status } = await call(method, to, { as: owner, body })
    if (status >= 500) problems.push(`${method} ${to} ${JSON.stringify(body).slice(0, 200)}`)
  }
  const made = (await call('POST', path, { as: owner, body: sample })).body
  for (const field of fieldsOf(placed.row, objectOf(sample)))
    for (const value of odd) {
      const body = { ...objectOf(await newBody(placed, held.home)), [field]: value }
      await send('POST', path, Array.isArray(sample) ? [body] : body)
    }
  if (change && made?.id !== undefined)
    for (const field of fieldsOf(change, {})) for (const value of odd) await send('PATCH', `${path}${made.id}/`, { [field]: value })
  expect([...problems, ...world.reports]).toEqual([])
})

test.each(describedDestinations().map((one) => [one.type, one] as const))('settings of %s', async (type, { config_schema }) => {
  const { owner, call, world, project } = held.home
  const { properties, required } = config_schema as { properties: Record<string, { enum?: unknown[] }>; required: string[] }
  const whole = Object.fromEntries(required.map((name) => [name, properties[name]?.enum?.[0] ?? 'text']))
  const problems: string[] = []
  for (const field of Object.keys(properties))
    for (const value of odd) {
      const body = { name: 'x', interval: 'day', destination: { type, config: { ...whole, [field]: value } } }
      const { status } = await call('POST', `/api/projects/${project.id}/batch_exports/`, { as: owner, body })
      if (status >= 500) problems.push(`${field} ${JSON.stringify(value)}`)
    }
  expect([...problems, ...world.reports]).toEqual([])
})
