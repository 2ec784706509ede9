import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import type { LocalProject } from '../../../src/project.ts'

let waymark: LocalWaymark
let project: LocalProject
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:' })
  project = await waymark.createProject()
  await project.ingest({ batch: [{ event: 'bought', distinct_id: 'u' }] })
})
afterAll(() => waymark.close())

const unknownOf = async (names: readonly string[]) => {
  const query = `select count() from events where event in (${names.map((name) => `'${name}'`).join(', ')})`
  const { warnings = [] } = (await project.query({ kind: 'SqlLikeQuery', query })) as {
    warnings?: readonly { code: string; event?: string }[]
  }
  return warnings.filter(({ code }) => code === 'unknown-event').map(({ event }) => event)
}

test('at most ten unknown names are reported', async () => {
  const names = Array.from({ length: 30_000 }, (_, i) => `some event ${i}`)
  expect(await unknownOf(['bought', ...names])).toEqual(names.slice(0, 10))
})

test('the search for names in the text of the request is limited', async () => {
  const names = Array.from({ length: 30_000 }, (_, i) => `it''s ${i}`)
  expect(await unknownOf([...names, 'bougt'])).toEqual([])
  expect(await unknownOf([...names.slice(0, 20), 'bougt'])).toEqual(['bougt'])
})
