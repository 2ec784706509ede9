// What the drawn statements are asked of: few ids, equal timestamps, days on which clocks change, null beside '' and 'null', persons merged
// after the fact.

export const zones = ['UTC', 'America/New_York', 'Asia/Kathmandu'] as const

export interface DrawnEvent {
  readonly event: string
  readonly distinct_id: string
  readonly timestamp: string
  readonly uuid?: string
  readonly properties: Readonly<Record<string, unknown>>
}

const plans = ['pro', 'free', '', null, 'null', 'é', undefined]
const times = [
  '2024-03-10T06:30:00Z',
  '2024-03-10T07:00:00Z',
  '2024-03-10T07:00:00.000001Z',
  '2024-03-30T18:14:59Z',
  '2024-03-31T00:30:00Z',
  '2024-02-29T23:59:59.999Z',
  '2024-04-01T12:00:00Z',
]
const session = (n: number) => `018e27d3-2c14-7000-8000-${String(n).padStart(12, '0')}`

export const events: readonly DrawnEvent[] = Array.from({ length: 120 }, (_, i) => {
  const plan = plans[i % plans.length]
  return {
    event: ['view', 'buy', '$pageview', '$autocapture'][i % 4]!,
    distinct_id: `u${i % 9}`,
    timestamp: times[(i * 5) % times.length]!,
    uuid: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
    properties: {
      i,
      ...(plan === undefined ? {} : { plan }),
      price: [1, 2.5, null, 0, -3, 10][i % 6],
      n: ['1', 'x', 2, '', null, '3.5', true][i % 7],
      'odd key': i % 3 ? `o'${i % 4}"` : null,
      nested: { a: i % 4 ? `n${i % 3}` : { b: [1, 'x'] } },
      list: i % 2 ? [`l${i % 3}`, 2] : [],
      ...(i % 5 ? { $session_id: session(i % 6) } : {}),
      ...(i % 3 ? { $groups: { company: `c${i % 2}` } } : {}),
      ...(i % 4 === 2
        ? {
            $current_url: `https://example.com/p${i % 5}?q=1`,
            utm_source: ['google', 'newsletter', ''][i % 3],
            ...(i % 8 === 2 ? { gclid: 'g' } : {}),
          }
        : {}),
      ...(i % 9 === 8 ? { $process_person_profile: false } : {}),
    },
  }
})

/** Says that u6 and u7 are one. */
export const identify: DrawnEvent = {
  event: '$identify',
  distinct_id: 'u6',
  properties: { $anon_distinct_id: 'u7', i: 120 },
  timestamp: '2024-04-02T00:00:00Z',
}

/** Persons that were imported, before any event. */
export const persons = Array.from({ length: 6 }, (_, i) => ({
  distinct_ids: [`u${i}`],
  properties: { email: i % 2 ? `p${i}@example.com` : null, plan: ['pro', 'free', ''][i % 3]! },
}))

export const groups = [
  { group_type: 'company', group_key: 'c0', properties: { name: 'Zero' } },
  { group_type: 'company', group_key: 'c1', properties: {} },
]

/** How many of the imported persons are in the cohort. */
export const cohortSize = 3

export const numericProperties = ['price', 'i']
