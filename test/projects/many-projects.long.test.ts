import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../src/engine.ts'
import type { LocalProject } from '../../src/project.ts'
import { manyProjects } from './many-projects.ts'

// A directory with more projects than its memory holds open: each takes about 8 MB of the engine.

let dataDir: string
const errors: unknown[] = []
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'waymark-many-'))
  errors.length = 0
})
afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

const count = async (project: LocalProject) => {
  const { results } = (await project.query({ kind: 'SqlLikeQuery', query: 'select count() from events' })) as { results: unknown }
  return results
}
const opened = (waymark: LocalWaymark) => waymark.condition().then(({ projects }) => projects)

test.each([false, true])('sixty projects, an event each, with the memory of sixteen (engine in another process: %s)', async (isolate) => {
  const waymark = await open({ dataDir, isolate, memoryLimit: '128MB', minFreeBytes: 0, onError: (error) => errors.push(error) })
  try {
    const projects: LocalProject[] = []
    for (let i = 0; i < 60; i++) {
      const project = await waymark.createProject({ name: `Project ${i}` })
      await project.ingest({ batch: [{ event: 'x', distinct_id: 'u' }] })
      projects.push(project)
    }
    expect(await opened(waymark)).toBeLessThanOrEqual(16)
    // Objects from before: their stores have been closed meanwhile.
    for (const project of projects) await project.ingest({ batch: [{ event: 'y', distinct_id: 'u' }] })
    for (const project of projects) expect(await count(project)).toEqual([[2]])
    expect(await Promise.all(projects.slice(0, 20).map(count)), 'at a time').toEqual(Array.from({ length: 20 }, () => [[2]]))
    expect(errors).toEqual([])
  } finally {
    await waymark.close()
  }
  const again = await open({ dataDir, memoryLimit: '128MB', onError: (error) => errors.push(error) })
  try {
    expect(await opened(again), 'nobody has asked for any').toBe(0)
    for (const { id } of await again.projects()) expect(await count(await again.project(id))).toEqual([[2]])
  } finally {
    await again.close()
  }
})

test('rows that are read slowly keep their project open, and those of others are closed', async () => {
  const waymark = await open({ dataDir, memoryLimit: '128MB', minFreeBytes: 0, onError: (error) => errors.push(error) })
  try {
    const first = await waymark.createProject({ name: 'First' })
    await first.ingest({ batch: Array.from({ length: 20_000 }, (_, i) => ({ event: 'x', distinct_id: `u${i % 7}`, properties: { i } })) })
    const rows = first.queryArrowBatches({ kind: 'SqlLikeQuery', query: 'select properties.i from events' })
    let read = ((await rows.next()).value as { numRows: number }).numRows
    for (let i = 0; i < 20; i++) {
      const other = await waymark.createProject({ name: `Other ${i}` })
      await other.ingest({ batch: [{ event: 'x', distinct_id: 'u' }] })
    }
    for await (const batch of rows) read += batch.numRows
    expect(read).toBe(20_000)
    expect(errors).toEqual([])
  } finally {
    await waymark.close()
  }
})

test('a server, drawn at random: nothing is refused and nothing is lost', async () => {
  const cli = join(import.meta.dirname, '../../src/doors/cli/main.ts')
  const result = await manyProjects({
    small: 60,
    large: 2,
    smallEvents: 20,
    largeEvents: 20_000,
    seconds: 20,
    rate: 4,
    memory: '128MB',
    seed: 7,
    program: ['--import', 'tsx', cli],
  })
  expect(result).toMatchObject({ refused: [], lost: [], engineEnds: 0, requests: 80 })
})
