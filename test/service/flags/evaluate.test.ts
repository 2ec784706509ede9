import { describe, expect, test } from 'vitest'
import { flagFilters } from '../../../src/service/flags/definition.ts'
import { type EvaluatedFlag, evaluate, neededBy, placeOf, type Subject, variantAt } from '../../../src/service/flags/evaluate.ts'
import { propertyHolds } from '../../../src/service/flags/matching.ts'

const now = new Date('2026-03-20T12:00:00Z')
const flagOf = (filters: object, key = 'new-ui'): EvaluatedFlag => ({ id: 1, key, version: 1, filters: flagFilters.parse(filters) })
const subject = (more: Partial<Subject> = {}): Subject => ({ distinctId: 'u1', person: {}, cohorts: new Set(), groups: new Map(), ...more })
const person = (key: string, value: unknown, operator?: string) => ({ type: 'person', key, value, ...(operator && { operator }) })

describe('the place of somebody', () => {
  // As the client libraries compute it: the first fifteen hexadecimal digits of SHA-1 of `flag.id`, as a share of the largest such number.
  test.each([
    ['simple-flag', 'distinct_id_0', '', 0.78369637642204315],
    ['simple-flag', 'distinct_id_1', '', 0.33970699269954008],
    ['simple-flag', 'distinct_id_2', '', 0.37204343502390519],
  ])('%s %s', (flag, id, salt, place) => {
    expect(placeOf(flag, id, salt)).toBeCloseTo(place, 12)
  })

  test('is even over people, and independent from flag to flag', () => {
    const places = Array.from({ length: 4000 }, (_, i) => [placeOf('a', `u${i}`), placeOf('b', `u${i}`)] as const)
    const below = (limit: number) => places.filter(([a]) => a < limit).length / places.length
    for (const limit of [0.1, 0.5, 0.9]) expect(Math.abs(below(limit) - limit)).toBeLessThan(0.03)
    expect(Math.abs(places.filter(([a, b]) => a < 0.5 && b < 0.5).length / places.length - 0.25)).toBeLessThan(0.03)
  })

  test('chooses the variant whose part it is in', () => {
    const variants = [
      { key: 'a', rollout_percentage: 25 },
      { key: 'b', rollout_percentage: 0 },
      { key: 'c', rollout_percentage: 75 },
    ]
    expect([0, 0.2499, 0.25, 0.99].map((place) => variantAt(variants, place))).toEqual(['a', 'a', 'c', 'c'])
  })
})

describe('a property', () => {
  const long = 'x'.repeat(3000)
  test.each<[operator: string, found: unknown, wanted: unknown, holds: boolean]>([
    ['exact', 'Pro', ['pro', 'team'], true],
    ['exact', 5, ['5'], true],
    ['exact', true, ['true'], true],
    ['exact', 'free', 'pro', false],
    ['is_not', 'free', ['pro'], true],
    ['is_not', 'PRO', ['pro'], false],
    ['icontains', 'ada@Acme.com', '@acme.', true],
    ['not_icontains', 'ada@acme.com', '@acme.', false],
    ['regex', 'ada@acme.com', '@acme\\.com$', true],
    ['regex', 'ada', '(', false],
    ['regex', long, '(x+x+)+y', false],
    ['not_regex', 'ada@other.com', '@acme', true],
    ['gt', 10, 9, true],
    ['gt', '10', '9', true],
    ['gt', 'b', 'a', true],
    ['lt', 2, '10', true],
    ['gte', 5, 5, true],
    ['lte', 6, 5, false],
    ['is_set', 0, undefined, true],
    ['is_not_set', 0, undefined, false],
    ['is_date_before', '2026-03-01', '2026-03-02', true],
    ['is_date_before', '2026-03-19T12:00:00Z', '-2d', false],
    ['is_date_before', '2026-03-01T00:00:00Z', '-7d', true],
    ['is_date_after', '2026-03-19', '-1w', true],
    ['is_date_after', 'soon', '-1w', false],
    ['is_date_exact', '2026-03-19', '2026-03-19T00:00:00Z', true],
  ])('%s: %j against %j is %s', (operator, found, wanted, holds) => {
    expect(propertyHolds({ key: 'p', operator: operator as 'exact', value: wanted as never }, { p: found }, now)).toBe(holds)
  })

  test.each([
    ['exact', false],
    ['icontains', false],
    ['gt', false],
    ['is_set', false],
    ['is_date_before', false],
    ['is_not', true],
    ['not_icontains', true],
    ['not_regex', true],
    ['is_not_set', true],
  ] as const)('that is not there: %s is %s', (operator, holds) => {
    expect(propertyHolds({ key: 'p', operator, value: 'x' }, {}, now)).toBe(holds)
    expect(propertyHolds({ key: 'toString', operator, value: 'x' }, {}, now)).toBe(holds)
  })
})

