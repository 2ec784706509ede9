import { expect, test } from 'vitest'
import { hasClickHouse, openClickHouse } from '../../harness/clickhouse.ts'
import { openTestProject } from '../../harness/duckdb.ts'

// matchesAction needs an action, which no expression can make.

test('matchesAction is the conditions of an action, by id and by name, on both engines', async () => {
  const project = await openTestProject()
  const clickhouse = await openClickHouse()
  try {
    const { id } = await project.project.createAction({
      name: 'Paid',
      steps: [{ event: 'buy', properties: [{ key: 'plan', value: 'pro', type: 'event' }] }, { event: 'upgrade' }],
    })
    await project.project.take({
      batch: ['buy:pro', 'buy:free', 'buy:', 'upgrade:', 'view:pro'].map((of, i) => {
        const [event, plan] = of.split(':')
        return { event, distinct_id: 'a', timestamp: `2024-01-01T0${i}:00:00Z`, properties: plan ? { plan } : {} }
      }),
    })
    await clickhouse.load(project)
    for (const which of [String(id), "'Paid'"]) {
      const statement = `select event, matchesAction(${which}), countIf(matchesAction(${which})) over () from events order by timestamp`
      const expected = [1, 0, 0, 1, 0].map((is, i) => [['buy', 'buy', 'buy', 'upgrade', 'view'][i], is, 2])
      expect(await project.rows(statement)).toEqual(expected)
      if (hasClickHouse) expect(await clickhouse.rows(statement, project)).toEqual(expected)
    }
    await expect(project.rows('select matchesAction(99) from events')).rejects.toThrow('Could not find action: 99')
  } finally {
    await project.close()
    await clickhouse.close()
  }
})
