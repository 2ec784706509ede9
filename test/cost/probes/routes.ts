import { openApi } from '../../../src/doors/http/reference/openapi.ts'
import type { HttpInput, Probe } from '../probe.ts'
import type { Template } from '../template.ts'
import { exampleOf, growths, growthsOf, type Place, placesOf, type Schema, withValue } from './json-growth.ts'
import { fill } from './shapes.ts'

// Every route that takes a body, from the description that the server answers: a route that is added is driven without a change here.

interface Route {
  readonly method: string
  /** With `{id}` where the address has a part of its own. */
  readonly path: string
  readonly schema: Schema
  readonly takesCsv: boolean
}

type Operation = { readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> } }

const routes: readonly Route[] = Object.entries(openApi().paths).flatMap(([path, operations]) =>
  Object.entries(operations as Record<string, Operation>).flatMap(([method, { requestBody }]) =>
    requestBody
      ? [
          {
            method: method.toUpperCase(),
            path,
            schema: requestBody.content['application/json']!.schema,
            takesCsv: 'text/csv' in requestBody.content,
          },
        ]
      : [],
  ),
)

const nobody = '00000000-0000-4000-8000-000000000000'
/** An address where the parts of its own are what the first caller works in, and records that were made. */
const addressOf = (path: string, ids: ReadonlyMap<string, string>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string, at: number) => {
    if (name === 'project_id' || name === 'organization_id') return '@current'
    const before = path.slice(0, at).replace(/\{\w+\}/g, '@current')
    if (before === '/api/projects/' || before === '/api/organizations/' || before === '/api/users/')
      return before === '/api/users/' ? '@me' : '@current'
    return ids.get(before) ?? nobody
  })

/** What has to be right before anything else of a body is looked at, where a schema does not say it. */
const examples: Readonly<Record<string, object>> = {
  '/api/projects/{project_id}/query/': { query: { kind: 'SqlLikeQuery', query: 'select 1' } },
  '/api/projects/{project_id}/query/upgrade/': { query: { kind: 'SqlLikeQuery', query: 'select 1' } },
  '/api/projects/{project_id}/cohorts/': { name: 'a', is_static: true, distinct_ids: ['a'] },
  '/api/projects/{project_id}/actions/': { name: 'a', steps: [{ event: 'a' }] },
  '/api/users/@me/personal_api_keys/': { label: 'a', scopes: ['*'] },
  '/api/personal_api_keys/': { label: 'a', scopes: ['*'] },
  '/api/organizations/{organization_id}/domains/': { domain: 'example.com' },
  '/api/organizations/{organization_id}/proxy_records/': { domain: 'e.example.com' },
  '/api/organizations/{organization_id}/invites/': { target_email: 'a@example.com' },
  '/api/organizations/{organization_id}/invites/bulk/': [{ target_email: 'b@example.com' }],
  '/api/organizations/{organization_id}/projects/': { name: 'a' },
  '/api/login/': { email: 'a@example.com', password: 'a' },
}
const exampleFor = ({ path, schema }: Route): unknown => examples[path] ?? exampleOf(schema)

/** One of everything that a post makes, for the routes that change one. */
export const creations = (): { readonly path: string; readonly body: unknown }[] =>
  routes
    .filter(({ method, path }) => method === 'POST' && !path.endsWith('}/') && !/login|logout|query|signup/.test(path))
    .map((route) => ({ path: addressOf(route.path, new Map()), body: exampleFor(route) }))

const megabyte = 1024 * 1024
const mostBody = 10 * megabyte - 4096

export function routeProbe(route: Route, place: Place, growth: string, ids: ReadonlyMap<string, string>): Probe {
  const base = exampleFor(route)
  const like = exampleOf(place.schema, route.schema)
  const make = (size: number): HttpInput => {
    const body = JSON.stringify(withValue(base, place.path, growths[growth]!.grow(size, like)))
    return {
      to: 'server',
      method: route.method,
      path: addressOf(route.path, ids),
      headers: { 'content-type': 'application/json' },
      body,
      bytes: body.length,
      as: 'session',
    }
  }
  const where = place.path.length > 0 ? place.path.join('.') : 'the body'
  return {
    name: `route ${route.method} ${route.path} ${where}: ${growth}`,
    door: 'route',
    grows: 'input',
    from: 4096,
    most: mostBody,
    step: 16,
    make,
  }
}

type Form = (size: number) => Pick<HttpInput, 'body' | 'headers'>
const multipart = (parts: string) => ({ body: `${parts}--b--\r\n`, headers: { 'content-type': 'multipart/form-data; boundary=b' } })
const part = (name: string, value: string) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
const forms: Readonly<Record<string, Form>> = {
  'a form of many fields': (size) => ({ body: fill('name=a&', size), headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
  'a form of percent signs': (size) => ({
    body: `name=${fill('%41', size)}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  }),
  'a form of many parts': (size) => multipart(fill(part('a', ''), size)),
  'a form of one long part': (size) => multipart(part('csv', fill('abc\n', size))),
  'a form of almost boundaries': (size) => multipart(part('csv', fill('\r\n--', size))),
  'deep JSON': (size) => ({ body: fill('[', size), headers: { 'content-type': 'application/json' } }),
  'JSON of blanks': (size) => ({ body: `${fill(' ', size)}{}`, headers: { 'content-type': 'application/json' } }),
  'JSON of empty objects': (size) => ({ body: `[${fill('{},', size)}{}]`, headers: { 'content-type': 'application/json' } }),
  'JSON with the same field': (size) => ({
    body: `{${fill('"name":"a",', size)}"name":"b"}`,
    headers: { 'content-type': 'application/json' },
  }),
}
const csvs: Readonly<Record<string, Form>> = Object.fromEntries(
  Object.entries({
    'lines of ids': 'some-id\n',
    'one line of cells': 'a,',
    'open quotes': '"',
    'quotes and commas': '"a""",',
    'line ends': '\r\n',
    blanks: ' ',
    'a long cell': 'abcdefgh',
  }).map(([name, piece]): [string, Form] => [
    `CSV: ${name}`,
    (size) => ({ body: `distinct_id\n${fill(piece, size)}`, headers: { 'content-type': 'text/csv' } }),
  ]),
)

const formProbe = (route: Route, form: string, ids: ReadonlyMap<string, string>): Probe => ({
  name: `route ${route.method} ${route.path} ${form}`,
  door: 'route',
  grows: 'input',
  from: 4096,
  most: mostBody,
  step: 16,
  make(size): HttpInput {
    const { body, headers } = (forms[form] ?? csvs[form])!(size)
    const path = `${addressOf(route.path, ids)}${route.takesCsv ? '?name=a' : ''}`
    return { to: 'server', method: route.method, path, headers, body, bytes: (body as string).length, as: 'session' }
  },
})

export function* routeProbes(draw: () => number, { ids }: Pick<Template, 'ids'>): Generator<Probe> {
  const all = routes.flatMap((route) => [
    ...placesOf(route.schema).flatMap((place) => growthsOf(place).map((growth) => () => routeProbe(route, place, growth, ids))),
    ...Object.keys({ ...forms, ...(route.takesCsv ? csvs : {}) }).map((form) => () => formProbe(route, form, ids)),
  ])
  const order = all.map((make) => [draw(), make] as const).sort(([a], [b]) => a - b)
  for (const [, make] of order) yield make()
}
