import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { random } from '../../../bench/random.ts'
import { open } from '../../../src/engine.ts'
import type { LocalProject } from '../../../src/project.ts'
import { copiesIn } from '../../../src/service/backups/backups.ts'
import { restore } from '../../../src/service/backups/restore-directory.ts'
import { inspect } from '../../crash/harness.ts'
import { batchOf, clients, deedOf, stateAfter, stepOf } from '../../crash/workload.ts'

const steps = 400
const moments = 200
const everyCopy = 40

async function doStep(project: LocalProject, client: number, step: number): Promise<void> {
  const deed = deedOf(client, step)
  if (!deed) return void (await project.ingest({ batch: batchOf(client, step) }))
  const { results } = await project.sql<[string]>`select toString(person_id) from person_distinct_ids where distinct_id = ${deed.of}`
  const person = results[0]?.[0]
  if (person === undefined) return
  const changes = {
    write: { change: 'write', person, set: { note: deed.n }, unset: [] },
    split: { change: 'split', person, ids: null },
    delete: { change: 'delete', person, withEvents: true },
  } as const
  await project.changePersons([changes[deed.what]])
}

test(`at ${moments} random moments, merges, splits and deletions among them, a restored directory is what the model was then`, async () => {
  const draw = random(Number(process.env.WAYMARK_SEED ?? 20))
  const root = await mkdtemp(join(tmpdir(), 'waymark-moments-'))
  const place = join(root, 'place')
  let now = Date.UTC(2026, 5, 1)
  const clock = () => new Date(now)
  const done: { readonly at: number; readonly counts: readonly number[] }[] = []
  try {
    const waymark = await open({ dataDir: join(root, 'data'), clock, durability: 'os' })
    const project = await waymark.createProject()
    const counts = new Array<number>(clients).fill(0)
    await waymark.backup(place)
    for (let i = 1; i <= steps; i++) {
      now += 1 + Math.floor(draw() * 5_000)
      const client = Math.floor(draw() * clients)
      await doStep(project, client, counts[client]!++)
      done.push({ at: now, counts: [...counts] })
      if (i % everyCopy === 0) {
        now += 1
        await waymark.backup(place)
      }
    }
    await waymark.close()

    const copies = await copiesIn(place)
    const [first, last] = [Date.parse(copies[0]!.at), Date.parse(copies.at(-1)!.began_at)]
    for (let i = 0; i < moments; i++) {
      const at = first + Math.floor(draw() * (last - first))
      const expected = done.findLast((one) => one.at <= at)?.counts ?? new Array<number>(clients).fill(0)
      const dataDir = join(root, 'restored')
      await restore(place, dataDir, { at: new Date(at) })
      const { events } = await inspect(dataDir, join(dataDir, 'projects', '1', 'store.duckdb'), expected, () => undefined)
      const modelled = expected.map(
        (count, client) => stateAfter(Array.from({ length: count }, (_, step) => stepOf(client, step)).flat()).events.length,
      )
      expect(events, `at ${new Date(at).toISOString()}`).toBe(modelled.reduce((a, b) => a + b))
      await rm(dataDir, { recursive: true })
    }
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}, 1_800_000)
