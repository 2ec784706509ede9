import fc from 'fast-check'
import { expect } from 'vitest'
import { expectedVisits, type Visit } from '../../reference/cookieless-model.ts'
import type { World } from './harness.ts'
import { uuid } from './identity-commands.ts'

// Random visitors without cookies, against the model, with restarts on the way, and the same from the log alone.

const start = Date.parse('2026-01-15T00:00:00Z')
const senders = ['203.0.113.7', '198.51.100.4'].flatMap((ip) => ['Firefox', 'Chrome'].map((userAgent) => ({ ip, userAgent })))
const customers = ['ada', 'bob']

const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.array(
      fc.record({
        what: fc.constantFrom('seen', 'seen', 'identify', 'identified'),
        customer: fc.constantFrom(...customers),
        lag: fc.constantFrom(0, 0, 0, 5, 45, 900),
        isPersonless: fc.boolean(),
        isRetry: fc.constantFrom(false, false, false, true),
      }),
      { minLength: 1, maxLength: 5 },
    ),
  },
  { weight: 5, arbitrary: fc.constantFrom(1, 29, 31, 400, 1_440) },
  { weight: 1, arbitrary: fc.constant('restart' as const) },
)

/** Numbers in order of appearance: equal for lists with equal values at the same places. */
const pattern = (values: readonly unknown[]): number[] => {
  const order = [...new Set(values)]
  return values.map((value) => order.indexOf(value))
}

const stored = (world: World) =>
  world.rows(`SELECT e.uuid::VARCHAR AS uuid, distinct_id AS id, session_id AS session, p.uuid::VARCHAR AS person
    FROM events e LEFT JOIN person_merges m ON m.merged = e.person_no JOIN persons p ON p.person_no = coalesce(m.survivor, e.person_no)
    ORDER BY log_seq`)

export async function assertVisitsHold({
  open,
  numRuns,
}: {
  readonly open: () => Promise<World>
  readonly numRuns: number
}): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.nat(senders.length - 1), step), { minLength: 3, maxLength: 14 }), async (steps) => {
      const world = await open()
      const visits: Visit[] = []
      let minute = 30
      try {
        for (const [from, one] of steps) {
          if (one === 'restart') await world.restart()
          else if (typeof one === 'number') minute += one
          else {
            world.now = new Date(start + minute * 60_000)
            const batch = one.map(({ what, customer, lag, isPersonless, isRetry }) => {
              const at = Math.max(0, minute - lag)
              const isAgain = isRetry && visits.length > 0
              if (!isAgain) visits.push({ from, what: what as Visit['what'], customer, minute: at })
              return {
                event: what === 'identify' ? '$identify' : 'visit',
                distinct_id: what === 'seen' ? '$posthog_cookieless' : customer,
                uuid: uuid(visits.length),
                timestamp: new Date(start + at * 60_000).toISOString(),
                properties: {
                  $cookieless_mode: true,
                  $host: 'shop.example',
                  ...(what === 'identify' ? { $anon_distinct_id: '$posthog_cookieless', $set: { mail: customer } } : {}),
                  ...(what === 'seen' && isPersonless ? { $process_person_profile: false } : {}),
                },
              }
            })
            await world.pipeline.ingest({ batch }, senders[from])
          }
        }
        const found = await stored(world)
        const expected = expectedVisits(visits)
        expect(found.map((row) => row.uuid)).toEqual(visits.map((_, i) => uuid(i + 1)))
        expect(pattern(found.map((row) => row.id))).toEqual(pattern(expected.events.map(({ id }) => id)))
        expect(pattern(found.map((row) => row.session))).toEqual(pattern(expected.events.map(({ session }) => session)))
        expect(pattern(found.map((row) => row.person))).toEqual(pattern(expected.events.map(({ id }) => expected.personOf(id))))
        await world.rebuild()
        expect(await stored(world)).toEqual(found)
      } finally {
        await world.close()
      }
    }),
    { numRuns },
  )
}
