import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join, relative } from 'node:path'
import { openStoreInspector } from '../../src/engine/storage/duckdb/inspect-store.ts'
import { openInstance } from '../../src/engine/storage/duckdb/instance.ts'
import { storeFile } from '../../src/engine/storage/duckdb/migrations.ts'
import { segmentHeader } from '../../src/engine/storage/log/frame.ts'
import { isFrame, scan, withSegment } from '../../src/engine/storage/log/segment.ts'
import { open } from '../../src/engine.ts'

// A directory as a killed process leaves it: records 1 to 30 are in the store's file, 31 to 60 in its write-ahead log, 61 to 90 in the log alone. And all
// that can happen to its files.

export const events = { inFile: 30, inStore: 60, all: 90 } as const
const batchSize = 5
const projectId = 1

export const projectOf = (dataDir: string, id = projectId) => join(dataDir, 'projects', String(id))
const storeOf = (project: string) => join(project, 'store.duckdb')
const logOf = (project: string) => join(project, 'log')
const segmentOf = (project: string) => join(logOf(project), '000000000001.arrow')

export const batch = (first: number, count = batchSize) =>
  Array.from({ length: count }, (_, i) => ({
    event: 'seen',
    distinct_id: `user ${(first + i) % 7}`,
    uuid: `00000000-0000-4000-8000-${String(first + i).padStart(12, '0')}`,
    timestamp: '2026-01-05T10:00:00Z',
    properties: { number: first + i, text: `${first + i}`.repeat(20) },
  }))

/** As if a process that is no more had been killed here. */
export function writeStaleLock(dataDir: string): void {
  const { pid } = spawnSync(process.execPath, ['--version'])
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  writeFileSync(join(dataDir, 'waymark.lock'), JSON.stringify({ pid, started: '1', boot, host: hostname(), since: '2026-01-05T10:00:00Z' }))
}

async function inspectStore(project: string) {
  const inspector = await openStoreInspector(project)
  try {
    return await inspector.inspect(storeOf(project))
  } finally {
    await inspector.close()
  }
}

export async function makeKilledDirectory(dataDir: string): Promise<void> {
  for (;;) {
    await makeOnce(dataDir)
    // An applier that was faster than the copy has left nothing to the log alone.
    const store = await inspectStore(projectOf(dataDir))
    if (store.state === 'sound' && store.appliedSeq === events.inStore) return
    rmSync(dataDir, { recursive: true })
  }
}

async function makeOnce(dataDir: string): Promise<void> {
  const original = `${dataDir}.original`
  const options = { dataDir: original, memoryLimit: '128MB', threads: 1, minFreeBytes: 0 }
  const ingest = async (project: { ingest(body: unknown): Promise<unknown> }, from: number, to: number) => {
    for (let first = from; first <= to; first += batchSize) await project.ingest({ batch: batch(first) })
  }
  const before = await open(options)
  await before.accounts.firstStart({ projectKey: 'phc_damage', personalKey: 'phx_damage' })
  await ingest(await before.project(projectId), 1, events.inFile)
  await before.close()
  const waymark = await open(options)
  const project = await waymark.project(projectId)
  await ingest(project, events.inFile + 1, events.inStore)
  await project.query({ kind: 'SqlLikeQuery', query: 'select count() from events' })
  await ingest(project, events.inStore + 1, events.all)
  cpSync(original, dataDir, { recursive: true })
  await waymark.close()
  rmSync(original, { recursive: true })
  writeStaleLock(dataDir)
}

const change = (path: string, work: (bytes: Buffer) => Buffer | undefined) => {
  const bytes = readFileSync(path)
  writeFileSync(path, work(bytes) ?? bytes)
}
const flip = (path: string, at: number, count = 1) =>
  change(path, (bytes) => {
    for (let i = at; i < at + count; i++) bytes[i] = bytes[i]! ^ 0x55
    return bytes
  })

export interface Places {
  /** Where the batch that holds a record begins and ends in the log. */
  readonly batchOf: (seq: number) => { readonly start: number; readonly end: number }
  /** A byte of the store that only reading everything meets. */
  readonly block: number
}

