import { randomUUID } from 'node:crypto'
import { type FileHandle, open, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { reading } from '../../engine/storage/files/locked-files.ts'
import { headBytes, isDatabaseFile, isWhole, readHead, statedChecksum } from '../../engine/storage/instance.ts'
import { closedPosition } from '../../engine/storage/log/position.ts'
import { listSegments, type SegmentBytes, withSegment } from '../../engine/storage/log/segment.ts'
import { filesOf } from '../../engine/storage/project-storage.ts'
import { WaymarkError } from '../../errors/errors.ts'
import { version } from '../../lib/version.ts'
import type { LogState, OpenDirectory, Progress } from './open-directory.ts'
import type { CopiedFile, CopiedProject, Copy, Piece } from './repository/pieces.ts'
import { PieceWriter, type Repository, type State } from './repository/repository.ts'
import { filesIn } from './what-is-copied.ts'
import type { WriterNotes } from './writer-notes.ts'

// Takes a copy of a directory while it is used. Databases are copied as their last checkpoint left them: its blocks stay as they are until the next one, which
// the head of the file tells. What came after that checkpoint is in the log, which is copied later, so a copy is a directory after a crash, at a moment of its own
// for each project. Accounts are copied first: they never name what the stores lack.

const pieceBytes = 1024 ** 2
/** Passes over a database until no checkpoint came in between. Each later one reads only blocks that changed. */
const mostPasses = 100
/** Reads of a block that is being written. */
const readsOfBlock = 3

export interface TakeOptions {
  readonly signal?: AbortSignal
  onProgress?(progress: Progress): void
  /** Copies that are older than this many milliseconds are removed, but never the newest one. */
  readonly keepMs?: number | null
  /** Segments of logs wait for backups, which are made regularly. */
  readonly holdsLogs?: boolean
  /** Notes what the stores say, so that the copy can be verified: reads all of them. */
  readonly verifiable?: boolean
  /** Another directory wrote here before, and is gone for good. */
  readonly takesOver?: boolean
}

export interface Taken {
  readonly copy: Copy
  /** Copies that were removed because of their age. */
  readonly removed: number
}

export async function takeCopy(
  directory: OpenDirectory,
  repository: Repository,
  place: string,
  notes: WriterNotes,
  options: TakeOptions = {},
): Promise<Taken> {
  const before = await repository.state()
  if (!options.takesOver) notes.mustBeOurs(place, repository.place.name, before)
  const isTakeOver = before !== null && options.takesOver === true && before.writer.id !== notes.writer.id
  const epoch = (before?.epoch ?? 0) + (before === null || isTakeOver ? 1 : 0)
  const last = before?.copies.at(-1)
  const known = last ? await repository.filesOf(last) : []
  const writer = new PieceWriter(repository, epoch, piecesOf(known))
  // The files of another directory may have other contents at the same place.
  const taking = new Taking(directory, repository, writer, isTakeOver ? [] : known, options)
  try {
    const began = directory.clock()
    const projects = await taking.everything()
    const { files, ...sizes } = await writer.finish(taking.files)
    const copy: Copy = {
      number: (last?.number ?? 0) + 1,
      began_at: began.toISOString(),
      at: directory.clock().toISOString(),
      version,
      bytes: taking.bytes,
      projects,
      files,
      ...sizes,
    }
    const kept = withoutOld([...(before?.copies ?? []), copy], options.keepMs ?? null)
    const state = await writeState(repository, place, notes, before, epoch, kept, directory.clock())
    await repository.tidy(state, (run) => Number.parseInt(run, 10) <= epoch)
    if (options.holdsLogs) await noteBackedUp(directory.dataDir, projects)
    return { copy, removed: (before?.copies.length ?? 0) + 1 - kept.length }
  } catch (error) {
    await writer.stop()
    throw error
  }
}

function* piecesOf(files: readonly CopiedFile[]): Generator<Piece> {
  for (const { pieces } of files) yield* pieces
}

const withoutOld = (copies: readonly Copy[], keepMs: number | null): readonly Copy[] => {
  const newest = copies.at(-1)!
  const oldest = keepMs === null ? Number.NEGATIVE_INFINITY : new Date(newest.at).getTime() - keepMs
  return copies.filter((copy) => copy === newest || new Date(copy.at).getTime() >= oldest)
}

async function writeState(
  repository: Repository,
  place: string,
  notes: WriterNotes,
  before: State | null,
  epoch: number,
  copies: readonly Copy[],
  now: Date,
): Promise<State> {
  const nonce = randomUUID()
  await notes.intend(place, before?.number ?? 0, nonce)
  const state = await repository.write(before, { epoch, writer: notes.writer, nonce, copies }, now)
  if (state === null) {
    const other = await repository.state()
    const message =
      `${repository.place.name}: ${other ? other.writer.name : 'another process'} has written there while this copy was made, which is therefore not kept. ` +
      'Two directories must not share a place.'
    throw new WaymarkError('command-failed', { message })
  }
  await notes.wrote(place, state.number)
  return state
}

const ignoreMissing = (error: NodeJS.ErrnoException) => {
  if (error.code !== 'ENOENT') throw error
}

/** Segments of logs wait for the next backup, or do not any more. */
export async function holdLogs(dataDir: string, isHeld: boolean): Promise<void> {
  for (const name of await readdir(join(dataDir, 'projects')).catch(() => [])) {
    const { backedUp } = filesOf(dataDir, name)
    if (!isHeld) await rm(backedUp, { force: true })
    else if (!(await stat(backedUp).catch(() => null))) await writeFile(backedUp, '0\n', { mode: 0o600 }).catch(ignoreMissing)
  }
}

/** The log of a project whose segments wait for a backup may be removed up to there. */
async function noteBackedUp(dataDir: string, projects: readonly CopiedProject[]): Promise<void> {
  for (const { id, position } of projects) {
    // The folder of a project that was removed meanwhile is not made again.
    if (position !== null) await writeFile(filesOf(dataDir, id).backedUp, `${position}\n`, { mode: 0o600 }).catch(ignoreMissing)
  }
}

const bytesIn = (pieces: readonly Piece[]): number => pieces.reduce((sum, piece) => sum + piece.bytes, 0)

class Taking {
  readonly files: CopiedFile[] = []
  bytes = 0
  private readonly before: ReadonlyMap<string, CopiedFile>

  constructor(
    private readonly directory: OpenDirectory,
    private readonly repository: Repository,
    private readonly writer: PieceWriter,
    known: readonly CopiedFile[],
    private readonly options: TakeOptions,
  ) {
    this.before = new Map(known.map((file) => [file.path, file]))
  }

  async everything(): Promise<CopiedProject[]> {
    const { directory } = this
    const before = new Set((await directory.projects()).map(({ id }) => id))
    await directory.settleAccounts()
    const paths = await filesIn(directory.dataDir, 'directory')
    for (const path of paths.filter(isDatabaseFile)) await this.database(path)
    // One that was made or removed meanwhile is in the accounts of the next copy, or in those of the one before.
    const projects = (await directory.projects()).filter(({ id }) => before.has(id))
    for (const path of paths.filter((one) => !isDatabaseFile(one))) await this.plainFile(path)
    const copied: CopiedProject[] = []
    for (const project of projects) copied.push(await this.project(project))
    return copied
  }

  /** The log last: what other files say about records must be about records that the copy has. */
  private async project({ id, name }: Pick<CopiedProject, 'id' | 'name'>): Promise<CopiedProject> {
    const { directory } = this
    const folder = `projects/${id}`
    const problem = await directory.settle(id).then(
      () => this.problemOf(id),
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    )
    const paths = await filesIn(join(directory.dataDir, folder), 'project')
    for (const path of paths.filter((one) => !isDatabaseFile(one))) await this.plainFile(`${folder}/${path}`)
    for (const path of paths.filter(isDatabaseFile))
      await (problem === null ? this.database(`${folder}/${path}`) : this.plainFile(`${folder}/${path}`))
    // Before the log: what the digest is about is in the copy.
    const found = this.options.verifiable && problem === null ? await directory.digest(id).catch(() => null) : null
    const digest = found === null ? {} : { digest: found }
    const state = await this.log(id)
    const position = state?.position ?? closedPosition(filesOf(directory.dataDir, id).position)
    return { id, name, position, ...(problem === null ? {} : { problem }), ...digest }
  }

  private async problemOf(id: number): Promise<string | null> {
    const { store } = filesOf(this.directory.dataDir, id)
    if (!(await stat(store).catch(() => null)) || (await reading(store, readHead))) return null
    return `${store} has no header that can be read`
  }

  private async log(project: number): Promise<LogState | null> {
    const { dataDir } = this.directory
    for (let attempt = 1; ; attempt++) {
      const state = await this.directory.logState(project)
      const segments = state?.log ?? (await filesAtRest(filesOf(dataDir, project).log))
      const begun = this.files.length
      try {
        for (const { name, bytes } of segments) await this.segment(`projects/${project}/log/${name}`, bytes)
        return state
      } catch (error) {
        // A segment that was old enough was removed meanwhile.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === 3) throw error
        this.files.length = begun
      }
    }
  }

  /** A database as its last checkpoint left it. */
  private async database(path: string): Promise<void> {
    const file = join(this.directory.dataDir, path)
    const pieces = await reading(file, async (handle) => {
      const blocks: (Piece | null)[] = []
      for (const piece of this.before.get(path)?.pieces.slice(1) ?? []) blocks.push(this.writer.keep(piece))
      for (let pass = 1; pass <= mostPasses; pass++) {
        const head = await readHead(handle)
        if (!head) throw new WaymarkError('command-failed', { message: `${file} has no header that can be read.` })
        const { blockCount, blockBytes } = head
        const start = Buffer.alloc(8)
        for (let i = 0; i < blockCount; i++) {
          const at = headBytes + i * blockBytes
          await handle.read(start, 0, start.length, at)
          const stated = statedChecksum(start)
          if (blocks[i]?.checksum !== stated) blocks[i] = await this.block(handle, at, blockBytes)
          if (pass === 1) this.progress(blockBytes)
          this.options.signal?.throwIfAborted()
        }
        blocks.length = blockCount
        const after = await readHead(handle)
        if (after?.iteration === head.iteration) return [await this.writer.put(head.bytes), ...(blocks as Piece[])]
      }
      throw new WaymarkError('command-failed', { message: `${file} was written to all the time: no state of it could be copied.` })
    })
    this.add(path, 'database', pieces)
  }

  private async block(handle: FileHandle, at: number, size: number): Promise<Piece> {
    const bytes = Buffer.allocUnsafe(size)
    for (let attempt = 1; ; attempt++) {
      const { bytesRead } = await handle.read(bytes, 0, size, at)
      bytes.fill(0, bytesRead)
      if (isWhole(bytes)) return this.writer.put(bytes, statedChecksum(bytes))
      // Free, or being written: the next checkpoint does not count on it.
      if (attempt === readsOfBlock) return this.writer.put(bytes)
      await setTimeout(1)
    }
  }

  /**
   * A segment of a log: bytes are added to it until it is compressed. Of those that the last copy has, only the last piece is read again, to be sure. Where the last copy has all of
   * the plain form, the compressed one is not copied: both are read the same.
   */
  private segment(path: string, bytes: number): Promise<void> {
    const copy = async (plain: SegmentBytes, file: SegmentBytes): Promise<readonly Piece[]> => {
      const known = plain.isCompressed ? await this.known(path, plain) : []
      if (plain.isCompressed && bytesIn(known) === plain.size) {
        this.progress(plain.size)
        return known
      }
      const shorter = () => new WaymarkError('command-failed', { message: `${path} became shorter while it was copied.` })
      if (!plain.isCompressed && plain.size < bytes) throw shorter()
      const pieces = await this.known(path, file)
      let at = bytesIn(pieces)
      this.progress(at)
      while (at < file.size) {
        const piece = Buffer.allocUnsafe(Math.min(pieceBytes, file.size - at))
        if (!(await file.read(piece, at))) throw shorter()
        pieces.push(await this.writer.put(piece))
        at += piece.length
        this.progress(piece.length)
        this.options.signal?.throwIfAborted()
      }
      return pieces
    }
    const file = join(this.directory.dataDir, path)
    return withSegment(file, async (plain, file) => this.add(path, 'log', await copy(plain, file)), bytes)
  }

  /** The pieces of the last copy with which these bytes begin. */
  private async known(path: string, bytes: SegmentBytes): Promise<Piece[]> {
    const pieces: Piece[] = []
    let at = 0
    for (const piece of this.before.get(path)?.pieces ?? []) {
      const kept = at + piece.bytes <= bytes.size ? this.writer.keep(piece) : null
      if (!kept) break
      pieces.push(kept)
      at += piece.bytes
    }
    const last = pieces.at(-1)
    if (!last) return pieces
    const again = Buffer.allocUnsafe(last.bytes)
    return (await bytes.read(again, at - last.bytes)) && this.repository.seal.hash(again) === last.hash ? pieces : []
  }

  /** One that is replaced as a whole when it changes, or that no process can open as what it is. */
  private async plainFile(path: string): Promise<void> {
    const handle = await open(join(this.directory.dataDir, path), 'r').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null // removed meanwhile
      throw error
    })
    if (!handle) return
    const pieces: Piece[] = []
    try {
      for (;;) {
        const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(pieceBytes), 0, pieceBytes)
        if (bytesRead === 0) break
        pieces.push(await this.writer.put(buffer.subarray(0, bytesRead)))
        this.progress(bytesRead)
        this.options.signal?.throwIfAborted()
      }
    } finally {
      await handle.close()
    }
    this.add(path, 'file', pieces)
  }

  private add(path: string, kind: CopiedFile['kind'], pieces: readonly Piece[]): void {
    const bytes = bytesIn(pieces)
    this.bytes += bytes
    this.files.push({ path, kind, bytes, pieces })
  }

  private done = 0
  private progress(bytes: number): void {
    this.done += bytes
    this.options.onProgress?.({ phase: 'reading', files: this.files.length, bytes: this.done, ofBytes: null })
  }
}

async function filesAtRest(folder: string): Promise<LogState['log']> {
  const segments = await listSegments(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return Promise.all(segments.map(async ({ name }) => ({ name, bytes: (await stat(join(folder, name))).size })))
}
