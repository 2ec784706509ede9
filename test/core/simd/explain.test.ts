import { afterAll, afterEach, expect, test } from 'vitest'
import { switchKernels } from '../../../src/core/simd/kernels.ts'
import { answerQuery } from '../../../src/engine/execution/answer.ts'
import { projectPool } from '../../harness/projects.ts'

// `explain` names the kernels that found the events of a part of an insight.

const pool = projectPool(new Date('2020-06-01T00:00:00Z'))
afterAll(() => pool.close())
afterEach(() => switchKernels('on'))

test('explain names the kernels of a fold, and none where loops in JavaScript answer', async () => {
  const project = await pool.filled(
    { zone: 'UTC', weekStartDay: 0 },
    Array.from({ length: 900 }, (_, i) => ({
      event: i % 3 === 0 ? 'view' : 'other',
      person: 1 + (i % 5),
      at: Date.parse('2020-05-01T00:00:00Z') * 1000 + i * 1_800_000_000,
      session: '',
      group: '',
      properties: {},
    })),
  )
  const query = {
    kind: 'TrendsQuery',
    series: [{ kind: 'EventsNode', event: 'view' }],
    dateRange: { date_from: '2020-05-01', date_to: '2020-05-31' },
    explain: true,
    modifiers: { road: 'core' },
  }
  const ask = async () => {
    const { explain, results } = (await answerQuery(query, project)) as { explain: { kernels?: string[] }[]; results: { count: number }[] }
    return { kernels: explain.map(({ kernels }) => kernels), counts: results.map(({ count }) => count) }
  }
  const counts = [300]
  switchKernels('off')
  expect(await ask()).toEqual({ kernels: [undefined], counts })
  switchKernels('on')
  expect(await ask()).toEqual({ kernels: [expect.arrayContaining(['names', 'positions'])], counts })
})
