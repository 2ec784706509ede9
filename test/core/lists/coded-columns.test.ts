import { expect, test } from 'vitest'
import { manyRecords } from '../../../src/engine/execution/coded-columns.ts'
import { open } from '../../../src/engine.ts'

// Columns of texts of many events are read with each text once. The lists then answer as statements do, and later events, which are read one by one, join them.

const events = manyRecords + 700
const odd = ['', "o'clock", 'größer', '文字', ' ', 'null', '"quoted"', 'a\nb', 'x'.repeat(300)]

const eventOf = (i: number) => ({
  event: i % 3 === 0 ? 'visit' : 'buy',
  distinct_id: `user-${i % 997}`,
  timestamp: new Date(Date.UTC(2026, 2, 1 + (i % 9), i % 24)).toISOString(),
  properties: {
    ...(i % 11 !== 0 && { kind: i % 5 === 0 ? odd[Math.floor(i / 15) % odd.length] : `kind ${i % 7}` }),
    page: `/item/${(i * 7919) % 31_000}`,
    amount: i % 13,
  },
})

const trend = (more: object, ofSeries: object = {}) => ({
  kind: 'TrendsQuery',
  series: [{ kind: 'EventsNode', event: 'visit', ...ofSeries }],
  dateRange: { date_from: '2026-03-01', date_to: '2026-03-09' },
  ...more,
})
const by = (breakdown: string) => ({ breakdownFilter: { breakdown, breakdown_type: 'event', breakdown_limit: 60 } })

test('columns of texts of many events are those of the store', async () => {
  const waymark = await open({ dataDir: ':memory:', clock: () => new Date('2026-03-10T12:00:00Z'), threads: 2 })
  try {
    const project = await waymark.createProject()
    const send = async (from: number, to: number) => {
      for (let at = from; at < to; at += 5_000)
        await project.ingest({ batch: Array.from({ length: Math.min(5_000, to - at) }, (_, i) => eventOf(at + i)) } as never)
    }
    const answers = async (query: object, road: 'core' | 'sql') => {
      const { results } = await project.query({ ...query, modifiers: { road } } as never, { refresh: 'force_blocking' })
      return results
    }
    const asked = [trend(by('kind')), trend(by('page')), trend(by('kind'), { math: 'sum', math_property: 'amount' })]
    await send(0, events)
    for (const query of asked) expect(await answers(query, 'core')).toEqual(await answers(query, 'sql'))
    const values = (await answers(asked[0]!, 'core')) as unknown as readonly { readonly breakdown_value: string }[]
    expect(values.map(({ breakdown_value: value }) => value)).toEqual(expect.arrayContaining(["o'clock", '文字', 'x'.repeat(300)]))
    await send(events, events + 300)
    for (const query of asked) expect(await answers(query, 'core')).toEqual(await answers(query, 'sql'))
  } finally {
    await waymark.close()
  }
}, 60_000)
