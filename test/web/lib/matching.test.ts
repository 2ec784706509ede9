import { describe, expect, test } from 'vitest'
import { type Choice, exactly, found, mostOfGroup } from '../../../src/web/lib/matching.ts'

const choice = (name: string, label = name, group = 'Events', about = ''): Choice<string> => ({ of: name, name, label, group, about })
const events = [
  choice('', 'All events', ''),
  choice('signed up'),
  choice('purchase'),
  choice('purchase_refunded'),
  choice('Überweisung'),
  choice('checkout', 'checkout', 'Events', 'The basket was paid for'),
  choice('日本語'),
  choice('$pageview', 'Pageview', 'Events sent by client libraries'),
  choice('$pageleave', 'Page left', 'Events sent by client libraries'),
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
    expect(found(events, '').map(({ title }) => title)).toEqual(['', 'Events', 'Events sent by client libraries', 'Actions'])
  })

  test('what is only alike stays away where something is what was typed', () => {
    expect(names('view')).not.toContain('$pageleave')
    expect(
      found([choice('plan'), choice('plane'), choice('plen')], 'plan').flatMap((group) => group.choices.map(({ name }) => name)),
    ).toEqual(['plan', 'plane'])
  })

  test('the group with the best find comes first', () => {
    expect(found(events, 'view').map(({ title }) => title)).toEqual(['Actions', 'Events sent by client libraries'])
  })

  test('a long group says how many more it has', () => {
    const many = Array.from({ length: mostOfGroup + 7 }, (_, i) => choice(`event ${i}`))
    const [group] = found(many, 'event')
    expect([group!.choices.length, group!.more]).toEqual([mostOfGroup, 7])
    expect(found(many, `event ${mostOfGroup + 6}`)[0]!.choices[0]!.name).toBe(`event ${mostOfGroup + 6}`)
  })

  test('what was pasted costs no time', () => {
    const many = Array.from({ length: 500 }, (_, i) => choice(`${'long '.repeat(40)}${i} ${'x'.repeat(200)}`))
    expect(found(many, `${'lonx'.repeat(50)} ${'y'.repeat(10_000)}`)).toEqual([])
  })

  test('a choice by its exact name, or its label', () => {
    expect(exactly(events, '$pageview')?.name).toBe('$pageview')
    expect(exactly(events, 'page LEFT ')?.name).toBe('$pageleave')
    expect(exactly(events, 'page')).toBeUndefined()
  })
})
