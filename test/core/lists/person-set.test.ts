import { expect, test } from 'vitest'
import { random } from '../../../bench/random.ts'
import { PersonSet } from '../../../src/core/lists/kept/person-set.ts'

test.each([1, 2, 3, 4, 5, 6, 7, 8])('a set of persons is one, whatever it is made of: seed %i', (seed) => {
  const draw = random(seed)
  const most = [40, 5_000, 200_000][seed % 3]!
  const set = new PersonSet()
  const model = new Set<number>()
  for (let i = 0; i < 60; i++) {
    const some = new Set(Array.from({ length: Math.floor(draw() * draw() * most * 0.4) }, () => Math.floor(draw() * most)))
    const what = draw()
    if (what < 0.4) {
      // As a fold finds them: in order, none of them known; below others that a part before has found.
      const fresh = [...some].filter((person) => !model.has(person)).sort((a, b) => a - b)
      set.append(Int32Array.from(fresh))
      for (const person of fresh) model.add(person)
    } else
      for (const person of some) {
        if (what < 0.7) {
          set.add(person)
          model.add(person)
        } else expect(set.remove(person), `${person}`).toBe(model.delete(person))
      }
    expect(set.size).toBe(model.size)
    for (const person of some) expect(set.has(person), `${person}`).toBe(model.has(person))
  }
  expect([...set]).toEqual([...model].sort((a, b) => a - b))
})
