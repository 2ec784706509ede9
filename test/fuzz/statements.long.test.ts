import { expect, test } from 'vitest'
import { howToSave, savedRegressions } from '../harness/assert-generated.ts'
import { fuzz } from './check.ts'

test('2,000 statements that mean anything at all are printed for both engines, or refused in our words', async () => {
  const seed = Number(process.env.WAYMARK_SEED ?? 11)
  const saved = savedRegressions().flatMap(({ input }) => input as readonly string[])
  const { findings, run, answered, refused } = await fuzz(2000, seed, 150, saved)
  expect(findings, `seed ${seed}\n${findings.map(({ statement }) => howToSave({ input: [statement] })).join('\n')}`).toEqual([])
  // What nothing is refused of, or everything, tests nothing.
  expect(run).toBe(150 + saved.length)
  expect(answered).toBeGreaterThan(75)
  expect(refused.size).toBeGreaterThan(8)
})
