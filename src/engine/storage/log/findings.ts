import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { WaymarkError } from '../../../errors/errors.ts'
import { leftovers } from './compressing.ts'
import { formatOfHeader, headerFormat, logFormat, segmentHeader } from './frame.ts'
import type { LogDamage } from './log.ts'
import { isFrame, listSegments, type Segment, type SegmentBytes, scan, walkSegment, withSegment } from './segment.ts'

/** What is incomplete, or not certain to be durable, and what opening does about it. */
type Remains =
  | { readonly action: 'write-header' | 'remove' | 'set-aside' | 'sync'; readonly path: string }
  | { readonly action: 'cut'; readonly path: string; readonly bytes: number }

/** The contents of a log's files. Reading them changes nothing. */
export interface LogFindings {
  readonly directory: string
  /** Oldest first. The newest ends after its last complete batch. */
  readonly segments: readonly Segment[]
  readonly lastSeq: number
  /** Damaged ranges in the newest segment, and the records up to `position` that are missing at the end. */
  readonly damages: readonly LogDamage[]
  readonly remains: readonly Remains[]
}

/** `position`: the last record that was certainly durable, 0 if unknown. */
export async function inspectLog(directory: string, position = 0): Promise<LogFindings> {
  const segments: Segment[] = []
  const names = await listSegments(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  for (const { name, firstSeq } of names) {
    const path = join(directory, name)
    segments.push({ path, firstSeq, bytes: (await stat(path)).size })
  }
  const damages: LogDamage[] = []
  const remains: Remains[] = (await leftovers(directory)).map((path) => ({ action: 'remove', path }))
  let known = position
  let lastSeq = 0
  for (let newest = segments.at(-1); newest; newest = segments.at(-1)) {
    const tail = await inspectTail(newest, known)
    lastSeq = tail.lastSeq
    damages.push(...tail.damages)
    remains.push(...tail.remains)
    if (tail.bytes > 0) {
      newest.bytes = tail.bytes
      // A process that was killed has perhaps not synced its last records: the store must not get them before they are durable here.
      if (lastSeq > position) remains.push({ action: 'sync', path: newest.path })
      break
    }
    segments.pop()
    known = Math.max(known, newest.firstSeq - 1) // or it would have another name
  }
  if (known > lastSeq) {
    const newest = segments.at(-1)
    damages.push({ file: newest?.path ?? directory, offset: newest?.bytes ?? 0, fromSeq: lastSeq + 1, toSeq: known })
  }
  return { directory, segments, lastSeq, damages, remains }
}

/** The sequence number of the oldest record, `lastSeq + 1` if the log is empty. */
export const firstSeqOf = ({ segments, lastSeq }: Pick<LogFindings, 'segments' | 'lastSeq'>): number => segments[0]?.firstSeq ?? lastSeq + 1

/** Damage in the newest segment and at the end, and every older range that a reader from `fromSeq` on would meet: it reads everything from there. */
export async function findDamages(findings: LogFindings, fromSeq: number): Promise<readonly LogDamage[]> {
  const { segments, directory } = findings
  const found: LogDamage[] = []
  for (const [i, segment] of segments.slice(0, -1).entries()) {
    const end = segments[i + 1]!.firstSeq
    if (end <= fromSeq) continue
    for await (const range of walkSegment(segment, directory, Math.max(fromSeq, segment.firstSeq), end))
      if (!isFrame(range)) found.push(range)
  }
  return [...found, ...findings.damages]
}

/** Truncates what was never acknowledged. Without `isTorn` the end is damage: it is not changed, and the next segment's name shows where it ends. */
export async function repairLog({ remains }: LogFindings, isTorn: boolean): Promise<void> {
  const header = segmentHeader()
  for (const one of remains) {
    if (one.action === 'remove') await rm(one.path)
    if (one.action === 'set-aside') await rename(one.path, `${one.path}.broken-${Date.now()}`)
    if (one.action === 'write-header') await change(one.path, (handle) => handle.write(header, 0, header.length, 0))
    if (one.action === 'sync') await change(one.path, async () => undefined)
    if (one.action === 'cut' && isTorn) await change(one.path, (handle) => handle.truncate(one.bytes))
  }
}

async function change(path: string, work: (handle: FileHandle) => Promise<unknown>): Promise<void> {
  const handle = await open(path, 'r+')
  try {
    await work(handle)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

interface Tail {
  readonly lastSeq: number
  /** Of its file, to the end of its readable part; 0 if nothing is readable. */
  readonly bytes: number
  readonly damages: readonly LogDamage[]
  readonly remains: readonly Remains[]
}

/** A header of another format may be longer. */
const longestHeader = 64 * 1024

async function startOf(bytes: SegmentBytes, length: number): Promise<Buffer> {
  const start = Buffer.alloc(Math.min(length, bytes.size))
  await bytes.read(start, 0)
  return start
}

/** `bytes`: of its plain form. A compressed one was closed: all of it was durable, and none of it is changed. */
const inspectTail = (segment: Segment, position: number): Promise<Tail> =>
  withSegment(
    segment.path,
    async (bytes) => {
      const header = segmentHeader().length
      const { path, firstSeq } = segment
      const known = formatOfHeader(await startOf(bytes, header))
      const hasHeader = known !== null
      const format = known ?? headerFormat(await startOf(bytes, longestHeader))
      if (format !== null && format > logFormat) throw new WaymarkError('newer-format', { file: path, found: format, supported: logFormat })
      const found = await findBatches(bytes, segment, hasHeader ? header : 0, position)
      const { lastSeq, damages } = found
      if (found.bytes === 0 && !hasHeader) return emptyTail(segment, bytes.size, position)
      const end = found.bytes || header
      if (lastSeq < firstSeq && position >= firstSeq) return { lastSeq, bytes: 0, damages, remains: [{ action: 'set-aside', path }] }
      if (bytes.isCompressed) {
        const isLost = end < bytes.size && position <= lastSeq
        const lost = isLost ? [{ file: path, offset: end, fromSeq: lastSeq + 1, toSeq: null }] : []
        return { lastSeq, bytes: segment.bytes, damages: [...damages, ...lost], remains: [] }
      }
      const remains: Remains[] = hasHeader ? [] : [{ action: 'write-header', path }]
      if (end < segment.bytes) remains.push({ action: 'cut', path, bytes: end })
      return { lastSeq, bytes: end, damages, remains }
    },
    segment.bytes,
  )

/** Its header is incomplete. If it is this short, it was never acknowledged; if it is longer, that is unknown, so it is kept for inspection. */
function emptyTail({ path, firstSeq }: Segment, bytes: number, position: number): Tail {
  const isShort = bytes <= segmentHeader().length
  const damages = isShort || position > 0 ? [] : [{ file: path, offset: 0, fromSeq: firstSeq, toSeq: null }]
  return { lastSeq: firstSeq - 1, bytes: 0, damages, remains: [{ action: isShort ? 'remove' : 'set-aside', path }] }
}

/**
 * Groups are written in sequence. A gap followed only by its own group was left by a crash: that group was never
 * acknowledged, and its rest is truncated. A gap followed by a later group, or by a record that was certainly durable, is damage: it is reported, and
 * the data after it is kept.
 */
async function findBatches(opened: SegmentBytes, segment: Segment, start: number, position: number) {
  const frames: { offset: number; end: number; firstSeq: number; nextSeq: number; groupSeq: number }[] = []
  for await (const found of scan(opened, start)) {
    if (!isFrame(found)) continue
    const { offset, firstSeq, rows, groupSeq, frameBytes } = found
    frames.push({ offset, end: offset + frameBytes, firstSeq, nextSeq: firstSeq + rows, groupSeq })
  }
  const damages: LogDamage[] = []
  const lastGroup = frames.at(-1)?.groupSeq ?? 0
  let next = segment.firstSeq
  let bytes = 0
  for (const frame of frames) {
    if (frame.firstSeq !== next) {
      if (!opened.isCompressed && lastGroup <= next && frame.firstSeq > position) break
      damages.push({ file: segment.path, offset: bytes, fromSeq: next, toSeq: frame.firstSeq - 1 })
    }
    next = frame.nextSeq
    bytes = frame.end
  }
  return { lastSeq: next - 1, bytes, damages }
}
