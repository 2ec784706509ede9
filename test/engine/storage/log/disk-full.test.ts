import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { FileLog } from '../../../../src/engine/storage/log/file-log.ts'
import type { LogBatch } from '../../../../src/engine/storage/log/log.ts'
import { Texts } from '../../../../src/lib/text/texts.ts'

// A real full disk: 1 MiB of memory, mounted. The same failures from an injected disk are in log.test.ts, and run everywhere.

const mountPoint = mkdtempSync(join(tmpdir(), 'waymark-full-'))
const isMounted = process.platform === 'linux' && spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', mountPoint]).status === 0
if (!isMounted) console.warn('NOT RUN: a really full disk. It takes the right to mount a tmpfs (root on Linux).')
afterAll(() => {
  if (isMounted) spawnSync('umount', [mountPoint])
  rmSync(mountPoint, { recursive: true, force: true })
})

const batch = (payload: string): LogBatch => ({
  kind: 'event',
  receivedAt: 0,
  sentAt: null,
  historical: false,
  ip: null,
  uuids: ['u'],
  payloads: Texts.of([payload]),
})
const fill = async (log: FileLog): Promise<{ taken: number; error: unknown }> => {
  for (let taken = 0; ; taken++) {
    const failure = await log.append(batch('x'.repeat(50_000))).catch((error: unknown) => ({ error }))
    if ('error' in failure) return { taken, error: failure.error }
  }
}
const count = async (log: FileLog) => {
  let records = 0
  for await (const found of log.read(1)) records += found.uuids.length
  return records
}

test.skipIf(!isMounted).each([
  ['the floor of free space', 300_000],
  ['the disk itself', 0],
])('%s refuses batches whole, and space that is back is used at once', async (_, minFreeBytes) => {
  const directory = join(mountPoint, String(minFreeBytes))
  const ballast = join(mountPoint, 'ballast')
  writeFileSync(ballast, Buffer.alloc(200_000))
  let log = await FileLog.open(directory, { minFreeBytes })
  const { taken, error } = await fill(log)
  expect(error).toMatchObject({ code: 'disk-full', isRetryable: true, data: { floor: minFreeBytes } })
  expect(taken).toBeGreaterThan(3)
  expect([log.lastSeq, await count(log)]).toEqual([taken, taken])
  await expect(log.append(batch('x'.repeat(50_000)))).rejects.toMatchObject({ code: 'disk-full' })

  rmSync(ballast)
  expect(await log.append(batch('x'.repeat(50_000)))).toEqual({ firstSeq: taken + 1 })
  await log.close()
  log = await FileLog.open(directory, { minFreeBytes })
  expect([log.lastSeq, await count(log), log.damages]).toEqual([taken + 1, taken + 1, []])
  await log.close()
  const size = readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)
  expect(size).toBeLessThan((taken + 1) * 52_000) // nothing of what was refused is left
  rmSync(directory, { recursive: true })
})
