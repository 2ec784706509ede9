import { expect, test } from 'vitest'
import { dueRows } from '../../../src/service/jobs/due-rows.ts'
import { memoryStore } from './memory-store.ts'

const now = new Date('2026-01-05T10:00:00Z')
const at = (seconds: number) => new Date(now.getTime() + seconds * 1000)

test('a project with more than are read at a time does not hide what is due in others', async () => {
  const store = memoryStore(['projects', 'plugin_jobs'])
  await store.write(async (tables) => {
    for (const id of [1, 2, 3, 4]) await tables.projects.insert({ id } as never)
    const add = (project_id: number, due_at: Date, id: string) =>
      tables.plugin_jobs.insert({ id, project_id, due_at, payload: 'megabytes' } as never)
    for (let i = 0; i < 50; i++) await add(1, at(-1_000 + i), `one ${i}`)
    for (let i = 0; i < 20; i++) await add(2, at(-500 + i), `two ${i}`)
    await add(3, at(-1), 'three')
    await add(4, at(5), 'four')
  })
  const { rows, next } = await dueRows(store.read, store.read.plugin_jobs, {}, now, 10, ['payload'])
  expect(new Set(rows.map(({ payload }) => payload))).toEqual(new Set([null]))
  const ofProject = (id: number) => rows.filter(({ project_id }) => project_id === id).map((row) => row.id)
  expect(ofProject(1)).toEqual(Array.from({ length: 10 }, (_, i) => `one ${i}`))
  expect(ofProject(2)).toEqual(Array.from({ length: 10 }, (_, i) => `two ${i}`))
  expect([ofProject(3), ofProject(4)]).toEqual([['three'], []])
  expect(next).toBe(at(5).getTime())
  expect((await dueRows(store.read, store.read.plugin_jobs, {}, at(-2_000), 10)).rows).toEqual([])
})
