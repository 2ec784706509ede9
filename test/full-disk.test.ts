import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { open } from '../src/engine.ts'

// A whole Waymark on a disk that is really full: 64 MiB of memory, mounted.

const mountPoint = mkdtempSync(join(tmpdir(), 'waymark-full-'))
const isMounted = process.platform === 'linux' && spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', mountPoint]).status === 0
if (!isMounted) console.warn('NOT RUN: a Waymark on a really full disk. It takes the right to mount a tmpfs (root on Linux).')
afterAll(() => {
  if (isMounted) spawnSync('umount', ['-l', mountPoint])
  rmSync(mountPoint, { recursive: true, force: true })
})

const ballast = join(mountPoint, 'ballast')
const freeBytes = () => statfsSync(mountPoint).bavail * statfsSync(mountPoint).bsize
const fillDisk = () => writeFileSync(ballast, Buffer.alloc(freeBytes()))
const batch = (first: number) =>
  Array.from({ length: 500 }, (_, i) => ({
    event: 'seen',
    distinct_id: `u${(first + i) % 100}`,
    uuid: `00000000-0000-4000-8000-${String(first + i).padStart(12, '0')}`,
    properties: { text: `${first + i}`.padEnd(300, 'x'), $set: { last: first + i } },
  }))

test.skipIf(!isMounted)(
  'what was acknowledged before the disk was full is there after it was closed in that state',
  async () => {
    const dataDir = join(mountPoint, 'data')
    const waymark = await open({ dataDir, minFreeBytes: 0, onError: () => undefined })
    const project = await waymark.createProject()
    let acknowledged = 0
    for (; acknowledged < 5000; acknowledged += 500) await project.ingest({ batch: batch(acknowledged) })
    fillDisk() // some of the events are in the log only
    await expect(project.ingest({ batch: batch(acknowledged) })).rejects.toMatchObject({ code: 'disk-full', isRetryable: true })
    const closed = await waymark.close().catch((error: unknown) => error)
    if (closed) expect(closed).toMatchObject({ code: 'unclean-close', message: expect.stringContaining('Nothing acknowledged is lost') })
    expect(existsSync(join(dataDir, 'control.duckdb'))).toBe(true)

    rmSync(ballast)
    const again = await open({ dataDir, minFreeBytes: 0 })
    const sameProject = await again.project(1)
    const counted = { kind: 'SqlLikeQuery', query: 'select count(), uniq(uuid), uniq(person_id) from events' }
    expect(await sameProject.answer(counted)).toHaveProperty('results', [[acknowledged, acknowledged, 100]])
    expect(await sameProject.ingest({ batch: batch(acknowledged - 250) })).toMatchObject({ accepted: 250, duplicates: 250 })
    await again.close()
  },
  60_000,
)
