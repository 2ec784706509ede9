import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { open } from '../../../src/engine.ts'
import { program } from '../../harness/programs.ts'

// A process is killed while it compacts a store: the next one opens the old file or the new one, with the same rows, and repairs nothing.

let root: string
let digest: unknown
const events = 30_000
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'waymark-compact-kills-'))
  const waymark = await open({ dataDir: join(root, 'made'), memoryLimit: '512MB', threads: 2, minFreeBytes: 0 })
  const project = await waymark.createProject()
  for (let from = 0; from < events; from += 5_000)
    await project.ingest({
      batch: Array.from({ length: 5_000 }, (_, i) => ({
        event: 'looked',
        distinct_id: `u${(from + i) % 40}`,
        timestamp: '2026-03-01T10:00:00Z',
        properties: { n: from + i, note: Array.from({ length: 9 }, (_, k) => Math.imul((from + i) * 31 + k, 2654435761) >>> 0).join('-') },
      })),
    })
  const query =
    "select distinct person_id from events where distinct_id in ('u1', 'u3', 'u5', 'u7', 'u9', 'u11', 'u13', 'u15', 'u17', 'u19')"
  const { results } = await project.query({ kind: 'SqlLikeQuery', query })
  await project.deletePersons(
    (results as string[][]).map(([person]) => person!),
    true,
  )
  digest = await project.digest()
  await waymark.close()
}, 120_000)
afterAll(() => rmSync(root, { recursive: true, force: true }))

async function opened(dataDir: string): Promise<{ digest: unknown; n: number; notices: readonly string[]; left: readonly string[] }> {
  const notices: string[] = []
  const waymark = await open({
    dataDir,
    memoryLimit: '512MB',
    threads: 2,
    minFreeBytes: 0,
    onRecovery: ({ kind }) => notices.push(kind),
  })
  try {
    const project = await waymark.project(1)
    const [[n]] = (await project.query({ kind: 'SqlLikeQuery', query: 'select count() from events' })).results as [[number]]
    const left = readdirSync(join(dataDir, 'projects', '1')).filter((name) => name.includes('compact'))
    return { digest: await project.digest(), n, notices, left }
  } finally {
    await waymark.close()
  }
}

const steps = ['copied', 'closed', 'begun', 'without-notes', 'renamed', 'durable', 'opened'].map((step) => ['step', step] as const)
const times = [20, 80, 200, 350, 500, 700].map((ms) => ['after', String(ms)] as const)
test.each([...steps, ...times])('killed: %s %s', async (how, what) => {
  const dataDir = join(root, `${how}-${what}`)
  cpSync(join(root, 'made'), dataDir, { recursive: true })
  const { signal, stderr } = spawnSync(process.execPath, [program('compact-kills'), dataDir, how, what], { encoding: 'utf8' })
  if (how === 'step') expect([signal, stderr]).toEqual(['SIGKILL', ''])
  // Before it replaces the store the copy is beside it; afterwards it is the store.
  if (how === 'step')
    expect(existsSync(join(dataDir, 'projects', '1', 'store.duckdb.compact.new'))).toBe(
      ['copied', 'closed', 'begun', 'without-notes'].includes(what),
    )
  expect(await opened(dataDir)).toEqual({ digest, n: events * 0.75, notices: [], left: [] })
  rmSync(dataDir, { recursive: true })
})

test.each(['one', 'two'])('killed at any time while events arrive, %s process: all that was acknowledged is there once', async (what) => {
  const dataDir = join(root, `loop-${what}`)
  cpSync(join(root, 'made'), dataDir, { recursive: true })
  let compacted = 0
  for (const round of [0, 1, 2, 3, 4]) {
    const child = spawn(process.execPath, [program('compact-kills'), dataDir, 'loop', what], { stdio: ['ignore', 'pipe', 'inherit'] })
    let acknowledged = 0
    const waitsFor = round % 2 ? /^compacted$/ : /^\d+$/
    const begun = new Promise<void>((resolve) => {
      createInterface(child.stdout).on('line', (line) => {
        if (line === 'compacted') compacted++
        else if (/^\d+$/.test(line)) acknowledged = Number(line)
        if (waitsFor.test(line)) resolve()
      })
    })
    await begun
    setTimeout(() => child.kill('SIGKILL'), 200 + round * 400)
    await once(child, 'close')
    const { n, notices, left } = await opened(dataDir)
    // The batch in flight may be there too.
    expect([0, 50]).toContain(n - acknowledged)
    expect([notices, left]).toEqual([[], []])
  }
  expect(compacted).toBeGreaterThan(0)
  const found = await opened(dataDir)
  for (const name of readdirSync(join(dataDir, 'projects', '1')))
    if (name !== 'log' && name !== 'log.position') rmSync(join(dataDir, 'projects', '1', name), { recursive: true })
  expect((await opened(dataDir)).digest).toEqual(found.digest) // made anew from the log
  rmSync(dataDir, { recursive: true })
})
