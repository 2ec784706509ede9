import { describe, expect, test } from 'vitest'
import { checkRequest } from '../../../src/engine/execution/request.ts'
import { arranged } from '../../../src/service/pictures/grid.ts'
import { arrangedTiles, castOf, templates } from '../../../src/web/dashboards/templates/templates.ts'

const named = (...names: readonly string[]) => names.map((name) => ({ name }))
const templateOf = (name: string) => templates.find((one) => one.name === name)!
const rolesOf = (name: string, events: readonly string[], numbers: readonly string[] = []) =>
  Object.fromEntries(
    Object.entries(castOf(templateOf(name), named(...events), named(...numbers))).map(([role, player]) => [role, player?.event]),
  )

test.each<[template: string, events: readonly string[], roles: object]>([
  [
    'saas',
    ['$pageview', 'project created', 'signed_up', 'invoice paid'],
    { visit: '$pageview', signUp: 'signed_up', use: 'project created', pay: 'invoice paid' },
  ],
  ['saas', ['$screen', 'User Registered'], { visit: '$screen', signUp: 'User Registered', use: undefined, pay: undefined }],
  ['saas', [], { visit: undefined, signUp: undefined, use: undefined, pay: undefined }],
  [
    'shop',
    ['$pageview', 'Product Viewed', 'Product Added', 'Checkout Started', 'Order Completed'],
    { visit: '$pageview', look: 'Product Viewed', cart: 'Product Added', checkout: 'Checkout Started', pay: 'Order Completed' },
  ],
  [
    'shop',
    ['$pageview', 'view_item', 'add_to_cart', 'begin_checkout', 'purchase'],
    { visit: '$pageview', look: 'view_item', cart: 'add_to_cart', checkout: 'begin_checkout', pay: 'purchase' },
  ],
  ['app', ['Application Opened', '$screen', 'photo shared'], { open: 'Application Opened', signUp: undefined, use: 'photo shared' }],
  [
    'content',
    ['$pageview', 'article read', 'Newsletter subscribed'],
    { visit: '$pageview', read: 'article read', subscribe: 'Newsletter subscribed' },
  ],
])('%s: the parts of %j', (template, events, roles) => {
  expect(rolesOf(template, events)).toEqual(roles)
})

test('an event that fits one role well is not taken by another one', () => {
  const roles = rolesOf('shop', ['$pageview', 'product added', 'checkout started', 'purchase'])
  expect(roles).toEqual({ visit: '$pageview', look: undefined, cart: 'product added', checkout: 'checkout started', pay: 'purchase' })
  expect(rolesOf('saas', ['report created', 'account created'])).toMatchObject({ signUp: 'account created', use: 'report created' })
})

test('the property with the revenue is one with numbers', () => {
  const cast = castOf(templateOf('shop'), named('purchase'), named('quantity', 'price', 'revenue'))
  expect(cast.pay).toEqual({ event: 'purchase', number: 'revenue' })
  expect(castOf(templateOf('shop'), named('purchase'), []).pay).toEqual({ event: 'purchase' })
})

describe.each(templates.map((one) => [one.name, one] as const))('%s', (_, template) => {
  // Each set of the roles that a project may have.
  const casts = Array.from({ length: 2 ** template.roles.length }, (_, bits) =>
    Object.fromEntries(
      template.roles.flatMap(({ name }, i) => (bits & (1 << i) ? [[name, { event: `event of ${name}`, number: 'amount' }]] : [])),
    ),
  )

  test('every question can be asked, whichever events there are', () => {
    for (const cast of casts)
      for (const has of [() => true, () => false])
        for (const { query } of template.tiles(cast, has)) expect(() => checkRequest(query)).not.toThrow()
    expect(template.tiles({}, () => true)).toEqual([])
    expect(template.tiles(casts.at(-1)!, () => true).length).toBeGreaterThan(8)
  })

  test('names are distinct, and no tile covers another or lies outside', () => {
    for (const cast of casts) {
      const tiles = arrangedTiles(template.tiles(cast, () => true))
      expect(new Set(tiles.map(({ name }) => name)).size).toBe(tiles.length)
      const placed = tiles.map(({ place }, id) => ({ id, place, size: place }))
      // A grid in which nothing overlaps is left as it is, but for holes.
      for (const { id, x, w, h } of arranged(placed))
        expect({ x, w, h }).toEqual({ x: tiles[id]!.place.x, w: tiles[id]!.place.w, h: tiles[id]!.place.h })
    }
  })
})