const firstBlock = 12_288
const blockBytes = 262_144

export async function findPlaces(project: string): Promise<Places> {
  const path = segmentOf(project)
  const frames: { firstSeq: number; start: number; end: number }[] = []
  await withSegment(path, async (bytes) => {
    for await (const found of scan(bytes, segmentHeader().length))
      if (isFrame(found)) frames.push({ firstSeq: found.firstSeq, start: found.offset, end: found.offset + found.frameBytes })
  })
  return { batchOf: (seq) => frames.findLast(({ firstSeq }) => firstSeq <= seq)!, block: await findBlock(project) }
}

/** A block whose damage attaching does not meet. */
async function findBlock(project: string): Promise<number> {
  const copy = `${project}.blocks`
  const { size } = statSync(storeOf(project))
  try {
    for (let at = firstBlock + 1000; at < size; at += blockBytes) {
      cpSync(project, copy, { recursive: true })
      flip(storeOf(copy), at)
      if ((await inspectStore(copy)).state === 'broken' && (await attaches(copy))) return at
    }
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
  throw new Error('no block of the store is read only when all of it is read')
}

async function attaches(project: string): Promise<boolean> {
  const instance = await openInstance({ dataDir: project, access: 'read' })
  try {
    await instance.attach('store', 'store.duckdb', storeFile)
    return true
  } catch {
    return false
  } finally {
    await instance.close()
  }
}

export const logDamages = {
  sound: () => undefined,
  'with a torn batch behind its end': (project: string, { batchOf }: Places) => {
    const { start, end } = batchOf(1)
    change(segmentOf(project), (bytes) => Buffer.concat([bytes, bytes.subarray(start, end - 40)]))
  },
  'flipped where the file has it': (project: string, { batchOf }: Places) => flip(segmentOf(project), batchOf(11).end - 60),
  'flipped where the write-ahead log has it': (project: string, { batchOf }: Places) => flip(segmentOf(project), batchOf(41).end - 60),
  'flipped where nothing else has it': (project: string, { batchOf }: Places) => flip(segmentOf(project), batchOf(71).end - 60),
  'cut in its last batch': (project: string, { batchOf }: Places) => truncateSync(segmentOf(project), batchOf(86).end - 60),
  'cut below the store': (project: string, { batchOf }: Places) => truncateSync(segmentOf(project), batchOf(41).end - 60),
  'cut to nothing': (project: string) => truncateSync(segmentOf(project), 0),
  gone: (project: string) => rmSync(logOf(project), { recursive: true }),
} as const satisfies Readonly<Record<string, (project: string, places: Places) => void>>
export type LogDamage = keyof typeof logDamages

export const storeDamages = {
  sound: () => undefined,
  'flipped in its header': (project: string) => flip(storeOf(project), 0, firstBlock),
  'flipped in a block': (project: string, { block }: Places) => flip(storeOf(project), block),
  gone: (project: string) => rmSync(storeOf(project)),
  'with a damaged write-ahead log': (project: string) => flip(`${storeOf(project)}.wal`, 80, 2),
} as const satisfies Readonly<Record<string, (project: string, places: Places) => void>>
export type StoreDamage = keyof typeof storeDamages

/** Both damages, done to a project's folder. */
export function damageProject(project: string, places: Places, log: LogDamage, store: StoreDamage): void {
  logDamages[log](project, places)
  storeDamages[store](project, places)
}

/** Every file and folder with a hash of its content and its rights. */
export function fingerprint(directory: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {}
  const visit = (path: string) => {
    const { mode } = statSync(path)
    const name = relative(directory, path)
    const isDirectory = statSync(path).isDirectory()
    const content = isDirectory ? 'directory' : createHash('sha256').update(readFileSync(path)).digest('hex')
    found[name] = `${(mode & 0o777).toString(8)} ${content}`
    if (isDirectory) for (const inner of readdirSync(path)) visit(join(path, inner))
  }
  visit(directory)
  return found
}
