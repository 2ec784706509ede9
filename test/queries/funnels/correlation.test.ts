import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import type { FunnelCorrelationResponse } from '../../../src/index.ts'
import type { LocalProject } from '../../../src/project.ts'

// Cases that generated queries do not cover: few of many names, elements, samples, and errors.

let waymark: LocalWaymark
let project: LocalProject

beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', clock: () => new Date('2026-03-05T20:00:00Z') })
  project = await waymark.createProject({ name: 'correlation' })
  const at = (minute: number) => `2026-03-04T10:${String(minute).padStart(2, '0')}:00Z`
  const done = (who: string, events: readonly string[]) =>
    events.map((event, i) => ({ event, distinct_id: who, timestamp: at(i), properties: { $set: { plan: who.slice(0, 3) } } }))
  const people = Array.from({ length: 12 }, (_, i) => `${i < 6 ? 'pro' : 'any'}${i}`)
  await project.ingest({
    batch: people.flatMap((who, i) =>
      done(who, ['signup', ...(i < 7 ? ['watched'] : []), ...(i > 8 ? ['asked'] : []), ...(i < 8 ? ['bought'] : [])]),
    ),
  })
  await project.ingest({
    batch: people.slice(2).map((who) => ({
      event: '$autocapture',
      distinct_id: who,
      timestamp: '2026-03-04T10:00:30Z',
      properties: { $event_type: 'click', $elements: [{ tag_name: 'a', $el_text: 'Help' }] },
    })),
  })
})
afterAll(() => waymark.close())

const series = ['signup', 'bought'].map((event) => ({ kind: 'EventsNode', event }))
const funnel = { kind: 'FunnelsQuery', series, dateRange: { date_from: '2026-03-01' } }
const source = { kind: 'FunnelsActorsQuery', source: funnel }
const ask = async (more: object, of: object = source) =>
  (await project.answer({
    kind: 'FunnelCorrelationQuery',
    source: of,
    funnelCorrelationType: 'events',
    ...more,
  })) as FunnelCorrelationResponse

test('events between the steps, with their odds and the exact test', async () => {
  const { results, hasMore } = await ask({ funnelCorrelationExcludeEventNames: ['$autocapture'] })
  expect([results.success_total, results.failure_total, results.skewed, hasMore]).toEqual([8, 4, false, false])
  expect(results.events).toEqual([
    {
      event: { event: 'watched', properties: {}, elements: [] },
      success_count: 7,
      failure_count: 0,
      odds_ratio: (8 * 5) / (2 * 1),
      correlation_type: 'success',
      p_value: expect.closeTo(8 / 792, 10) as number,
      significance: 'weak',
    },
    expect.objectContaining({ success_count: 0, failure_count: 3, odds_ratio: (1 * 2) / (9 * 4), correlation_type: 'failure' }),
  ])
})

test('elements instead of the properties of autocaptured events', async () => {
  const { results } = await ask({ funnelCorrelationType: 'event_with_properties', funnelCorrelationEventNames: ['$autocapture'] })
  expect(results.events).toHaveLength(1)
  const { event, success_count, failure_count } = results.events[0]!
  expect([event.properties, success_count, failure_count]).toEqual([{ $event_type: 'click' }, 6, 4])
  expect(event.event).toMatch(/^\$autocapture::elements_chain::click__~~__a/)
  expect(event.elements).toEqual([expect.objectContaining({ tag_name: 'a', text: 'Help' })])
})

test('Arrow has a row for each name', async () => {
  const table = await project.queryArrow({ kind: 'FunnelCorrelationQuery', source, funnelCorrelationType: 'events' } as never)
  expect(table.toArray().map((row) => [row.name, row.success_count, row.failure_count, row.significance])).toEqual([
    ['watched', 7, 0, 'weak'],
    ['asked', 0, 3, 'weak'],
    ['$autocapture', 6, 4, 'none'],
  ])
})

test('nobody who fails is nothing to compare with, and many more of one kind are skewed', async () => {
  const converted = await ask({}, { ...source, funnelStep: 2 })
  expect(converted.results).toEqual({ events: [], skewed: true, success_total: 8, failure_total: 0 })
})

test('the previous period of a funnel with a comparison', async () => {
  const compared = { ...funnel, dateRange: { date_from: '2026-03-05', date_to: '2026-03-05' }, compareFilter: { compare: true } }
  const point = { kind: 'FunnelsActorsQuery', source: compared }
  const current = await ask({}, { ...point, compare: 'current' })
  expect([current.results.success_total, current.results.failure_total]).toEqual([0, 0])
  const previous = { ...point, compare: 'previous' }
  const alone = { ...source, source: { ...funnel, dateRange: { date_from: '2026-03-04', date_to: '2026-03-04' } } }
  for (const more of [
    {},
    { funnelCorrelationType: 'properties', funnelCorrelationNames: ['plan'] },
    { funnelCorrelationType: 'event_with_properties', funnelCorrelationEventNames: ['$autocapture'] },
  ]) {
    const { results } = await ask(more, previous)
    expect([results.success_total, results.events.length > 0]).toEqual([8, true])
    expect(results).toEqual((await ask(more, alone)).results)
  }
  const actors = {
    kind: 'FunnelCorrelationActorsQuery',
    source: { kind: 'FunnelCorrelationQuery', source: previous, funnelCorrelationType: 'events' },
    funnelCorrelationPersonEntity: { kind: 'EventsNode', event: 'watched' },
  }
  expect(((await project.answer({ kind: 'ActorsQuery', source: actors })) as { results: unknown[] }).results).toHaveLength(7)
})

