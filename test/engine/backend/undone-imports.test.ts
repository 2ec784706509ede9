import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import { drawSteps, importIdOf, left, mustBeLeft, propertiesMustBeThere, send, storedBy } from './undone-imports-cases.ts'

const seeds = process.env.WAYMARK_SEED ? [Number(process.env.WAYMARK_SEED)] : [1, 2, 3]

let folder: string
let waymark: LocalWaymark | null
const errors: unknown[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-undone-'))
  waymark = null
})
afterEach(async () => {
  await waymark?.close()
  expect(errors.splice(0)).toEqual([])
  await rm(folder, { recursive: true, force: true })
})
const openIn = async (dataDir: string): Promise<LocalWaymark> => {
  await waymark?.close()
  waymark = await open({ dataDir, onError: (error) => void errors.push(error) })
  return waymark
}

test.each(seeds)('what is left is what the other sources have stored, after each of two undos and a restart (seed %s)', async (seed) => {
  const steps = drawSteps(seed)
  const stored = storedBy(steps)
  const dataDir = join(folder, 'data')
  const project = await (await openIn(dataDir)).createProject({})
  for (const step of steps) await send(project, step)
  await mustBeLeft(project, left(stored, []))
  const counts = await project.removeImport(importIdOf(1))
  expect(counts.events).toBe([...stored.values()].filter((source) => source === 1).length)
  await mustBeLeft(project, left(stored, [1]))
  await propertiesMustBeThere(project)
  expect(await project.removeImport(importIdOf(1)), 'a second time').toEqual({ events: 0, persons: 0, groups: 0 })
  await mustBeLeft(project, left(stored, [1]))

  const again = await (await openIn(dataDir)).project(project.id)
  await mustBeLeft(again, left(stored, [1]))
  expect(await again.importedEvents(importIdOf(2))).toBe([...stored.values()].filter((source) => source === 2).length)
  await again.removeImport(importIdOf(2))
  await mustBeLeft(again, left(stored, [1, 2]))
  await propertiesMustBeThere(again)

  // What was removed can be imported again; all else is known.
  for (const step of steps) if (step.source === 1) await send(again, { ...step, source: 4 })
  const sent = new Set(steps.flatMap(({ source, batch }) => (source === 1 ? batch.map(({ uuid }) => uuid) : [])))
  const present = [...new Set([...left(stored, [1, 2]), ...sent])].sort()
  await mustBeLeft(again, present)
  const restarted = await (await openIn(dataDir)).project(project.id)
  for (const step of steps) if (step.source === 1) await send(restarted, { ...step, source: 5 })
  await mustBeLeft(restarted, present)
  await propertiesMustBeThere(restarted)
})

test('a store that is made again from the log has removed the same', async () => {
  const steps = drawSteps(9)
  const stored = storedBy(steps)
  const dataDir = join(folder, 'data')
  const project = await (await openIn(dataDir)).createProject({})
  for (const step of steps.slice(0, 40)) await send(project, step)
  await project.removeImport(importIdOf(3))
  const before = storedBy(steps.slice(0, 40))
  const gone = new Set([...before].filter(([, source]) => source === 3).map(([uuid]) => uuid))
  // Events of the import that came after it are of it, too: the door takes none.
  for (const step of steps.slice(40)) await send(project, step)
  const all = new Map([...stored].filter(([uuid]) => !gone.has(uuid)))
  for (const { source, batch } of steps.slice(40)) for (const { uuid } of batch) if (!all.has(uuid)) all.set(uuid, source)
  const uuids = [...all.keys()].sort()
  await mustBeLeft(project, uuids)
  await waymark!.close()
  waymark = null
  for (const file of ['store.duckdb', 'store.duckdb.wal', 'uuids', 'known.ids', 'persons'])
    await rm(join(dataDir, 'projects', String(project.id), file), { recursive: true, force: true })
  const again = await (await openIn(dataDir)).project(project.id)
  await mustBeLeft(again, uuids)
  await propertiesMustBeThere(again)
  expect(await again.importedEvents(importIdOf(3))).toBe([...all.values()].filter((source) => source === 3).length)
})

test('a property that only an undone import had is listed no more; a declared type stays, and others keep what is known of them', async () => {
  const project = await (await openIn(join(folder, 'data'))).createProject({})
  const importId = importIdOf(1)
  const at = (n: number) => ({ timestamp: `2024-01-01T00:00:0${n}Z` })
  await project.take({ batch: [{ event: 'bought', distinct_id: 'a', ...at(0), properties: { shared: 1, $set: { plan: 'pro' } } }] })
  const past = [
    { event: 'bought', distinct_id: 'a', ...at(1), properties: { shared: 2, only: 'x', typed: '5', $set: { tier: 1 } } },
    { event: 'bought', distinct_id: 'b', ...at(2), properties: { only: 3, $set: { tier: 2, colour: 'red' } } },
  ]
  await project.take({ batch: past, historical_migration: true }, { importId })
  await project.definePropertyTypes([{ type: 'event', name: 'typed', property_type: 'Numeric' }])
  const known = async () =>
    (await project.properties())
      .map(({ scope, name, counts }) => `${scope} ${name} ${Object.values(counts).reduce((a, b) => a + b, 0)}`)
      .sort()
  expect(await known()).toEqual(expect.arrayContaining(['event only 2', 'event typed 1', 'person colour 1']))
  await project.removeImport(importId)
  const listed = await known()
  expect(listed.filter((one) => /only|typed|colour/.test(one))).toEqual(['event typed 0'])
  // Somebody who stays has kept one of the import.
  expect(listed).toEqual(expect.arrayContaining(['event shared 2', 'person plan 1', 'person tier 2']))
  expect(
    (await project.query<[number]>({ kind: 'SqlLikeQuery', query: 'select count() from events where properties.only is not null' }))
      .results,
  ).toEqual([[0]])

  // It comes back with its next event, as if it had never been there.
  await project.take({ batch: [{ event: 'bought', distinct_id: 'c', ...at(3), properties: { only: true } }] })
  expect((await project.properties()).find(({ name }) => name === 'only')?.counts).toMatchObject({ boolean: 1, text: 0, numeric: 0 })
})

test('an undo that its process has not finished is carried on with by the next one', async () => {
  const dataDir = join(folder, 'data')
  const first = await openIn(dataDir)
  const project = await first.createProject({})
  const record = (await first.accounts.projects.byId(project.id))!
  const { id } = await first.imports.beginByOperator(record, { file: 'a.csv' })
  const batch = Array.from({ length: 50 }, (_, i) => ({ event: 'bought', distinct_id: `p${i}`, timestamp: '2024-01-01T00:00:00Z' }))
  await first.imports.take(record, id, () => project.take({ batch, historical_migration: true }, { importId: id }))
  await first.accounts.context.store.write((tables) => tables.imports.update({ id }, { status: 'undoing' }))

  const next = await openIn(dataDir)
  expect(await (await next.project(project.id)).importedEvents(id)).toBe(50)
  expect((await next.imports.find(record, id)).status).toBe('undoing')
  await next.imports.close()
  expect(await next.imports.find(record, id)).toMatchObject({ status: 'undone', removed_events: 50, removed_persons: 50 })
  expect(await (await next.project(project.id)).importedEvents(id)).toBe(0)
})
