import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openInstance } from '../../../../src/engine/storage/duckdb/instance.ts'

// Until its checkpoint a store has the contents of its write-ahead log in memory too: what counts is the sum of all stores.

test('the largest write-ahead logs are written to their files when all of them together are too large', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'waymark-checkpoints-'))
  const instance = await openInstance({ dataDir, memoryLimit: '64MiB', threads: 1 })
  try {
    const folder = (id: number) => join(dataDir, 'projects', String(id))
    const walOf = (id: number) => statSync(join(folder(id), 'store.duckdb.wal'), { throwIfNoEntry: false })?.size ?? 0
    const megabytes = [12, 3, 9, 1]
    for (const [i, size] of megabytes.entries()) {
      mkdirSync(folder(i + 1), { recursive: true })
      await instance.attachProject(i + 1)
      for (let j = 0; j < size; j++)
        await instance.run(
          `INSERT INTO p${i + 1}.main.person_versions SELECT r, r, repeat(md5((r * ${j + 1})::VARCHAR), 64) FROM range(512) t(r)`,
        )
    }
    const before = megabytes.map((_, i) => walOf(i + 1))
    expect(before.reduce((a, b) => a + b)).toBeGreaterThan(24e6) // three quarters of half of the memory
    await instance.checkpointLargest()
    expect(megabytes.map((_, i) => walOf(i + 1) < before[i]!)).toEqual([true, false, false, false])
    await instance.checkpointLargest()
    expect(walOf(3), 'what is small enough stays').toBe(before[2])
  } finally {
    await instance.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
})
