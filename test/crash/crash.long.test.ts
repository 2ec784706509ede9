import { expect, test } from 'vitest'
import { crashRounds } from './harness.ts'

test('twenty kills at random moments, some with a broken store, lose nothing acknowledged and keep nothing by halves', async () => {
  const seed = Number(process.env.WAYMARK_SEED ?? 20)
  console.log(`seed ${seed}`) // a failure is looked at with: npm run test:crash -- --rounds 20 --seed N
  const result = await crashRounds(20, seed)
  expect(result.batches).toBeGreaterThan(20)
  expect(result.compressed).toBeGreaterThan(0)
})
