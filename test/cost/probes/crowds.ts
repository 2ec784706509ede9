import type { HttpInput, Probe } from '../probe.ts'
import { encodings } from './encodings.ts'
import { fill, shapes } from './shapes.ts'
import { endless, statementInput } from './statements.ts'

// Many at once, each within its limits. The size is their number.

const megabyte = 1024 * 1024
const post = (
  path: string,
  body: string | Uint8Array,
  as: HttpInput['as'] = 'nobody',
  headers: Readonly<Record<string, string>> = {},
): HttpInput => ({
  to: 'server',
  method: 'POST',
  path,
  headers: { 'content-type': 'application/json', ...headers },
  body,
  bytes: body.length,
  as,
})

const crowds: Readonly<Record<string, () => HttpInput>> = {
  'slow senders of large bodies': () => ({ ...post('/batch/', fill(' ', 19 * megabyte)), isHeldBack: true }),
  'slow senders of large queries': () => ({ ...post('/api/projects/1/query/', fill(' ', 9 * megabyte), 'key'), isHeldBack: true }),
  'slow senders without a key': () => ({ ...post('/api/login/', fill(' ', 9 * megabyte)), isHeldBack: true }),
  'large bodies': () => post('/batch/', shapes['a long property']!(19 * megabyte)),
  'large batches': () => post('/batch/', shapes['small events']!(megabyte)),
  'packed bodies': () => ({ ...post('/batch/', ''), ...encodings.gzip.encode(shapes['a wide list in a property']!(19 * megabyte)) }),
  'packed empty objects': () => ({ ...post('/batch/', ''), ...encodings.gzip.encode(shapes['empty objects']!(19 * megabyte)) }),
  'bodies nobody may send': () => post('/api/projects/1/cohorts/', `{"name":"a","csv":"${fill('a,', 9 * megabyte)}"}`),
  logins: () => post('/api/login/', JSON.stringify({ email: 'owner@waymark.local', password: 'wrong password' })),
}

const queries: Readonly<Record<string, () => HttpInput>> = {
  'queries that never end': () => statementInput(endless),
  'queries in the background that never end': () => ({
    ...post(
      '/api/projects/1/query/',
      JSON.stringify({
        query: { kind: 'SqlLikeQuery', query: endless },
        refresh: 'force_async',
      }),
      'key',
    ),
    isEndless: true,
  }),
  'small queries': () => statementInput('select 1'),
  'queries that hold much': () => statementInput('select groupArray(number) from numbers(3000000)'),
  'queries that sort much': () => statementInput('select number from numbers(3000000) order by MD5(toString(number)) limit 10000'),
  'answers that are large': () => statementInput("select repeat('a', 90000) from numbers(1000) limit 1000"),
}

export function* crowdProbes(): Generator<Probe> {
  for (const [door, inputs] of [
    ['crowd', crowds],
    ['queries', queries],
  ] as const)
    for (const [name, make] of Object.entries(inputs))
      yield {
        name: `crowd: ${name}`,
        door,
        grows: 'data',
        from: 4,
        most: 64,
        make: (size) => ({ ...make(), connections: size }),
      }
}
