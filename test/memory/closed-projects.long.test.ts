import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { open, type Waymark } from '../../src/index.ts'
import { collectGarbage } from '../../src/lib/memory/collect-garbage.ts'

// A directory of many projects, of which few are open at a time: what was closed leaves no memory behind, neither here nor in the engine.

const projects = 20
let folder: string
let waymark: Waymark
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-closed-'))
  waymark = await open({ dataDir: folder, memoryLimit: '128MiB', threads: 2, durability: 'os' })
  for (let i = 0; i < projects; i++) await waymark.createProject({ name: `Project ${i}` })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const round = async (n: number) => {
  for (const { id } of await waymark.projects()) {
    const project = await waymark.project(id)
    await project.ingest({ batch: [{ event: 'seen', distinct_id: `u${n}`, properties: { n } }] })
    const { results } = (await project.query({ kind: 'SqlLikeQuery', query: 'select count() from events' })) as {
      readonly results: readonly unknown[]
    }
    expect(results).toEqual([[n + 1]])
  }
  collectGarbage()
  return process.memoryUsage().arrayBuffers / 1024 ** 2
}

test('projects that were written to, asked and closed leave no buffers; all are closed with their events', async () => {
  const before = await round(0)
  // Each open one has 3 MB of buffers for its two writers.
  expect((await round(1)) - before).toBeLessThan(projects)
  await waymark.close()
  const again = await open({ dataDir: folder })
  expect((await again.projects()).length).toBe(projects)
  await again.close()
})
