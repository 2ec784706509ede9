import { expect, test } from 'vitest'
import { IdPlaces, partsOfPlaces } from '../../../src/lib/ids/id-places.ts'

const key = Uint32Array.of(1, 2, 3, 4)
const idOf = (n: number) => `018f3a7c-${(Math.imul(n, 2654435761) >>> 0).toString(16).padStart(8, '0')}-${n}`

test('ids come, change and leave as in a map, and what is left is found after a copy of its parts', () => {
  const places = new IdPlaces(key)
  const map = new Map<string, number>()
  let state = 7
  const random = (below: number) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return (state >>> 8) % below
  }
  for (let step = 0; step < 200_000; step++) {
    const id = idOf(random(30_000))
    // More come than leave, then more leave than come.
    if (random(10) < (step % 100_000 < 60_000 ? 7 : 3)) {
      const no = 1 + random(2 ** 23)
      expect(places.set(id, no)).toBe(map.get(id) ?? 0)
      map.set(id, no)
    } else {
      places.delete(id)
      map.delete(id)
    }
  }
  const copy = new IdPlaces(
    key,
    Array.from({ length: partsOfPlaces }, (_, i) => places.part(i).slice()),
  )
  for (const one of [places, copy]) {
    expect(one.count).toBe(map.size)
    const wrong: string[] = []
    for (let n = 0; n < 30_000; n++) if (one.get(idOf(n)) !== (map.get(idOf(n)) ?? 0)) wrong.push(idOf(n))
    expect(wrong).toEqual([])
  }
})

test('at most 40 bytes an id at every size beyond a few hundred', () => {
  const places = new IdPlaces(key)
  let most = 0
  for (let n = 1; n <= 120_000; n++) {
    places.set(idOf(n), n)
    if (n > 1_000) most = Math.max(most, places.bytes / n)
  }
  expect(most).toBeLessThan(40)
  expect(most).toBeGreaterThan(20)
})

test('an id keeps the number that it got first', () => {
  const places = new IdPlaces(key)
  expect([places.keep('a', 7), places.keep('b', 8), places.keep('a', 9), places.get('a'), places.count]).toEqual([7, 8, 7, 7, 2])
})
