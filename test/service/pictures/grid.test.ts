import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { arranged, columnCount, compacted, moved, nudged, type Placed, resized } from '../../../src/service/pictures/grid.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'

const tile = (id: number, x: number, y: number, w = 6, h = 5): Placed => ({ id, x, y, w, h })
const sorted = (places: readonly Placed[]) => [...places].sort((a, b) => a.id - b.id)

describe('a tile goes where it is put', () => {
  const pair = [tile(1, 0, 0), tile(2, 0, 5)]
  const row = [tile(1, 0, 0), tile(2, 6, 0), tile(3, 0, 5, 12, 3)]
  test.each<[string, readonly Placed[], readonly Placed[]]>([
    ['down past the middle of its neighbour: they change places', moved(pair, 1, tile(1, 0, 3)), [tile(1, 0, 5), tile(2, 0, 0)]],
    ['down, not past the middle: it comes back', moved(pair, 1, tile(1, 0, 2)), pair],
    ['up past the middle', moved(pair, 2, tile(2, 0, 2)), [tile(1, 0, 5), tile(2, 0, 0)]],
    ['beside another one', moved(pair, 2, tile(2, 6, 0)), [tile(1, 0, 0), tile(2, 6, 0)]],
    ['onto another one: that makes room', moved(row, 2, tile(2, 0, 0)), [tile(1, 0, 5), tile(2, 0, 0), tile(3, 0, 10, 12, 3)]],
    ['out of the grid', moved(pair, 2, tile(2, 40, -7)), [tile(1, 0, 0), tile(2, 6, 0)]],
    ['wider: what was beside it goes down', resized(row, 1, 3, 0), [tile(1, 0, 0, 9), tile(2, 6, 5), tile(3, 0, 10, 12, 3)]],
    ['wider than the grid', resized(pair, 1, 100, 0), [tile(1, 0, 0, 12), tile(2, 0, 5)]],
    ['smaller than a tile can be', resized(pair, 1, -100, -100), [tile(1, 0, 0, 2, 2), tile(2, 0, 2)]],
    ['a tile that is not there', moved(pair, 9, tile(9, 0, 0)), pair],
    ['by key, down', nudged(pair, 1, 0, 1), [tile(1, 0, 5), tile(2, 0, 0)]],
    ['by key, at the right edge', nudged(row, 2, 1, 0), row],
    ['by key, to the right', nudged([tile(1, 0, 0)], 1, 1, 0), [tile(1, 1, 0)]],
    [
      'without places: beside each other while there is room',
      arranged([1, 2, 3].map((id) => ({ id, place: null, size: { w: 6, h: id === 2 ? 2 : 5 } }))),
      [tile(1, 0, 0), tile(2, 6, 0, 6, 2), tile(3, 0, 5)],
    ],
    [
      'without a place: below those that have one',
      arranged([
        { id: 1, place: null, size: { w: 6, h: 5 } },
        { id: 2, place: tile(2, 0, 0), size: { w: 6, h: 5 } },
      ]),
      [tile(1, 0, 5), tile(2, 0, 0)],
    ],
  ])('%s', (_, places, expected) => {
    expect(sorted(places)).toEqual(expected)
  })
})

const anyPlaces = fc
  .array(
    fc.record({
      x: fc.integer({ min: -3, max: 14 }),
      y: fc.integer({ min: -2, max: 30 }),
      w: fc.integer({ min: 0, max: 15 }),
      h: fc.integer({ min: -1, max: 9 }),
    }),
    { minLength: 1, maxLength: 9 },
  )
  .map((all) => all.map((place, id) => ({ id, ...place })))
const anyStep = fc.record({
  id: fc.nat(8),
  what: fc.constantFrom('move', 'nudge', 'resize'),
  dx: fc.integer({ min: -13, max: 13 }),
  dy: fc.integer({ min: -20, max: 20 }),
})

/** Every cell has at most one tile, no tile is outside, and none could be further up. */
function assertSound(places: readonly Placed[]) {
  const cells = new Map<string, number>()
  for (const { id, x, y, w, h } of places) {
    expect(x >= 0 && y >= 0 && w >= 2 && h >= 2 && x + w <= columnCount).toBe(true)
    for (let i = x; i < x + w; i++)
      for (let j = y; j < y + h; j++) {
        expect(cells.has(`${i} ${j}`), `tiles ${cells.get(`${i} ${j}`)} and ${id} overlap`).toBe(false)
        cells.set(`${i} ${j}`, id)
      }
  }
  for (const { x, y, w } of places) {
    if (y === 0) continue
    const above = Array.from({ length: w }, (_, i) => cells.has(`${x + i} ${y - 1}`))
    expect(above.includes(true)).toBe(true)
  }
}

test('after any steps nothing overlaps or hangs in the air, and no tile is lost', () => {
  assertGenerated(
    fc.property(anyPlaces, fc.array(anyStep, { maxLength: 6 }), (given, steps) => {
      let places = compacted(given)
      assertSound(places)
      expect(sorted(compacted(places))).toEqual(sorted(places))
      for (const { id, what, dx, dy } of steps) {
        const before = places.find((one) => one.id === id)
        if (what === 'move' && before) places = moved(places, id, { ...before, x: before.x + dx, y: before.y + dy })
        else places = what === 'nudge' ? nudged(places, id, Math.sign(dx), dx === 0 ? Math.sign(dy) : 0) : resized(places, id, dx, dy)
        assertSound(places)
        expect(sorted(places).map((one) => one.id)).toEqual(given.map((one) => one.id))
        expect(sorted(compacted(places))).toEqual(sorted(places))
      }
    }),
  )
})
