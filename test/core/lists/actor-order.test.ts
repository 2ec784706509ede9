import fc from 'fast-check'
import { expect, test } from 'vitest'
import { KeptOrder } from '../../../src/core/lists/actor-order.ts'
import { EventLists } from '../../../src/core/lists/event-lists.ts'
import { ListColumn } from '../../../src/core/lists/list-column.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'

const companies = ['', 'a', 'b', 'c']
const batches = fc.array(fc.array(fc.tuple(fc.nat(5), fc.nat(20), fc.nat(3)), { minLength: 1, maxLength: 20 }), {
  minLength: 1,
  maxLength: 6,
})

test('each actor has its events in order of time, and of arrival at equal times, and follows what changes', async () => {
  let followed = 0
  await assertGenerated(
    fc.asyncProperty(batches, fc.boolean(), async (drawn, isMerged) => {
      const lists = new EventLists()
      const company = new ListColumn('codes', 0)
      lists.attach(company)
      const changes = lists.watch()
      const events: { readonly time: number; readonly company: string; readonly seq: number }[] = []
      let order: KeptOrder | null = null
      for (const batch of drawn) {
        const before = events.length
        for (const [, time, one] of batch) events.push({ time, company: companies[one]!, seq: events.length + 1 })
        lists.add({
          person: Int32Array.from(batch, ([person]) => person),
          time: Float64Array.from(batch, ([, time]) => time),
          event: new Int32Array(batch.length),
          seq: Float64Array.from(batch, (_, i) => before + 1 + i),
        })
        const indexes = lists.indexesAfter(before, events.length).subarray(1)
        expect([...indexes].map((index) => lists.seq[index])).toEqual(events.slice(before).map(({ seq }) => seq))
        company.write({ values: Int32Array.from(batch, ([, , one]) => one), texts: companies }, indexes)
        if (isMerged) lists.merge(batch[0]![0], 5 - batch[0]![0])
        const [changed, skipped] = [changes.take(), company.codeOf('')]
        const isFollowed: boolean = order !== null && changed !== null && completed(order.follow(lists, company, changed, skipped))
        if (isFollowed) followed++
        else order = completed(KeptOrder.of(lists, company, events.length, skipped))
        const { start, end, entry, firstTime, lastTime, actors } = order!
        const found = Array.from({ length: actors }, (_, actor) => ({
          company: company.texts[actor]!,
          seqs: Array.from(entry.subarray(start[actor], end[actor]), (index) => lists.seq[index]!),
          extent: [firstTime[actor], lastTime[actor]],
        }))
        const expected = company.texts.map((text) => {
          const own = events.filter((event) => text !== '' && event.company === text).sort((a, b) => a.time - b.time || a.seq - b.seq)
          return { company: text, seqs: own.map(({ seq }) => seq), extent: [own[0]?.time ?? Number.NaN, own.at(-1)?.time ?? Number.NaN] }
        })
        expect(found).toEqual(expected)
      }
    }),
    { numRuns: 300 },
  )
  expect(followed).toBeGreaterThan(200)
})

function completed<R>(steps: Generator<void, R, void>): R {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
