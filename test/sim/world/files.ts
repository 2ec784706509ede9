import type { PathLike, RmOptions } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { random } from '../../../bench/random.ts'
import { realFs as fs } from './real-fs.ts'

// What a disk has of our files: the bytes that were synced, and the writes since, in order; the names that were synced, and the changes since. The files themselves are
// real ones, so that whatever reads them, DuckDB too, finds what was written.

type Write = { readonly at: number; readonly bytes: Buffer } | { readonly size: number }

interface Contents {
  synced: Buffer
  writes: Write[]
}

/** Names of a folder that change together: a file, or none any more. */
type NameChange = readonly (readonly [path: string, contents: Contents | null])[]

/** DuckDB writes these itself, with its own syncs. */
const isOfStore = (path: string) => /\.duckdb(\.wal|\.tmp.*|\.broken[^/]*|\.format-\d+)?$/.test(basename(path))

const withWrite = (bytes: Buffer, write: Write): Buffer => {
  if ('size' in write) {
    if (write.size <= bytes.length) return bytes.subarray(0, write.size)
    return Buffer.concat([bytes, Buffer.alloc(write.size - bytes.length)])
  }
  const end = write.at + write.bytes.length
  const after = Buffer.alloc(Math.max(bytes.length, end))
  bytes.copy(after)
  write.bytes.copy(after, write.at)
  return after
}

/** A disk writes a sector as a whole, or not. */
const sector = 512

const fullDisk = () => Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', errno: -28, syscall: 'write' })

export class Files {
  readonly root: string
  private named = new Map<string, Contents>()
  private syncedNames = new Map<string, Contents>()
  private changes = new Map<string, NameChange[]>()
  private readonly opened = new Map<
    number,
    { readonly path: string; readonly contents: Contents | null; at: number; readonly appends: boolean }
  >()
  /** Bytes that still fit; null: any number. */
  room: number | null = null

  constructor(root: string) {
    this.root = root
  }

  has(path: PathLike | number | undefined): boolean {
    return typeof path === 'number'
      ? this.opened.has(path)
      : typeof path === 'string' && (path === this.root || path.startsWith(`${this.root}/`))
  }