describe('a flag', () => {
  test('is on for those who meet one of its conditions, and says which', () => {
    const flag = flagOf({
      groups: [{ properties: [person('plan', 'pro')] }, { properties: [person('plan', 'team'), person('size', 5, 'gt')] }],
    })
    expect(evaluate(flag, subject({ person: { plan: 'pro' } }), now)).toMatchObject({
      isEnabled: true,
      reason: 'condition_match',
      condition: 0,
    })
    expect(evaluate(flag, subject({ person: { plan: 'team', size: 9 } }), now)).toMatchObject({ isEnabled: true, condition: 1 })
    expect(evaluate(flag, subject({ person: { plan: 'team', size: 2 } }), now)).toMatchObject({
      isEnabled: false,
      reason: 'no_condition_match',
    })
  })

  test('is on for a share of them', () => {
    const share = flagOf({ groups: [{ rollout_percentage: 30 }] })
    const on = Array.from({ length: 2000 }, (_, i) => evaluate(share, subject({ distinctId: `u${i}` }), now)).filter((one) => one.isEnabled)
    expect(Math.abs(on.length / 2000 - 0.3)).toBeLessThan(0.04)
    expect(evaluate(flagOf({ groups: [{ rollout_percentage: 0 }] }), subject(), now)).toMatchObject({ reason: 'out_of_rollout_bound' })
    expect(evaluate(flagOf({ groups: [] }), subject(), now).isEnabled).toBe(false)
  })

  test('has variants and payloads, and a condition can name its variant', () => {
    const multivariate = { variants: ['red', 'blue'].map((key) => ({ key, rollout_percentage: 50 })) }
    const flag = flagOf({
      groups: [{ properties: [person('plan', 'pro')], variant: 'blue' }, { rollout_percentage: 100 }],
      multivariate,
      payloads: { blue: '{"size":2}', red: { size: 1 } },
    })
    expect(evaluate(flag, subject({ person: { plan: 'pro' } }), now)).toMatchObject({
      variant: 'blue',
      condition: 0,
      payload: '{"size":2}',
    })
    const variants = Array.from({ length: 400 }, (_, i) => evaluate(flag, subject({ distinctId: `u${i}` }), now).variant)
    expect(new Set(variants)).toEqual(new Set(['red', 'blue']))
  })

  test('of groups is the same for all people of one', () => {
    const flag = flagOf({
      groups: [{ properties: [{ type: 'group', key: 'size', value: 10, operator: 'gt', group_type_index: 0 }], rollout_percentage: 100 }],
      aggregation_group_type_index: 0,
    })
    const acme = (size: number) => new Map([[0, { key: 'acme', properties: { size } }]])
    expect(evaluate(flag, subject({ groups: acme(20) }), now).isEnabled).toBe(true)
    expect(evaluate(flag, subject({ groups: acme(5) }), now).isEnabled).toBe(false)
    expect(evaluate(flag, subject(), now)).toMatchObject({ isEnabled: false, reason: 'no_group_type' })
    const half = flagOf({ groups: [{ rollout_percentage: 50 }], aggregation_group_type_index: 0 })
    const of = (id: string) => evaluate(half, subject({ distinctId: id, groups: acme(1) }), now).isEnabled
    expect(new Set(Array.from({ length: 50 }, (_, i) => of(`u${i}`))).size).toBe(1)
  })

  test('asks for cohorts', () => {
    const flag = flagOf({ groups: [{ properties: [{ type: 'cohort', key: 'id', value: 7 }] }] })
    const not = flagOf({ groups: [{ properties: [{ type: 'cohort', key: 'id', value: 7, operator: 'not_in' }] }] })
    expect(evaluate(flag, subject({ cohorts: new Set([7]) }), now).isEnabled).toBe(true)
    expect(evaluate(flag, subject(), now).isEnabled).toBe(false)
    expect(evaluate(not, subject(), now).isEnabled).toBe(true)
  })
})

test('the store is read for what conditions need and the client has not said', () => {
  const flags = [
    flagOf({ groups: [{ properties: [person('plan', 'pro'), { type: 'cohort', key: 'id', value: 3 }] }] }),
    flagOf({ groups: [{ properties: [{ type: 'group', key: 'size', value: 1, group_type_index: 2 }] }] }),
  ]
  expect(neededBy(flags, {}, new Map())).toEqual({ person: true, cohorts: [3], groups: [2] })
  expect(neededBy(flags, { plan: 'x' }, new Map([[2, { size: 5 }]]))).toEqual({ person: false, cohorts: [3], groups: [] })
  expect(neededBy([flagOf({ groups: [{ rollout_percentage: 5 }] })], {}, new Map())).toEqual({ person: false, cohorts: [], groups: [] })
})
