import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import type { LocalProject } from '../../../src/project.ts'

let waymark: LocalWaymark
let project: LocalProject
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', clock: () => new Date('2026-03-05T20:00:00Z') })
  project = await waymark.createProject({ name: 'taxonomy' })
  const at = (day: number) => new Date(Date.UTC(2026, 2, day)).toISOString()
  const seen = (event: string, day: number, properties: object) => ({ event, distinct_id: `p${day}`, timestamp: at(day), properties })
  await project.ingest({
    batch: [
      seen('buy', 1, { price: 3, item: 'cup', $set: { plan: 'pro' } }),
      seen('buy', 2, { price: 4, item: 'cup', list: [1], $ip: '1.2.3.4', $set: { plan: 'free' } }),
      seen('buy', 3, { price: 4, item: '', none: null, odd__name: 1, $set: { plan: 'free' } }),
      seen('see', 3, { page: '/' }),
      seen('buy', -60, { old: true }),
    ],
  })
  await project.importGroups([{ group_type: 'company', group_type_index: 0, group_key: 'acme', properties: { size: 3 } }])
  await project.createAction({ name: 'Bought', steps: [{ event: 'buy' }] })
})
afterAll(() => waymark.close())

const results = async (query: object) => ((await project.answer(query)) as { results: unknown }).results

test('events of the last 30 days by their number', async () => {
  expect(await results({ kind: 'TeamTaxonomyQuery' })).toEqual([
    { event: 'buy', count: 3 },
    { event: 'see', count: 1 },
  ])
  const page = { kind: 'TeamTaxonomyQuery', limit: 1 }
  expect(await project.answer(page)).toMatchObject({ results: [{ event: 'buy' }], hasMore: true, limit: 1, offset: 0 })
  expect(await project.answer({ ...page, offset: 1 })).toMatchObject({ results: [{ event: 'see' }], hasMore: false })
})

test('properties of an event, those with most values first', async () => {
  const found = [
    { property: 'price', sample_values: ['4', '3'], sample_count: 2 },
    { property: 'item', sample_values: ['cup'], sample_count: 1 },
    { property: 'list', sample_values: ['[1]'], sample_count: 1 },
  ]
  expect(await results({ kind: 'EventTaxonomyQuery', event: 'buy' })).toEqual(found)
  expect(await results({ kind: 'EventTaxonomyQuery', actionId: 1 })).toEqual(found)
  expect(await results({ kind: 'EventTaxonomyQuery', event: 'buy', maxPropertyValues: 1 })).toMatchObject([
    { sample_values: ['4'], sample_count: 2 },
    {},
    {},
  ])
  expect(await results({ kind: 'EventTaxonomyQuery', event: 'nothing' })).toEqual([])
})

test('properties that are named, with their most frequent values', async () => {
  expect(await results({ kind: 'EventTaxonomyQuery', event: 'buy', properties: ['price', 'nothing', 'item'] })).toEqual([
    { property: 'price', sample_values: ['4', '3'], sample_count: 2 },
    { property: 'item', sample_values: ['cup'], sample_count: 1 },
  ])
})

test('properties of persons and of groups', async () => {
  expect(await results({ kind: 'ActorsPropertyTaxonomyQuery', properties: ['plan', 'nothing'] })).toEqual([
    { sample_values: expect.arrayContaining(['pro', 'free']), sample_count: 2 },
    { sample_values: [], sample_count: 0 },
  ])
  expect(await results({ kind: 'ActorsPropertyTaxonomyQuery', properties: ['size'], groupTypeIndex: 0 })).toEqual([
    { sample_values: ['3'], sample_count: 1 },
  ])
  expect(await results({ kind: 'ActorsPropertyTaxonomyQuery', properties: ['size'], groupTypeIndex: 1 })).toEqual([
    { sample_values: [], sample_count: 0 },
  ])
})

test.each([
  ['an event taxonomy of nothing', { kind: 'EventTaxonomyQuery' }, 'event'],
  ['an event taxonomy of two things', { kind: 'EventTaxonomyQuery', event: 'buy', actionId: 1 }, 'event'],
  ['an action that does not exist', { kind: 'EventTaxonomyQuery', actionId: 99 }, 'actionId'],
  ['no properties', { kind: 'ActorsPropertyTaxonomyQuery', properties: [] }, 'properties'],
  ['a group type that cannot exist', { kind: 'ActorsPropertyTaxonomyQuery', properties: ['a'], groupTypeIndex: 5 }, 'groupTypeIndex'],
  ['too many values', { kind: 'EventTaxonomyQuery', event: 'buy', maxPropertyValues: 1e9 }, 'maxPropertyValues'],
])('%s is refused by name', async (_, wrong, attr) => {
  await expect(project.answer(wrong)).rejects.toMatchObject({ code: 'validation-failed', attr })
})
