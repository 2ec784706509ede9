import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { answerQuery } from '../../../src/engine/execution/answer.ts'
import type { ActorsResponse } from '../../../src/queries/actors/index.ts'
import type { TrendsResponse } from '../../../src/queries/trends/index.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'
import type { TestProject } from '../../harness/duckdb.ts'
import { projectPool } from '../../harness/projects.ts'
import { asQuery, counted, eventArb, mergesArb, queryArb } from '../../reference/trends-cases.ts'

const pool = projectPool(new Date('2020-06-01T00:00:00Z'))
afterAll(() => pool.close())

const actorsOf = async (project: TestProject, point: object) => {
  const query = { kind: 'ActorsQuery', select: ['actor', 'event_count'], source: { kind: 'InsightActorsQuery', ...point }, limit: 1000 }
  const { results } = (await answerQuery(query, project)) as ActorsResponse
  return { count: results.length, events: results.reduce((sum, row) => sum + Number(row[1]), 0) }
}

const eventsArb = fc.array(eventArb, { maxLength: 40, size: 'max' })
/** Breakdowns besides those of the naive model, and filters of the whole query. */
const moreArb = fc.constantFrom<object>(
  {},
  {},
  {},
  { breakdownFilter: { breakdowns: [{ property: 'k' }, { property: 'f' }], breakdown_limit: 3 } },
  { breakdownFilter: { breakdown: 'n', breakdown_histogram_bin_count: 3 } },
  {
    breakdownFilter: {
      breakdowns: [
        { property: 'n', histogram_bin_count: 2 },
        { property: 'k', normalize_url: true },
      ],
    },
  },
  { breakdownFilter: { breakdown: "concat(properties.f, '!')", breakdown_type: 'hogql' } },
  { breakdownFilter: { breakdown: '$session_duration', breakdown_type: 'session' } },
  { breakdownFilter: { breakdown: 'event', breakdown_type: 'event_metadata', breakdown_limit: 1 } },
  { properties: [{ type: 'event', key: 'f', value: 'yes', operator: 'is_not' }] },
)

const countsOnce = ['dau', 'unique_group', 'first_time_for_user', 'first_matching_event_for_user']
const countsActors = [...countsOnce, 'weekly_active', 'monthly_active']

test('the number of actors behind a cell is the cell, and their events are its events', async () => {
  await assertGenerated(
    fc.asyncProperty(eventsArb, mergesArb, queryArb, fc.boolean(), moreArb, async (events, merges, drawn, compare, more) => {
      // Smoothed numbers, formulas and scaled samples have no actors.
      const query = { ...counted(drawn), smoothing: 1 }
      const source = { ...asQuery(query), ...more, ...(compare && { compareFilter: { compare } }) }
      // The survivor of a merge has a row, also without an event of its own.
      const project = await pool.filled(query, events, { merges, persons: merges.map(([, person]) => ({ person })) })
      const { results } = (await answerQuery(source, project)) as TrendsResponse
      for (const row of [...results.slice(0, 3), ...results.slice(-2)]) {
        const series = query.series[row.order]!
        const cells = query.isTotal ? [row.aggregated_value!] : row.data!
        const shown = cells.map((cell, i) => ({ cell, day: row.days[i] })).filter(({ cell }) => cell > 0)
        for (const { cell, day } of [...shown.slice(0, 2), ...shown.slice(-1)]) {
          const point = {
            source,
            series: row.order,
            ...(day && { day }),
            ...(row.breakdown_value !== undefined && { breakdown: row.breakdown_value }),
            ...(row.compare_label && { compare: row.compare_label }),
          }
          const behind = await actorsOf(project, point)
          const isOther = [row.breakdown_value].flat().includes('$$_posthog_breakdown_other_$$')
          // A running total of windows counts an actor once per window.
          const actors = query.isCumulative ? countsOnce : countsActors
          // An actor with two of the other values is counted for each of them.
          if (actors.includes(series.math)) {
            if (isOther) expect(behind.count).toBeLessThanOrEqual(cell)
            else expect(behind.count).toBe(cell)
          }
          if (series.math === 'total') expect(behind.events).toBe(cell)
        }
      }
    }),
    { numRuns: Number(process.env.WAYMARK_RUNS ?? 25) },
  )
})

