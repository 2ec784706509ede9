import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { hasBrowser } from './browser.ts'
import { walk } from './clicks/walk.ts'

// A small part of `npm run test:clicks`.

const folder = join(import.meta.dirname, '../../.tmp/clicks')

describe.skipIf(!hasBrowser)('random clicks', () => {
  test.each([1, 2])('seed %i: nothing fails, nothing contradicts itself', async (seed) => {
    const { findings, checks, steps } = await walk({ seed, steps: 60, folder })
    expect(
      findings.map(({ step, what }) => `step ${step}: ${what}`),
      `npm run test:clicks -- --seed ${seed} --until 60\n${steps.join('\n')}`,
    ).toEqual([])
    expect(checks.tab).toBeGreaterThan(3)
    expect(checks['broken address']).toBeGreaterThan(3)
    expect(checks.accessibility).toBeGreaterThan(3)
  })
})