test('of more than ten names the strongest are shown', async () => {
  const own = await waymark.createProject({ name: 'many names' })
  const people = Array.from({ length: 30 }, (_, i) => `p${i}`)
  await own.ingest({
    batch: people.flatMap((distinct_id, i) =>
      ['signup', ...Array.from({ length: 12 }, (_, n) => `e${n}`).filter((_, n) => i < n + 5), ...(i < 15 ? ['bought'] : [])].map(
        (event, n) => ({
          event,
          distinct_id,
          timestamp: `2026-03-04T10:${String(n).padStart(2, '0')}:00Z`,
        }),
      ),
    ),
  })
  const { results, hasMore } = (await own.answer({
    kind: 'FunnelCorrelationQuery',
    source,
    funnelCorrelationType: 'events',
  })) as FunnelCorrelationResponse
  expect([results.events.length, results.events[0]!.event.event, hasMore]).toEqual([10, 'e10', true])
  expect(results.events[0]!.significance).toBe('strong')
})

test.each<[name: string, query: object, attr: string, words: string]>([
  ['no names', { funnelCorrelationType: 'properties' }, 'funnelCorrelationNames', '$all'],
  ['no events', { funnelCorrelationType: 'event_with_properties' }, 'funnelCorrelationEventNames', 'events'],
  ['an unknown type', { funnelCorrelationType: 'event' }, 'funnelCorrelationType', 'events'],
  ['a value of a breakdown', { source: { ...source, funnelStepBreakdown: 'a' } }, 'source__funnelStepBreakdown', 'breakdown'],
  ['no comparison period', { source: { ...source, compare: 'previous' } }, 'source__compare', 'compareFilter'],
  [
    'a comparison that is off',
    { source: { ...source, source: { ...funnel, compareFilter: { compare: false } }, compare: 'previous' } },
    'source__compare',
    'compareFilter',
  ],
  ['a step too many', { source: { ...source, funnelStep: 3 } }, 'source__funnelStep', '2 steps'],
  ['one step', { source: { ...source, source: { ...funnel, series: series.slice(1) } } }, 'source__source__series', 'two steps'],
  [
    'an unknown field of a step',
    {
      source: {
        ...source,
        source: { ...funnel, series: [series[0], { ...series[1], properties: [{ type: 'hogql', key: 'nope' }] }] },
      },
    },
    'source__source__series__1__properties__0__key',
    'nope',
  ],
])('%s', async (_, query, attr, words) => {
  const asked = { kind: 'FunnelCorrelationQuery', source, funnelCorrelationType: 'events', ...query }
  await expect(project.answer(asked)).rejects.toMatchObject({ attr, detail: expect.stringContaining(words) as string })
  const entity = { kind: 'EventsNode', event: 'watched' }
  const point = {
    kind: 'FunnelCorrelationActorsQuery',
    source: asked,
    funnelCorrelationPersonEntity: entity,
    funnelCorrelationPropertyValues: [],
  }
  await expect(project.answer({ kind: 'ActorsQuery', source: point })).rejects.toMatchObject({ attr: `source__source__${attr}` })
})

test('an unknown name in the filters of the event', async () => {
  const point = {
    kind: 'FunnelCorrelationActorsQuery',
    source: { kind: 'FunnelCorrelationQuery', source, funnelCorrelationType: 'events' },
    funnelCorrelationPersonEntity: { kind: 'EventsNode', event: 'watched', properties: [{ type: 'hogql', key: 'nope' }] },
  }
  await expect(project.answer({ kind: 'ActorsQuery', source: point })).rejects.toMatchObject({
    attr: 'source__funnelCorrelationPersonEntity__properties__0__key',
  })
})

test.each([
  ['events', 'funnelCorrelationPersonEntity'],
  ['properties', 'funnelCorrelationPropertyValues'],
])('actors of %s without a name', async (funnelCorrelationType, name) => {
  const point = {
    kind: 'FunnelCorrelationActorsQuery',
    source: { kind: 'FunnelCorrelationQuery', source, funnelCorrelationType, funnelCorrelationNames: ['plan'] },
  }
  await expect(project.answer({ kind: 'ActorsQuery', source: point })).rejects.toMatchObject({ attr: `source__${name}` })
})

test('the requests of docs/correlation.md are valid', async () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/correlation.md'), 'utf8')
  const requests = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map((match) => JSON.parse(match[1]!) as { kind: string })
  expect(requests.map(({ kind }) => kind)).toEqual(['FunnelCorrelationQuery', 'ActorsQuery'])
  for (const request of requests) expect(await project.answer(request)).toHaveProperty('results')
})
