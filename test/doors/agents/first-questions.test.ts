import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withHome } from '../http/conversation.ts'

// The twenty questions of docs/first-questions.md as an analyst asked them who had seen the list of tools and nothing else, and the rows that answer them.

const held = withHome()
const client = new Client({ name: 'test', version: '1' })
beforeAll(async () => {
  const { world, project, member, call, key } = held.home
  const event = (event: string, distinct_id: string, timestamp: string, properties: object) => ({
    event,
    distinct_id,
    timestamp,
    properties,
  })
  const batch = [
    event('signup', 'ana', '2026-01-05T10:00:00Z', { plan: 'pro' }),
    event('purchase', 'ana', '2026-01-06T11:00:00Z', { plan: 'pro', price: 20 }),
    event('signup', 'ben', '2026-01-07T09:00:00Z', { plan: 'free' }),
  ]
  await call('POST', '/batch/', { body: { api_key: project.api_token, batch } })
  const headers = { authorization: `Bearer ${await key(member, ['*'])}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${world.url}/mcp`), { requestInit: { headers } }))
})
afterAll(() => client.close())

const answered = async (name: string, args: Record<string, unknown>) => {
  const { content } = await client.callTool({ name, arguments: args })
  const { text } = (content as readonly { readonly text: string }[])[0]!
  const [, data = ''] = /<data-\w+ [^>]*>\n([\s\S]*?)\n<\/data-/.exec(text) ?? []
  return { text, rows: data.split('\n').map((line) => line.split('\t')) }
}

const range = { date_from: '2026-01-01', date_to: '2026-01-07' }
const purchases = { event: 'purchase' }
const price = (math: string) => ({ series: [{ ...purchases, math, property: 'price' }], display: 'number', ...range })
const people = (event: string | null) => ({ series: [{ event, math: 'dau' }], ...range })
const number = { display: 'number' }
const days = (...numbers: number[]) => numbers.map((value, i) => [`2026-01-0${i + 1}`, String(value)])
const columns = (name: string) => ['date', name]

const questions: readonly (readonly [number, string, Record<string, unknown>, readonly (readonly string[])[]])[] = [
  [1, 'query_trends', price('sum'), [['sum of price, purchase', '20']]],
  [2, 'query_trends', { ...price('sum'), display: 'line' }, [columns('sum of price, purchase'), ...days(0, 0, 0, 0, 0, 20, 0)]],
  [3, 'query_trends', { series: [purchases], ...number, ...range }, [['purchase', '1']]],
  [4, 'query_trends', price('avg'), [['avg of price, purchase', '20']]],
  [5, 'query_trends', price('max'), [['max of price, purchase', '20']]],
  [6, 'query_trends', { ...people('purchase'), ...number }, [['people, purchase', '1']]],
  [7, 'query_trends', { ...price('sum'), breakdown: { property: 'plan' } }, [['pro', '20']]],
  [
    8,
    'query_trends',
    {
      series: [
        { ...purchases, math: 'sum', property: 'price' },
        { ...purchases, math: 'dau' },
      ],
      formula: 'A / B',
      ...number,
      ...range,
    },
    [['Formula (A / B)', '20']],
  ],
  [9, 'list_events', { ...purchases, date_from: '2026-01-01', properties: ['price'] }, [['purchase', '2026-01-06T11:00:00Z', 'ana', '20']]],
  [
    10,
    'list_events',
    {
      ...purchases,
      date_from: '2026-01-01',
      properties: ['price'],
      order_by: 'price',
      filters: [{ key: 'price', operator: 'gt', value: 10 }],
    },
    [['purchase', '2026-01-06T11:00:00Z', 'ana', '20']],
  ],
  [11, 'query_trends', { ...people('signup'), ...number }, [['people, signup', '2']]],
  [12, 'query_trends', { series: [{ event: 'signup' }], ...range }, [columns('signup'), ...days(0, 0, 0, 0, 1, 0, 1)]],
  [
    13,
    'query_trends',
    { series: [{ event: 'signup' }], breakdown: { property: 'plan' }, ...number, ...range },
    [
      ['free', '1'],
      ['pro', '1'],
    ],
  ],
  [14, 'query_trends', { ...people('signup'), display: 'cumulative' }, days(0, 0, 0, 0, 1, 1, 2)],
  [15, 'query_funnel', { steps: [{ event: 'signup' }, purchases], ...range }, [['purchase', '1', '90000', '90000', '50 %', '50 %']]],
  [
    16,
    'query_funnel',
    { steps: [{ event: 'signup' }, purchases], ...range },
    [['name', 'count', 'average_seconds', 'median_seconds', 'of first step', 'of step before']],
  ],
  [17, 'query_trends', { ...people(null), ...number }, [['people, all events', '2']]],
  [18, 'query_trends', people(null), days(0, 0, 0, 0, 1, 1, 1)],
  [
    19,
    'query_trends',
    { series: [{ event: null }, { event: null, math: 'dau' }], formula: 'A / B', ...number, ...range },
    [['Formula (A / B)', '1.5']],
  ],
  [20, 'query_trends', { series: [{ event: null, math: 'first_time_for_user' }], ...range }, days(0, 0, 0, 0, 1, 0, 1)],
]

test('as many as the page has', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/first-questions.md'), 'utf8')
  expect(questions.map(([i]) => i)).toEqual([...page.matchAll(/^\*\*(\d+)\. /gm)].map(([, i]) => Number(i)))
})

test.each(questions)('question %i: %s %j', async (_, name, args, rows) => {
  const { rows: found } = await answered(name, args)
  expect(found).toEqual(expect.arrayContaining([...rows.map((row) => [...row])]))
})

test('a property that nobody sent is no silent zero, and a series has the name that it was given', async () => {
  const { text, rows } = await answered('query_trends', {
    series: [{ event: 'purchase', math: 'sum', property: 'amount', name: 'Revenue' }],
    ...range,
  })
  expect(text).toContain('Warning: no event has the property "amount". describe_data lists what there is.')
  expect(rows[0]).toEqual(['date', 'Revenue'])
  expect((await answered('query_trends', price('sum'))).text).not.toContain('Warning')
})

test('people have an id that somebody chose', async () => {
  const { rows } = await answered('list_people', {})
  expect(rows.map((row) => row[1])).toEqual(expect.arrayContaining(['distinct_id', 'ana', 'ben']))
})
