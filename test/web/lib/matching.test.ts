import { describe, expect, test } from 'vitest'
import { type Choice, exactly, found, isNear, mostOfGroup } from '../../../src/web/lib/matching.ts'
import { randomFrom } from '../clicks/random.ts'

const choice = (name: string, label = name, group = 'Events', about = ''): Choice<string> => ({ of: name, name, label, group, about })
const events = [
  choice('', 'All events', ''),
  choice('signed up'),
  choice('purchase'),
  choice('purchase_refunded'),
  choice('Überweisung'),
  choice('checkout', 'checkout', 'Events', 'The basket was paid for'),
  choice('日本語'),
  choice('$pageview', 'Pageview', 'Events of client libraries'),
  choice('$pageleave', 'Page left', 'Events of client libraries'),
  choice('view', 'view', 'Actions'),
]
const names = (typed: string) => found(events, typed).flatMap(({ choices }) => choices.map(({ name }) => name))

describe('what is found', () => {
  test.each([
    ['pageview', ['$pageview']],
    ['$pageview', ['$pageview']],
    ['PAGE', ['$pageview', '$pageleave']],
    ['page left', ['$pageleave']],
    ['left page', ['$pageleave']],
    ['view', ['view', '$pageview']],
    ['pur', ['purchase', 'purchase_refunded']],
    ['purchase', ['purchase', 'purchase_refunded']],
    ['refunded', ['purchase_refunded']],
    ['purchase refunded', ['purchase_refunded']],
    ['uberweisung', ['Überweisung']],
    ['basket', ['checkout']],
    ['日本', ['日本語']],
    // Slips: swapped, missing, doubled, wrong.
    ['pageveiw', ['$pageview']],
    ['purchse', ['purchase', 'purchase_refunded']],
    ['chekcout', ['checkout']],
    ['signned', ['signed up']],
    ['singed up', ['signed up']],
    // Too short to be a slip, and nothing like it.
    ['xup', []],
    ['nothing at all', []],
  ])('%s', (typed, expected) => {
    expect(names(typed)).toEqual(expected)
  })

  test('without a text everything, in its order and its groups', () => {
    expect(names('  ')).toEqual(events.map(({ name }) => name))
    expect(found(events, '').map(({ title }) => title)).toEqual(['', 'Events', 'Events of client libraries', 'Actions'])
  })

  test('what is only alike stays away where something is what was typed', () => {
    expect(names('view')).not.toContain('$pageleave')
    expect(
      found([choice('plan'), choice('plane'), choice('plen')], 'plan').flatMap((group) => group.choices.map(({ name }) => name)),
    ).toEqual(['plan', 'plane'])
  })

  test('the group with the best find comes first', () => {
    expect(found(events, 'view').map(({ title }) => title)).toEqual(['Actions', 'Events of client libraries'])
  })

  test('a long group says how many more it has', () => {
    const many = Array.from({ length: mostOfGroup + 7 }, (_, i) => choice(`event ${i}`))
    const [group] = found(many, 'event')
    expect([group!.choices.length, group!.more]).toEqual([mostOfGroup, 7])
    expect(found(many, `event ${mostOfGroup + 6}`)[0]!.choices[0]!.name).toBe(`event ${mostOfGroup + 6}`)
  })

  test('a choice by its exact name, or its label', () => {
    expect(exactly(events, '$pageview')?.name).toBe('$pageview')
    expect(exactly(events, 'page LEFT ')?.name).toBe('$pageleave')
    expect(exactly(events, 'page')).toBeUndefined()
  })
})

/** The distance with swaps of neighbours, the slow way. */
function distance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : j === 0 ? i : 0)),
  )
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      rows[i]![j] = Math.min(rows[i - 1]![j]! + 1, rows[i]![j - 1]! + 1, rows[i - 1]![j - 1]! + same)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) rows[i]![j] = Math.min(rows[i]![j]!, rows[i - 2]![j - 2]! + 1)
    }
  return rows[a.length]![b.length]!
}

test('the nearness of drawn words is that of the whole table', () => {
  const random = randomFrom(7)
  const word = () => Array.from({ length: random.below(7) }, () => random.pick(['a', 'b', 'c'])).join('')
  for (let i = 0; i < 2_000; i++) {
    const [a, b, most] = [word(), word(), random.below(3)]
    expect(isNear(a, b, most), `${a} ${b} ${most}`).toBe(distance(a, b) <= most)
  }
})
