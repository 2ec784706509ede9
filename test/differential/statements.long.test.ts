import { expect, test } from 'vitest'
import { howToSave, savedRegressions } from '../harness/assert-generated.ts'
import { hasClickHouse } from '../harness/clickhouse.ts'
import { openDifferential } from './engines.ts'

test.skipIf(!hasClickHouse)('200 drawn statements have the same rows on both engines and by the naive interpreter', async () => {
  const differential = await openDifferential()
  try {
    const seed = Number(process.env.WAYMARK_SEED ?? 7)
    const saved = savedRegressions().flatMap(({ input }) => input as readonly string[])
    const { differences, axes, refusedByBoth, rows, answered } = await differential.run(200, seed, saved)
    expect(differences, `seed ${seed}\n${differences.map(({ statement }) => howToSave({ input: [statement] })).join('\n')}`).toEqual([])
    // What both refuse compares nothing: it stays rare.
    expect(refusedByBoth).toBeLessThan(20)
    expect(answered).toBeGreaterThan(130)
    expect(rows).toBeGreaterThan(2000)
    expect(axes.size).toBeGreaterThan(120)
  } finally {
    await differential.close()
  }
})
