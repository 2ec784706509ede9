import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { BatchExport } from '../../../src/service/accounts/records.ts'
import { noOp } from '../../../src/service/exports/destinations/no-op.ts'
import { cutNext } from '../../../src/service/exports/running/cutting.ts'
import { type RunParts, runExport } from '../../../src/service/exports/running/run.ts'
import type { SchedulerParts } from '../../../src/service/exports/running/scheduler-parts.ts'

const rowsOf = (measured: number, written: number): RunParts['rows'] => ({
  measure: async () => ({ rows: measured, keys: [1, measured] }),
  stage: async () => ({ rows: written, bytes: 10 * written }),
})

async function exported(rows: RunParts['rows'], where: string | null): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), 'waymark-export-sums-'))
  try {
    const range = { by: 'arrival', after: 0, to: 3 }
    return await runExport({
      rows,
      selection: { model: 'events', fields: [], where, tableAlias: null, filters: null, include: [], exclude: [], range },
      destination: noOp,
      config: {},
      run: { id: 'run' },
      outside: {},
      stagingFolder: join(folder, 'run'),
      signal: new AbortController().signal,
      onProgress: async () => undefined,
    } as unknown as RunParts)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

test('a run that writes more events than its range has is not published', async () => {
  expect(await exported(rowsOf(3, 3), null)).toMatchObject({ rows: 3 })
  expect(await exported(rowsOf(3, 2), null)).toMatchObject({ rows: 2 }) // some were deleted meanwhile
  await expect(exported(rowsOf(3, 4), null)).rejects.toEqual(expect.objectContaining({ invariant: 'export rows within range' }))
  expect(await exported(rowsOf(3, 4), 'person.properties.plan = 1')).toMatchObject({ rows: 4 }) // persons have changed meanwhile
})

test('a run whose rows would end before those of the run before is not made', async () => {
  const record = {
    id: 'export',
    interval: 'hour',
    cut_at: new Date('2026-03-02T10:00:00Z'),
    cut_position: { position: 10, isFinal: true },
    start_at: null,
    end_at: null,
  } as unknown as BatchExport
  const parts = {
    context: {
      clock: () => new Date('2026-03-02T12:00:00Z'),
      newId: () => 'run',
      store: { read: { batch_export_runs: { first: async () => undefined } }, write: async () => undefined },
    },
    rows: async () => ({ positionAt: async () => 9 }),
  } as unknown as SchedulerParts
  await expect(cutNext(parts, record)).rejects.toEqual(expect.objectContaining({ invariant: 'export ranges follow' }))
})
