import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import { openApi } from '../../src/http/openapi.ts'
import { routes } from '../../src/http/routes.ts'

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
    },
    required: ['name'],
    additionalProperties: false,
  })
})
