import { type FileHandle, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { crc32 } from '../../../../lib/ids/crc32.ts'
import { reading } from '../../files/locked-files.ts'
import { type DatabaseHead, headBytes, isWhole, readHead } from './database-file.ts'

// Tells a database file that was copied at one moment from one that was copied while it changed, which DuckDB itself opens and answers from. Beside each file are
// notes about its last checkpoint: the checksums of the blocks that it uses, those of the used parts of blocks with metadata (whose free parts are written before
// the next checkpoint ends), and the first bytes of the write-ahead log that followed. A copy is whole if its blocks and log are those of its notes, in whatever
// order its files were copied.

/** Parts of a block with metadata. */
const parts = 64
const noPointer = 0xffff_ffff_ffff_ffffn
const leastLog = 64
const mostLog = 4_096
/** How often commits have the file looked at. */
const betweenLooksMs = 500
const magic = 'waymark blocks 1'

interface Notes {
  readonly iteration: string
  /** By block: the checksum that it states; null: the checkpoint does not use it, or it has metadata. */
  readonly sums: readonly (string | null)[]
  /** Block number, and the checksum of each used part. */
  readonly metadata: Readonly<Record<string, readonly (number | null)[]>>
  /** The first bytes of the write-ahead log; null: it has none yet. */
  readonly log: { readonly bytes: number; readonly checksum: number } | null
}

const notesPath = (file: string): string => `${file}.blocks`

export class BlockNotes {
  private readonly file: string
  private notes: Notes | null = null
  private isLogNoted = false
  private lookedAt = 0
  private working: Promise<void> = Promise.resolve()
  private isClosed = false

  constructor(file: string) {
    this.file = file
  }

  /** After a checkpoint, or when one may have been done. */
  look(): Promise<void> {
    this.lookedAt = performance.now()
    return this.next(() => this.noteBlocks())
  }

  /** After a commit, which may have done a checkpoint too. */
  committed(): void {
    const isLate = performance.now() - this.lookedAt > betweenLooksMs
    if (!this.isLogNoted) void this.next(() => this.noteLog())
    else if (isLate) void this.look()
  }

  /** Waits for what is being noted. */
  async close(): Promise<void> {
    this.isClosed = true
    await this.working
  }

  async remove(): Promise<void> {
    await rm(notesPath(this.file), { force: true })
  }

  /** Without notes a copy of the file is not refused: they are not worth an error. */
  private next(work: () => Promise<void>): Promise<void> {
    this.working = this.working.then(() => (this.isClosed ? undefined : work())).catch(() => undefined)
    return this.working
  }

  private async noteBlocks(): Promise<void> {
    await reading(this.file, async (handle) => {
      const head = await readHead(handle)
      if (!head) return
      this.notes ??= await readNotes(this.file)
      if (this.notes?.iteration === String(head.iteration)) {
        this.isLogNoted = this.notes.log !== null
        return
      }
      const made = await notesOf(handle, head, this.notes)
      // Another checkpoint may have begun to write.
      if ((await readHead(handle))?.iteration !== head.iteration) return
      this.notes = made
      this.isLogNoted = false
      await writeNotes(this.file, made)
    })
  }

  private async noteLog(): Promise<void> {
    const log = await firstOfLog(this.file)
    if (!log || !this.notes) return
    const head = await reading(this.file, readHead)
    if (String(head?.iteration) !== this.notes.iteration) return this.noteBlocks()
    this.notes = { ...this.notes, log: { bytes: log.length, checksum: crc32(log) } }
    this.isLogNoted = true
    await writeNotes(this.file, this.notes)
  }
}

/** What is wrong with a file that was copied with its directory; null if nothing is, or if there are no notes about it. */
export async function tornPart(file: string): Promise<string | null> {
  const notes = await readNotes(file)
  if (!notes) return null
  const handle = await open(file, 'r')
  try {
    const head = await readHead(handle)
    if (!head) return 'its header cannot be read'
    if (String(head.iteration) !== notes.iteration) return 'a checkpoint was done while it was copied'
    const block = Buffer.alloc(head.blockBytes)
    for (const [number, sum] of notes.sums.entries()) {
      const known = notes.metadata[number]
      if (sum === null && !known) continue
      await handle.read(block, 0, head.blockBytes, offsetOf(head, number))
      const isSame = known ? sameParts(block, head, known) : block.readBigUInt64LE(0).toString(36) === sum && isWhole(block)
      if (!isSame) return `block ${number} was written while it was copied`
    }
  } finally {
    await handle.close()
  }
  const log = await firstOfLog(file, notes.log?.bytes)
  if (!log) return null
  if (!notes.log) return 'its write-ahead log may be that of another checkpoint'
  return log.length === notes.log.bytes && crc32(log) === notes.log.checksum ? null : 'its write-ahead log is that of another checkpoint'
}

const offsetOf = ({ blockBytes }: DatabaseHead, number: number): number => headBytes + number * blockBytes
const partBytes = ({ blockBytes }: DatabaseHead): number => Math.floor(Math.floor((blockBytes - 8) / parts) / 8) * 8
const partOf = (block: Buffer, head: DatabaseHead, index: number): Buffer =>
  block.subarray(8 + index * partBytes(head), 8 + (index + 1) * partBytes(head))
const sameParts = (block: Buffer, head: DatabaseHead, known: readonly (number | null)[]): boolean =>
  known.every((sum, index) => sum === null || crc32(partOf(block, head, index)) === sum)

async function notesOf(handle: FileHandle, head: DatabaseHead, before: Notes | null): Promise<Notes> {
  const { free, metadata } = await readFreeList(handle, head)
  const sums: (string | null)[] = []
  const start = Buffer.alloc(8)
  for (let number = 0; number < head.blockCount; number++) {
    if (free.has(number) || metadata.has(number)) {
      sums.push(null)
      continue
    }
    // A block that the last checkpoint used too has not changed.
    const known = before?.sums[number]
    if (known) {
      sums.push(known)
      continue
    }
    await handle.read(start, 0, 8, offsetOf(head, number))
    sums.push(start.readBigUInt64LE(0).toString(36))
  }
  const noted: Record<string, (number | null)[]> = {}
  const block = Buffer.alloc(head.blockBytes)
  for (const [number, freeParts] of metadata) {
    await handle.read(block, 0, head.blockBytes, offsetOf(head, number))
    noted[number] = Array.from({ length: parts }, (_, i) => ((freeParts >> BigInt(i)) & 1n ? null : crc32(partOf(block, head, i))))
  }
  return { iteration: String(head.iteration), sums, metadata: noted, log: null }
}

/** The blocks that the last checkpoint does not use, and those with metadata, with a bit for each free part. */
async function readFreeList(handle: FileHandle, head: DatabaseHead): Promise<{ free: Set<number>; metadata: Map<number, bigint> }> {
  const size = partBytes(head)
  const part = Buffer.alloc(size)
  let pointer = head.freeList
  let at = size
  const turn = async () => {
    if (pointer === noPointer) throw new Error('The list of free blocks ends too early')
    const number = Number(pointer & 0x00ff_ffff_ffff_ffffn)
    await handle.read(part, 0, size, offsetOf(head, number) + 8 + Number(pointer >> 56n) * size)
    pointer = part.readBigUInt64LE(0)
    at = 8
  }
  const bytes = async (count: number): Promise<Buffer> => {
    const read = Buffer.alloc(count)
    for (let i = 0; i < count; i++) {
      if (at >= size) await turn()
      read[i] = part[at++]!
    }
    return read
  }
  const number = async () => (await bytes(8)).readBigUInt64LE(0)
  const free = new Set<number>()
  const metadata = new Map<number, bigint>()
  if (pointer === noPointer) return { free, metadata }
  for (let left = await number(); left > 0n; left--) free.add(Number(await number()))
  for (let left = await number(); left > 0n; left--) await bytes(12) // blocks with several users, and how many
  for (let left = await number(); left > 0n; left--) metadata.set(Number(await number()), await number())
  return { free, metadata }
}

async function firstOfLog(file: string, most = mostLog): Promise<Buffer | null> {
  const handle = await open(`${file}.wal`, 'r').catch(() => null)
  if (!handle) return null
  try {
    const bytes = Buffer.alloc(most)
    const { bytesRead } = await handle.read(bytes, 0, most, 0)
    return bytesRead < leastLog ? null : bytes.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

async function readNotes(file: string): Promise<Notes | null> {
  try {
    const text = await readFile(notesPath(file), 'utf8')
    const [head, checksum, body] = [
      text.slice(0, magic.length),
      text.slice(magic.length + 1, magic.length + 9),
      text.slice(magic.length + 10),
    ]
    return head === magic && Number.parseInt(checksum, 16) === crc32(Buffer.from(body)) ? (JSON.parse(body) as Notes) : null
  } catch {
    return null
  }
}

async function writeNotes(file: string, notes: Notes): Promise<void> {
  const body = JSON.stringify(notes)
  const path = notesPath(file)
  await writeFile(`${path}.new`, `${magic} ${crc32(Buffer.from(body)).toString(16).padStart(8, '0')}\n${body}`, { mode: 0o600 })
  // The folder of a project that was removed meanwhile is not made again.
  if (await stat(file).catch(() => null)) await rename(`${path}.new`, path)
  else await rm(`${path}.new`, { force: true })
}
