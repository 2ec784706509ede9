import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type LocalWaymark, open } from '../src/engine.ts'
import type { LocalProject } from '../src/project.ts'

// Each event changes a person, and all of a transaction are different people: what is written anew must not stay in memory.

const people = 20_000
const batch = (round: number, first: number) =>
  Array.from({ length: 1000 }, (_, i) => ({
    event: 'visited',
    distinct_id: `u${first + i}`,
    timestamp: new Date(Date.UTC(2026, 0, 1 + round) + first + i).toISOString(),
    properties: { $current_url: `https://example.com/${round}/${'x'.repeat(600)}`, $browser: `b${round}`, $os: 'Linux' },
  }))

test('an import that changes every person again and again needs little memory', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'waymark-memory-'))
  const answers = async (project: LocalProject, query: string) =>
    ((await project.query({ kind: 'SqlLikeQuery', query })) as { results: unknown }).results
  try {
    const waymark = await open({ dataDir, memoryLimit: '128MiB', onError: () => undefined })
    const { id } = await fill(waymark, answers).finally(() => waymark.close())
    const again = await open({ dataDir }) // questions may need more
    const latest = "select count() from persons where properties.$browser = 'b1' and properties.$initial_browser = 'b0'"
    expect(await answers(await again.project(id), latest).finally(() => again.close())).toEqual([[people]])
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
})

async function fill(waymark: LocalWaymark, answers: (project: LocalProject, query: string) => Promise<unknown>) {
  const project = await waymark.createProject()
  for (let round = 0; round < 2; round++)
    for (let first = 0; first < people; first += 1000) await project.ingest({ historical_migration: true, batch: batch(round, first) })
  expect(await answers(project, 'select count() from events')).toEqual([[2 * people]])
  return project
}
