import { isDeepStrictEqual } from 'node:util'

// A check is a name and what it does; a failed one does not keep the others from being made.

export interface Counts {
  passed: number
  failed: number
}

export class Failed extends Error {}

export function mustEqual(actual: unknown, expected: unknown, what: string): void {
  if (!isDeepStrictEqual(actual, expected)) throw new Failed(`${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`)
}

export const createChecks = (counts: Counts) => async (name: string, work: () => Promise<void>) => {
  const began = performance.now()
  try {
    await work()
    counts.passed++
    console.log(`  ✓ ${name} (${((performance.now() - began) / 1000).toFixed(1)} s)`)
  } catch (error) {
    counts.failed++
    console.log(`  ✗ ${name}\n      ${error instanceof Failed ? error.message : error instanceof Error ? error.stack : String(error)}`)
  }
}
export type Check = ReturnType<typeof createChecks>
