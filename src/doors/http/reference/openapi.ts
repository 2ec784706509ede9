import * as z from 'zod'
import { resources } from '../registry.ts'
import { type QueryParameter, wordsOf } from '../requests/query-parameter.ts'
import { parametersOf } from '../requests/query-parameters.ts'
import type { Row } from '../resource.ts'
import { routes } from '../routes.ts'
import { querySchemas } from './query-schemas.ts'

// The answer to `GET /openapi.json`, derived from the rows.

type Schema = Readonly<Record<string, unknown>>

const schemaOf = (schema: z.ZodType): Schema => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any', target: 'draft-2020-12' })
  return rest
}

const errorBody: Schema = {
  type: 'object',
  required: ['type', 'code', 'detail', 'attr'],
  properties: {
    type: { type: 'string' },
    code: { type: 'string' },
    detail: { type: 'string' },
    attr: { type: ['string', 'null'] },
    extra: { type: 'object', description: 'Details of an error in a statement: position, suggestions, expected, others.' },
  },
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'A retry with the same key within a day gets the stored response, without secrets',
  schema: { type: 'string', maxLength: 255 },
}

const parameterSchema = (name: string, parameter: QueryParameter): Schema => {
  if (typeof parameter !== 'string') return { type: 'array', items: { type: 'string' } }
  return { type: name === 'limit' || name === 'offset' || name === 'page' ? 'integer' : 'string' }
}

const parameters = (row: Row, path: string) => [
  ...[...path.matchAll(/:(\w+)/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
  ...Object.entries(parametersOf(row)).map(([name, parameter]) => ({
    name,
    in: 'query',
    description: wordsOf(parameter),
    schema: parameterSchema(name, parameter),
  })),
  ...(row.isCreating ? [idempotencyKey] : []),
]

const security = (row: Row) => {
  if (row.reach === 'open') return []
  if (row.scope === 'none') return [{ session: [] }]
  return [{ personalApiKey: row.scope === 'any' ? [] : [row.scope] }, { session: [] }]
}

const requestBody = (row: Row) => {
  if (!row.body) return {}
  const schema = schemaOf(row.body)
  const csv = { 'multipart/form-data': { schema }, 'text/csv': { schema: { type: 'string' } } }
  return {
    requestBody: {
      required: true,
      content: {
        'application/json': { schema },
        ...(row.takesCsv ? csv : {}),
        ...(row.takesFiles ? { 'multipart/form-data': { schema } } : {}),
      },
    },
  }
}

const operation = (row: Row, path: string, tag: string) => ({
  operationId: row.name,
  tags: [tag],
  summary: row.summary,
  parameters: parameters(row, path),
  ...requestBody(row),
  security: security(row),
  responses: {
    [row.status]: {
      description: row.summary,
      ...(row.answer ? { content: { 'application/json': { schema: schemaOf(row.answer) } } } : {}),
    },
    default: { description: 'A failure', content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } },
  },
})

export const openApi = () => {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    const path = `${route.path.replace(/:(\w+)/g, '{$1}')}/`
    const operations: Record<string, unknown> = {}
    for (const row of route.rows.values()) operations[row.method.toLowerCase()] = operation(row, route.path, route.resource.name)
    paths[path] = operations
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Waymark',
      version: '1',
      description: 'Product analytics that you npm install.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: resources.map((one) => ({ name: one.name, description: one.summary })),
    paths,
    components: {
      schemas: { Error: errorBody, ...querySchemas() },
      securitySchemes: {
        personalApiKey: { type: 'http', scheme: 'bearer', description: 'A personal API key, `phx_…`' },
        session: { type: 'apiKey', in: 'cookie', name: 'waymark_session' },
      },
    },
  }
}
