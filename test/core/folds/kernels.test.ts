import { afterAll, beforeAll, expect, test } from 'vitest'
import { kernelsFor, mostSearched, switchKernels } from '../../../src/core/simd/kernels.ts'
import './from-days.test.ts'
import './pages.test.ts'
import './paths.test.ts'
import './person-events.test.ts'
import './quantiles.test.ts'
import './selection.test.ts'
import './thread-pool.test.ts'

// The tests of folds again, with kernels also for the few events that they draw, where loops in JavaScript are used otherwise.

beforeAll(() => switchKernels('always'))
afterAll(() => switchKernels('on'))

test('this processor has kernels', () => {
  expect(kernelsFor(mostSearched)).not.toBeNull()
})
