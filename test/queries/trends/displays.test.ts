import { afterAll, expect, test } from 'vitest'
import { answerQuery } from '../../../src/execution/answer.ts'
import { answerTable } from '../../../src/queries/rows.ts'
import { projectPool } from '../../harness/projects.ts'
import type { ReferenceDisplay } from '../../reference/displays.ts'
import { asTrend, dayText, firstDay } from '../../reference/displays-cases.ts'

// What heat maps and box plots refuse, and their rows.

const pool = projectPool(new Date('2020-06-01T00:00:00Z'))
afterAll(() => pool.close())

const view = { kind: 'EventsNode', event: 'view' }
const asked = (display: string, more: object = {}) => ({ kind: 'TrendsQuery', series: [view], trendsFilter: { display }, ...more })
test.each<[name: string, query: object, attr: string, words: string]>([
  ['no property', asked('BoxPlot'), 'series__0__math_property', 'property'],
  ['a breakdown', asked('CalendarHeatmap', { breakdownFilter: { breakdown: 'k' } }), 'breakdownFilter', 'breakdown'],
  ['a comparison', asked('CalendarHeatmap', { compareFilter: { compare: true } }), 'compareFilter__compare', 'comparison'],
  ['a formula', asked('x', { trendsFilter: { display: 'CalendarHeatmap', formula: 'A' } }), 'trendsFilter__formula', 'formulas'],
  [
    'a math over several days',
    asked('CalendarHeatmap', { series: [{ ...view, math: 'weekly_active' }] }),
    'series__0__math',
    'weekly_active',
  ],
  [
    'lengths of sessions',
    asked('BoxPlot', { series: [{ ...view, math: 'avg', math_property: '$session_duration' }] }),
    'series__0__math_property',
    'sessions',
  ],
])('%s is refused', async (_, query, attr, words) => {
  const project = await pool.filled({ zone: 'UTC', weekStartDay: 0 }, [])
  await expect(answerQuery(query, project)).rejects.toMatchObject({ attr, message: expect.stringContaining(words) as string })
})

test('a row only belongs to a heat map', async () => {
  const project = await pool.filled({ zone: 'UTC', weekStartDay: 0 }, [])
  const source = { kind: 'InsightActorsQuery', source: { kind: 'TrendsQuery', series: [view] }, row: 1 }
  await expect(answerQuery({ kind: 'ActorsQuery', source }, project)).rejects.toMatchObject({ attr: 'source__row' })
})

test.each(['CalendarHeatmap', 'BoxPlot'])('a %s is answered by SQL, and says so', async (display) => {
  const project = await pool.filled({ zone: 'UTC', weekStartDay: 0 }, [])
  const query = asked(display, { series: [{ ...view, math_property: 'n' }] })
  const { explain } = (await answerQuery({ ...query, explain: true }, project)) as { explain?: readonly object[] }
  expect(explain).toContainEqual(expect.objectContaining({ road: 'sql', reason: expect.stringContaining('no fold') as string }))
  await expect(answerQuery({ ...query, modifiers: { road: 'core' } }, project)).rejects.toMatchObject({ attr: 'modifiers__road' })
})

test('both have rows as Arrow', async () => {
  const events = [0, 1].map((i) => ({
    event: 'view',
    person: 1,
    at: (firstDay + i * 3_600_000) * 1000,
    session: '',
    group: '',
    properties: { n: i },
  }))
  const project = await pool.filled({ zone: 'UTC', weekStartDay: 0 }, events)
  const query: ReferenceDisplay = {
    zone: 'UTC',
    weekStartDay: 0,
    interval: 'day',
    from: dayText(0),
    to: dayText(1),
    event: 'view',
    math: 'total',
  }
  const rows = async (display: string) =>
    answerTable(await answerQuery(asTrend(query, display), project))
      .toArray()
      .map((row) => ({ ...(row.toJSON() as object) }))
  expect(await rows('CalendarHeatmap')).toEqual([0, 1].map((column) => ({ order: 0, label: 'view', row: 1, column, value: 1 })))
  expect(await rows('BoxPlot')).toEqual([
    { series_index: 0, series_label: 'view', day: dayText(0), min: 0, q1: 0.25, median: 0.5, q3: 0.75, max: 1, mean: 0.5 },
  ])
})