  open(path: string, flags: string | number = 'r', mode?: number): number {
    const existed = fs.existsSync(path)
    const fd = fs.openSync(path, flags, mode)
    if (isOfStore(path) || fs.fstatSync(fd).isDirectory()) {
      this.opened.set(fd, { path, contents: null, at: 0, appends: false })
      return fd
    }
    const isText = typeof flags === 'string'
    const truncates = isText ? flags.startsWith('w') : (flags & fs.constants.O_TRUNC) !== 0
    const writes = isText ? flags !== 'r' : (flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR)) !== 0
    if (!existed) this.create(path)
    else if (writes && !this.named.has(path)) this.adopt(path)
    const contents = this.named.get(path) ?? null
    if (existed && truncates) contents?.writes.push({ size: 0 })
    this.opened.set(fd, { path, contents, at: 0, appends: isText && flags.startsWith('a') })
    return fd
  }

  close(fd: number): void {
    this.opened.delete(fd)
    fs.closeSync(fd)
  }

  read(fd: number, buffer: Uint8Array, offset = 0, length = buffer.byteLength - offset, position: number | null = null): number {
    const file = this.opened.get(fd)!
    const count = fs.readSync(fd, buffer, offset, length, position ?? file.at)
    if (position === null) file.at += count
    return count
  }

  write(fd: number, bytes: Uint8Array, position: number | null = null): number {
    const file = this.opened.get(fd)!
    const at = file.appends ? fs.fstatSync(fd).size : (position ?? file.at)
    const fits = this.room === null ? bytes.byteLength : Math.min(bytes.byteLength, this.room)
    if (this.room !== null) this.room -= fits
    const written = Buffer.from(bytes.subarray(0, fits))
    if (fits > 0) {
      fs.writeSync(fd, written, 0, fits, at)
      file.contents?.writes.push({ at, bytes: written })
      if (position === null) file.at = at + fits
    }
    if (fits === 0 && bytes.byteLength > 0) throw fullDisk()
    return fits
  }

  writeAll(fd: number, bytes: Uint8Array, position: number | null = null): void {
    for (let done = 0; done < bytes.byteLength; ) done += this.write(fd, bytes.subarray(done), position === null ? null : position + done)
  }

  truncate(fd: number, size = 0): void {
    fs.ftruncateSync(fd, size)
    this.opened.get(fd)!.contents?.writes.push({ size })
  }

  sync(fd: number): void {
    const { path, contents } = this.opened.get(fd)!
    if (contents) {
      contents.synced = contents.writes.reduce(withWrite, contents.synced)
      contents.writes = []
      return
    }
    for (const change of this.changes.get(path) ?? []) this.keep(change)
    this.changes.delete(path)
  }

  rename(from: string, to: string): void {
    this.know(from)
    const isFolder = fs.statSync(from, { throwIfNoEntry: false })?.isDirectory() ?? false
    fs.renameSync(from, to)
    if (isFolder) this.renameFolder(from, to)
    else this.renameFile(from, to)
  }

  private renameFile(from: string, to: string): void {
    const contents = this.named.get(from)
    // A file of the store, made from a copy of an empty one: from now on DuckDB writes it.
    if (!contents || isOfStore(to)) {
      if (contents) this.change(from, [[from, null]])
      if (this.named.has(to)) this.change(to, [[to, null]])
      return
    }
    this.change(to, [
      [from, null],
      [to, contents],
    ])
  }

  /** What is in it goes with it, synced or not; the folder itself changes its name in another one. */
  private renameFolder(from: string, to: string): void {
    const moved = (path: string) => (path === from || path.startsWith(`${from}/`) ? `${to}${path.slice(from.length)}` : path)
    const synced = [...this.syncedNames].filter(([path]) => path.startsWith(`${from}/`))
    this.named = new Map([...this.named].map(([path, contents]) => [moved(path), contents]))
    const inside = [...this.changes].filter(([folder]) => moved(folder) !== folder)
    for (const [folder, changes] of inside) {
      this.changes.delete(folder)
      const renamed = changes.map((change): NameChange => change.map(([path, contents]) => [moved(path), contents]))
      this.changes.set(moved(folder), renamed)
    }
    const change = synced.flatMap(
      ([path, contents]): NameChange => [
        [path, null],
        [moved(path), contents],
      ],
    )
    if (change.length > 0) this.change(to, change)
  }

  link(from: string, to: string): void {
    this.know(from)
    fs.linkSync(from, to)
    const contents = this.named.get(from)
    if (contents) this.change(to, [[to, contents]])
  }

  copy(from: string, to: string, mode?: number): void {
    fs.copyFileSync(from, to, mode)
    if (isOfStore(to)) return
    this.create(to)
    this.named.get(to)!.writes.push({ at: 0, bytes: fs.readFileSync(to) })
  }

  remove(path: string, options?: RmOptions): void {
    this.know(path)
    const gone = [...this.named.keys()].filter((one) => one === path || one.startsWith(`${path}/`))
    fs.rmSync(path, options)
    for (const one of gone) this.change(one, [[one, null]])
  }

  /** What a power cut leaves in a folder: of what was not synced, anything. What the store wrote is as it is. */
  afterPowerCut(folder: string, target: string, draw: () => number): void {
    const names = new Map(this.syncedNames)
    for (const changes of this.changes.values()) {
      const survive = draw() < 0.3 ? changes.length : Math.floor(draw() * (changes.length + 1))
      for (const change of changes.slice(0, survive)) for (const [path, contents] of change) set(names, path, contents)
    }
    copyTree(folder, target, (path) => !this.named.has(path))
    for (const [path, contents] of [...names].sort(byPath)) {
      if (!path.startsWith(`${folder}/`)) continue
      const at = join(target, path.slice(folder.length))
      fs.mkdirSync(dirname(at), { recursive: true })
      fs.writeFileSync(at, leftOf(contents, draw), { mode: 0o600 })
    }
  }

  /** What the end of a process leaves: all that was written. */
  afterKill(folder: string, target: string): void {
    copyTree(folder, target, () => true)
  }

  /** The process is gone, and its open files with it. After a power cut, what is there is what is on the disk. */
  ended(kind: 'kill' | 'power cut'): void {
    for (const fd of this.opened.keys()) fs.closeSync(fd)
    this.opened.clear()
    this.room = null
    if (kind === 'kill') return
    for (const names of [this.named, this.syncedNames, this.changes]) names.clear()
  }

  private know(path: string): void {
    if (!this.named.has(path) && !isOfStore(path) && fs.statSync(path, { throwIfNoEntry: false })?.isFile()) this.adopt(path)
  }

  private create(path: string): void {
    const contents: Contents = { synced: Buffer.alloc(0), writes: [] }
    this.change(path, [[path, contents]])
  }

  /** A file that was there before: all of it is on the disk. */
  private adopt(path: string): void {
    const contents = { synced: fs.readFileSync(path), writes: [] }
    this.named.set(path, contents)
    this.syncedNames.set(path, contents)
  }

  private change(path: string, change: NameChange): void {
    for (const [one, contents] of change) set(this.named, one, contents)
    const folder = dirname(path)
    const changes = this.changes.get(folder) ?? []
    changes.push(change)
    this.changes.set(folder, changes)
  }

  private keep(change: NameChange): void {
    for (const [path, contents] of change) set(this.syncedNames, path, contents)
  }
}

const byPath = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) => (a < b ? -1 : 1)

function set(names: Map<string, Contents>, path: string, contents: Contents | null): void {
  if (contents) names.set(path, contents)
  else names.delete(path)
}

/** Each write may be there, or not, or in part: whatever order the disk chose. */
function leftOf({ synced, writes }: Contents, draw: () => number): Buffer {
  const luck = draw()
  if (luck < 0.25) return synced
  if (luck < 0.4) return writes.reduce(withWrite, synced)
  let bytes = synced
  for (const write of writes) {
    const own = random(draw() * 2 ** 31) // as many draws from the other, however large it is
    const fate = own()
    if (fate < 0.35) continue
    if (fate < 0.7 || 'size' in write) bytes = withWrite(bytes, write)
    else for (const piece of torn(write, bytes.length, own)) bytes = withWrite(bytes, piece)
  }
  return bytes
}

/** Sectors of a write: each or none; the end of a file at any byte. */
function* torn(write: { readonly at: number; readonly bytes: Buffer }, size: number, draw: () => number): Generator<Write> {
  const end = write.at + write.bytes.length
  const cut = draw() < 0.6 ? Math.max(write.at + Math.floor(draw() * write.bytes.length), Math.min(size, end)) : end
  const isPrefix = draw() < 0.5
  for (let at = write.at; at < cut; ) {
    const next = Math.min(cut, (Math.floor(at / sector) + 1) * sector)
    if (isPrefix || draw() < 0.5) yield { at, bytes: write.bytes.subarray(at - write.at, next - write.at) }
    at = next
  }
}

function copyTree(from: string, to: string, wanted: (path: string) => boolean): void {
  fs.mkdirSync(to, { recursive: true, mode: 0o700 })
  for (const entry of fs.readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) copyTree(source, target, wanted)
    else if (wanted(source)) fs.copyFileSync(source, target)
  }
}