describe('a point', () => {
  const at = (text: string) => Date.parse(text) * 1000
  const event = (person: number, time: string, properties: Record<string, string | number | null> = {}, group = '') => ({
    event: 'view',
    person,
    at: at(time),
    session: '',
    group,
    properties,
  })
  const events = [
    event(1, '2020-03-02T10:00:00Z', { k: 'a', n: 1 }),
    event(1, '2020-03-02T11:00:00Z', { k: 'b', n: 5 }),
    event(2, '2020-03-02T12:00:00Z', { k: 'a', n: 9 }),
    event(3, '2020-03-03T12:00:00Z', { n: null }),
    event(4, '2020-02-24T12:00:00Z', { k: 'c' }),
  ]
  const source = (parts: object = {}) => ({
    kind: 'TrendsQuery',
    series: [{ kind: 'EventsNode', event: 'view', math: 'dau' }],
    dateRange: { date_from: '2020-03-01', date_to: '2020-03-07' },
    ...parts,
  })
  const utc = { zone: 'UTC', weekStartDay: 0 as const }

  test.each<[string, object, number]>([
    ['a day', { day: '2020-03-02' }, 2],
    ['a day as an instant', { day: '2020-03-02T00:00:00Z' }, 2],
    ['an instant inside the day', { day: '2020-03-02T12:00:00Z' }, 2],
    ['no day: the whole range', {}, 3],
    ['a day outside of the range', { day: '2020-02-24' }, 0],
  ])('%s', async (_, point, count) => {
    const project = await pool.filled(utc, events)
    expect((await actorsOf(project, { source: source(), series: 0, ...point })).count).toBe(count)
  })

  test('of the previous period', async () => {
    const project = await pool.filled(utc, events)
    const compared = source({ compareFilter: { compare: true } })
    expect((await actorsOf(project, { source: compared, day: '2020-02-24', compare: 'previous' })).count).toBe(1)
    expect((await actorsOf(project, { source: compared, day: '2020-02-24', compare: 'current' })).count).toBe(0)
  })

  test.each(['ActionsLineGraph', 'BoldNumber', 'CalendarHeatmap', 'SlopeGraph'])(
    'of a previous period that the %s does not have',
    async (display) => {
      const project = await pool.filled(utc, events)
      const point = { source: source({ trendsFilter: { display } }), compare: 'previous' }
      await expect(actorsOf(project, point)).rejects.toMatchObject({ code: 'validation-failed', attr: 'source__compare' })
      expect((await actorsOf(project, { ...point, compare: 'current' })).count).toBe(3)
    },
  )

  test.each<[string, object, string, number]>([
    ['of the period before', {}, '2020-03-02', 1],
    ['of a week before', { compare_to: '-1w' }, '2020-03-02', 1],
    ['of another day', {}, '2020-03-03', 0],
    ['after both periods', {}, '2020-03-20', 0],
  ])('a day of the current period stands for the same day %s', async (_, filter, day, count) => {
    const project = await pool.filled(utc, events)
    const compared = source({ compareFilter: { compare: true, ...filter } })
    expect((await actorsOf(project, { source: compared, day, compare: 'previous' })).count).toBe(count)
  })

  test.each<[string, object, unknown, number]>([
    ['a value', { breakdown: 'k' }, 'a', 2],
    ['the value of no value', { breakdown: 'k' }, '$$_posthog_breakdown_null_$$', 1],
    ['a list of values', { breakdowns: [{ property: 'k' }, { property: 'n' }] }, ['a', '9'], 1],
    ['a bin', { breakdown: 'n', breakdown_histogram_bin_count: 2 }, '[1,5]', 1],
    ['the last bin', { breakdown: 'n', breakdown_histogram_bin_count: 2 }, '[5,9.01]', 2],
    ['all bins', { breakdown: 'n', breakdown_histogram_bin_count: 2 }, '["",""]', 3],
    ['no number', { breakdown: 'n', breakdown_histogram_bin_count: 2 }, '$$_posthog_breakdown_null_$$', 1],
    ['Other', { breakdown: 'k', breakdown_limit: 1 }, '$$_posthog_breakdown_other_$$', 2],
    ['a page', { breakdown: 'k', breakdown_normalize_url: true }, 'a', 2],
    ['the same page in another form', { breakdown: 'k', breakdown_normalize_url: true }, 'a/?', 2],
    ['another page', { breakdowns: [{ property: 'k', normalize_url: true }] }, ['b#'], 1],
  ])('%s of a breakdown', async (_, breakdownFilter, breakdown, count) => {
    const project = await pool.filled(utc, events)
    expect((await actorsOf(project, { source: source({ breakdownFilter }), breakdown })).count).toBe(count)
  })

  // A window counts events from before the range, so their numbers have bins too.
  test.each<[string, object, Record<string, string | number>, string[]]>([
    ['of a window', { interval: 'day' }, { n: 1 }, ['[1,1.01]']],
    ['of a window, among other values', { interval: 'hour' }, { n: 1, k: 'a/' }, ['[1,1.01]', 'a']],
    ['of a window as one number', { trendsFilter: { display: 'ActionsTable' } }, { n: 1 }, ['[1,1.01]']],
    ['without a number', {}, { n: 'none' }, ['$$_posthog_breakdown_null_$$']],
    ['of what is no finite number', {}, { n: 'nan' }, ['$$_posthog_breakdown_null_$$']],
    ['of infinity', {}, { n: '-inf' }, ['$$_posthog_breakdown_null_$$']],
  ])('in a bin %s', async (_, parts, properties, breakdown) => {
    const breakdowns = [{ property: 'n', histogram_bin_count: 2 }, ...(properties.k ? [{ property: 'k', normalize_url: true }] : [])]
    const rolling = {
      series: [{ kind: 'EventsNode', event: 'view', math: 'weekly_active' }],
      dateRange: { date_from: '2020-02-25', date_to: '2020-02-25' },
      breakdownFilter: { breakdowns },
      ...parts,
    }
    const project = await pool.filled({ zone: 'Asia/Kathmandu', weekStartDay: 0 }, [event(1, '2020-02-24T00:30:00Z', properties)])
    const { results } = (await answerQuery(source(rolling), project)) as TrendsResponse
    expect(results.map((row) => [row.breakdown_value, row.aggregated_value ?? row.data![0]])).toEqual([[breakdown, 1]])
    expect((await actorsOf(project, { source: source(rolling), day: '2020-02-25', breakdown })).count).toBe(1)
  })

  test('in a bin beside what is no finite number', async () => {
    const texts = ['nan', 'inf', '-inf', 1, 5]
    const project = await pool.filled(
      utc,
      texts.map((n, i) => event(i + 1, '2020-03-02T10:00:00Z', { n })),
    )
    const query = source({ breakdownFilter: { breakdown: 'n', breakdown_histogram_bin_count: 2 } })
    const { results } = (await answerQuery(query, project)) as TrendsResponse
    const bins = [
      ['[1,3]', 1],
      ['[3,5.01]', 1],
      ['$$_posthog_breakdown_null_$$', 3],
    ] as const
    expect(results.map((row) => [row.breakdown_value, row.count])).toEqual(bins)
    for (const [breakdown, count] of bins) expect((await actorsOf(project, { source: query, breakdown })).count).toBe(count)
  })

  test('of a merged person is one actor', async () => {
    const project = await pool.filled(utc, events, { merges: [[2, 1]] })
    const { results } = (await answerQuery(source(), project)) as TrendsResponse
    expect(results[0]!.data).toEqual([0, 1, 1, 0, 0, 0, 0])
    expect(await actorsOf(project, { source: source(), day: '2020-03-02' })).toEqual({ count: 1, events: 3 })
  })

  test('of a series that is not there names the field', async () => {
    const project = await pool.filled(utc, events)
    await expect(actorsOf(project, { source: source(), series: 1 })).rejects.toThrow(expect.objectContaining({ attr: 'source__series' }))
    await expect(actorsOf(project, { source: source(), day: 'never' })).rejects.toThrow(expect.objectContaining({ attr: 'source__day' }))
  })

  test('may be one of the people that a list of persons leaves out: who has no record is only an id', async () => {
    const project = await pool.filled(utc, events, { persons: [{ person: 3, hasRecord: false }] })
    const query = {
      kind: 'ActorsQuery',
      select: ['person', 'id'],
      source: { kind: 'InsightActorsQuery', source: source(), day: '2020-03-03' },
    }
    const answer = (await answerQuery(query, project)) as ActorsResponse
    expect(answer.missing_actors_count).toBe(1)
    expect(answer.results).toEqual([[{ id: answer.results[0]![1] }, expect.any(String)]])
  })
})
