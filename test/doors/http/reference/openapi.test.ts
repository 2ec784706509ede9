import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import { openApi } from '../../../../src/doors/http/reference/openapi.ts'
import { routes } from '../../../../src/doors/http/routes.ts'
import { open } from '../../../../src/engine.ts'
import { answeredKinds } from '../../../../src/queries/asked-query.ts'
import { queryKinds } from '../../../../src/queries/registry.ts'

test('the description is OpenAPI 3.1 and has every route', async () => {
  const description = openApi()
  const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(description)))
  expect(errors ?? []).toEqual([])
  expect(valid).toBe(true)
  const operations = Object.values(description.paths).flatMap((one) => Object.values(one)) as {
    operationId: string
    requestBody?: unknown
  }[]
  const rows = routes.flatMap((place) => [...place.rows.values()])
  expect(operations.map((one) => one.operationId).sort()).toEqual(rows.map((row) => row.name).sort())
  for (const row of rows)
    expect(Boolean(operations.find((one) => one.operationId === row.name)?.requestBody), row.name).toBe(row.body !== null)
})

test('fields of requests say what they take', () => {
  const create = openApi().paths['/api/organizations/']!.post as { requestBody: { content: Record<string, { schema: object }> } }
  expect(create.requestBody.content['application/json']!.schema).toEqual({
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 64 },
      is_member_join_email_enabled: { type: 'boolean' },
      enforce_2fa: { type: ['boolean', 'null'] },
      timezone: { type: 'string', maxLength: 2000, description: 'Time zone of its first project, an IANA name. Default: UTC' },
    },
    required: ['name'],
    additionalProperties: false,
  })
})

test('every kind of query has a schema with its fields, and an example that is answered', async () => {
  const { schemas } = openApi().components as unknown as { schemas: Record<string, Readonly<Record<string, unknown>>> }
  const names = (schemas.Query!.oneOf as { $ref: string }[]).map(({ $ref }) => $ref.replace('#/components/schemas/', ''))
  expect([...names].sort()).toEqual([...answeredKinds])
  const waymark = await open({ dataDir: ':memory:' })
  const project = await waymark.createProject({ name: 'examples' })
  await project.createAction({ name: 'Bought', steps: [{ event: 'buy' }] })
  for (const name of Object.keys(queryKinds)) {
    const { properties, examples } = schemas[name] as { properties: Record<string, unknown>; examples: object[] }
    expect(properties.kind).toEqual({ const: name })
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(Object.keys(examples[0]!)))
    await expect(project.answer(examples[0]!), name).resolves.toBeTypeOf('object')
  }
  await waymark.close()
})

test('every reference leads to a schema', () => {
  const description = JSON.stringify(openApi())
  const { schemas } = openApi().components
  for (const [, name] of description.matchAll(/"#\/components\/schemas\/(\w+)"/g)) expect(Object.keys(schemas)).toContain(name)
  expect(description).not.toContain('#/$defs')
})
