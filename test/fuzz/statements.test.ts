import { expect, test } from 'vitest'
import { fuzz } from './check.ts'

test('2,000 statements that mean anything at all are printed for both engines, or refused in our words', async () => {
  const seed = Number(process.env.WAYMARK_SEED ?? 11)
  const { findings, run, answered, refused } = await fuzz(2000, seed, 150)
  expect(findings, `seed ${seed}`).toEqual([])
  // What nothing is refused of, or everything, tests nothing.
  expect(run).toBe(150)
  expect(answered).toBeGreaterThan(75)
  expect(refused.size).toBeGreaterThan(8)
})
