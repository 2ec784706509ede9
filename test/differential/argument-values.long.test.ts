import { expect, test } from 'vitest'
import { hasClickHouse } from '../harness/clickhouse.ts'
import { compareValues } from './argument-values.ts'
import { reasonOf } from './value-differences.ts'

test.skipIf(!hasClickHouse)(
  'each argument with values of every type: both engines answer the same, both refuse, or the difference has a reason',
  async () => {
    const seed = Number(process.env.WAYMARK_SEED ?? 7)
    const { found, compared, refusedByBoth } = await compareValues(0.008, seed)
    expect(
      found.filter((difference) => reasonOf(difference) === undefined),
      `seed ${seed}`,
    ).toEqual([])
    expect(compared).toBeGreaterThan(1000)
    expect(compared - refusedByBoth).toBeGreaterThan(400)
  },
)
