import type { As, HttpInput, Probe } from '../probe.ts'
import { captureName } from './capture.ts'
import { fill, shapes } from './shapes.ts'

// Headers and parameters of the address as long as the server takes them, alone and beside as many events as fit.

const kilobyte = 1024
const megabyte = 1024 * kilobyte
/** The server takes 32 KB of headers, the address among them. */
const mostHeader = 30 * kilobyte

const headerNames = [
  'authorization',
  'cookie',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-request-id',
  'forwarded',
  'origin',
  'referer',
  'user-agent',
  'accept',
  'accept-language',
  'content-type',
  'content-encoding',
  'idempotency-key',
  'if-none-match',
  'sec-fetch-site',
  'posthog-request-timestamp',
  'access-control-request-headers',
]
const pieces = [' ', 'a', ',', ';', '=', '"', 'a=b; ', 'a,', 'q=0.1,', 'bearer ', '[', '1.', ':', '/', '\t', '%', 'é', '- ', 'b=']
const ends = ['', '\u0001', 'x', '!']
const firsts: Readonly<Record<string, string>> = {
  authorization: 'Bearer x',
  'content-type': 'multipart/form-data; boundary=',
  accept: 'text/csv;',
  cookie: 'waymark_session=',
  'x-forwarded-for': '[',
}

const event = shapes['small events']!
const parameters = [
  'token',
  'api_key',
  '_',
  'data',
  'compression',
  'ip',
  'ver',
  'v',
  'distinct_id',
  'limit',
  'offset',
  'prompt',
  'personal_api_key',
  'callback',
]
const places = ['/e/', '/api/projects/1/actions/', '/api/projects/1/query/draft_sql', '/flags/', '/api/users/@me/', '/array/x/config']

const headerProbe = (path: string, header: string, piece: string, end: string): Probe => ({
  name: `header ${header} on ${path}: ${JSON.stringify(piece)} to ${JSON.stringify(end)}`,
  door: 'route',
  grows: 'input',
  from: 512,
  most: mostHeader,
  make(size) {
    const value = `${firsts[header] ?? ''}${fill(piece, size)}${end}`.replace(/[^\t\x20-\x7e]/g, '')
    const as: As = header === 'authorization' || header === 'cookie' || path === '/e/' ? 'nobody' : 'key'
    const isPost = path === '/e/' || path === '/flags/'
    return {
      to: 'server',
      method: isPost ? 'POST' : 'GET',
      path,
      headers: { [header]: value },
      body: isPost ? event(100) : null,
      bytes: value.length,
      as,
    }
  },
})

const parameterProbe = (path: string, name: string, piece: string): Probe => ({
  name: `parameter ${name} on ${path}: ${JSON.stringify(piece)}`,
  door: 'route',
  grows: 'input',
  from: 512,
  most: 14 * kilobyte,
  make(size) {
    const value = encodeURIComponent(fill(piece, size)).slice(0, 2 * size)
    return {
      to: 'server',
      method: 'GET',
      path: `${path}?${name}=${value.replace(/%.?$/, '')}`,
      headers: {},
      body: null,
      bytes: value.length,
      as: path === '/e/' ? 'nobody' : 'key',
    }
  },
})

/** A fact of the request that is long, and events that it is a fact of. */
export const besideEvents = (path: '/batch/' | '/i/v1/analytics/events', header: string, value: string): Probe => ({
  name: `${captureName(path, 'plain', 'small events')} beside a long ${header}`,
  door: 'capture',
  grows: 'input',
  from: 4 * kilobyte,
  most: 4 * megabyte,
  make: (size): HttpInput => ({
    to: 'server',
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json', [header]: value },
    body: event(size),
    bytes: size + value.length,
    as: path === '/batch/' ? 'nobody' : 'token',
  }),
})
const besideHeaders: Readonly<Record<string, string>> = {
  'x-forwarded-for': fill('1234567890', mostHeader - 1000),
  'posthog-request-timestamp': fill('2024-01-01T00:00:00', mostHeader - 1000),
  'user-agent': fill('agent/1.0 ', mostHeader - 1000),
  'x-request-id': fill('abc', mostHeader - 1000),
  origin: `https://${fill('a.', mostHeader - 1000)}`,
}

export function* headerProbes(draw: () => number): Generator<Probe> {
  const pick = <T>(of: readonly T[]): T => of[Math.floor(draw() * of.length)]!
  for (const [header, value] of Object.entries(besideHeaders))
    for (const path of ['/batch/', '/i/v1/analytics/events'] as const) yield besideEvents(path, header, value)
  for (const header of headerNames) for (const piece of [' ', 'a', ',']) yield headerProbe(pick(places), header, piece, pick(ends))
  for (;;) {
    yield headerProbe(pick(places), pick(headerNames), pick(pieces) + (draw() < 0.3 ? pick(pieces) : ''), pick(ends))
    yield parameterProbe(pick(places), pick(parameters), pick(pieces))
  }
}
