import { randomBytes, randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { deflateRaw, gunzip, gzip, inflateRaw } from 'node:zlib'
import { WaymarkError } from '../../../errors/errors.ts'
import type { Place, PlaceUse } from '../places/place.ts'
import { type CopiedFile, type Copy, nameOfObject, type Piece, readPieces, readRanges, writePieces, writeRanges } from './pieces.ts'
import { type Encryption, knownSeal, newSeal, type Seal } from './seal.ts'

// A place with copies. Objects have contents; the newest state of the place, a numbered object too, lists the copies. A state is written only under the number
// that follows the one it was made from, so of two writers one is refused. Nothing is ever overwritten.

export const repositoryFormat = 1
const aboutName = 'waymark-backup.json'
/** Bytes of an object before the next one begins. */
const objectBytes = 16 * 1024 ** 2
/** Objects of which a copy needs less than this are rewritten when there are more than so many of them: each small copy would leave one for ever. */
const leastKept = 2 * 1024 ** 2
const mostSmall = 48
const objectsInMemory = 4
/** Pieces in a list. */
const listLength = 1024
/** Earlier states stay this long: a writer that was stopped meanwhile must find its number taken. */
const stateMs = 86_400_000

interface About {
  readonly format: number
  readonly id: string
  readonly created_at: string
  readonly encryption: Encryption | null
}

/** Who writes into a place. A directory that was restored or copied is another writer. */
export interface Writer {
  readonly id: string
  /** As messages show it. */
  readonly name: string
}

export interface Reader {
  contents(piece: Piece): Promise<Buffer>
}

/** What a place has. */
export interface State {
  readonly number: number
  /** Increased when another writer takes the place over. */
  readonly epoch: number
  readonly writer: Writer
  readonly nonce: string
  readonly written_at: string
  readonly copies: readonly Copy[]
}

type StateFile = Omit<State, 'copies'> & { readonly format: number; readonly contents: string }

const stateName = (number: number): string => `states/${String(number).padStart(9, '0')}.json`
const [deflated, inflated, zipped, unzipped] = [promisify(deflateRaw), promisify(inflateRaw), promisify(gzip), promisify(gunzip)]
const refused = (message: string, cause?: unknown) => new WaymarkError('command-failed', { message }, { cause })

/** Every state has its own format, too: a newer version may have gone on in a place that an older one began. */
const mustBeKnown = (place: Place, format: number): void => {
  if (format <= repositoryFormat) return
  throw refused(
    `${place.name} has format ${format}, and this version of Waymark reads formats up to ${repositoryFormat}: use a newer version.`,
  )
}

export class Repository {
  private constructor(
    readonly place: Place,
    readonly seal: Seal,
    /** Identifies the place. */
    readonly id: string,
  ) {}

  static async open(place: Place, key: string | null, use: PlaceUse): Promise<Repository> {
    const known = (await place.read(aboutName)) ?? (use === 'write' ? await begin(place, key) : null)
    if (!known) throw refused(`${place.name} has no backup of Waymark.`)
    const about = parsed<About>(known, place, aboutName)
    mustBeKnown(place, about.format)
    return new Repository(place, knownSeal(place.name, about.encryption, key), about.id)
  }

  /** The newest state; null: nothing was ever written. */
  async state(): Promise<State | null> {
    for (let attempt = 0; ; attempt++) {
      const name = (await this.place.list('states')).at(-1)
      if (name === undefined) return null
      const bytes = await this.place.read(name)
      if (!bytes) {
        if (attempt === 3) throw refused(`${this.place.name}: ${name} is listed, but cannot be read.`)
        continue // removed meanwhile, because there is a newer one
      }
      const { format, contents, ...rest } = parsed<StateFile>(bytes, this.place, name)
      mustBeKnown(this.place, format)
      const { copies } = JSON.parse((await unzipped(this.opened(Buffer.from(contents, 'base64'), name))).toString()) as { copies: Copy[] }
      return { ...rest, copies }
    }
  }

  /** Writes the state that follows `before`. Null: another writer was faster. */
  async write(
    before: State | null,
    { nonce, ...change }: Pick<State, 'epoch' | 'writer' | 'copies' | 'nonce'>,
    now: Date,
  ): Promise<State | null> {
    const state: State = { number: (before?.number ?? 0) + 1, nonce, written_at: now.toISOString(), ...change }
    const { copies, ...rest } = state
    const name = stateName(state.number)
    const contents = Buffer.from(this.seal.close(await zipped(JSON.stringify({ copies })), name)).toString('base64')
    const file: StateFile = { format: repositoryFormat, ...rest, contents }
    return (await this.place.create(name, Buffer.from(JSON.stringify(file)))) ? state : null
  }

  async filesOf(copy: Copy): Promise<CopiedFile[]> {
    const files: CopiedFile[] = []
    for (const list of copy.files) {
      const rows = JSON.parse((await this.contents(list)).toString()) as (Omit<CopiedFile, 'pieces'> & { lists: Piece[] })[]
      for (const { lists, ...file } of rows) {
        const pieces: Piece[] = []
        for (const one of lists) pieces.push(...readPieces(await this.contents(one)))
        files.push({ ...file, pieces })
      }
    }
    return files
  }

  /** The contents of a piece, which have the hash that its list says. */
  contents(piece: Piece): Promise<Buffer> {
    return this.checked(piece, this.place.read(piece.object, { from: piece.at, bytes: piece.stored }))
  }

  /** For many pieces one after the other: an object is read as a whole, because most of its pieces are wanted, and stays in memory for a while. */
  reader(): Reader {
    const objects = new Map<string, Promise<Buffer | null>>()
    const read = (object: string) => {
      const known = objects.get(object) ?? this.place.read(object)
      // The last ones used are at the end.
      objects.delete(object)
      objects.set(object, known)
      for (const name of [...objects.keys()].slice(0, -objectsInMemory)) objects.delete(name)
      return known
    }
    const part = async ({ object, at, stored }: Piece) => (await read(object))?.subarray(at, at + stored) ?? null
    return { contents: (piece) => this.checked(piece, part(piece)) }
  }

  private async checked({ object, at, stored, isPacked, hash }: Piece, reading: Promise<Buffer | null>): Promise<Buffer> {
    const found = await reading
    if (!found) throw refused(`${this.place.name}: ${object} is missing. The copies that need it cannot be restored.`)
    const damaged = (cause?: unknown) =>
      refused(`${this.place.name}: ${object} is damaged. The copies that need it cannot be restored.`, cause)
    if (found.length < stored) throw damaged()
    let bytes: Buffer
    try {
      const open = this.seal.open(found, `${object}:${at}`)
      bytes = isPacked ? await inflated(open) : open
    } catch (error) {
      throw damaged(error)
    }
    if (this.seal.hash(bytes) !== hash) throw damaged()
    return bytes
  }

  private opened(bytes: Buffer, name: string): Buffer {
    try {
      return this.seal.open(bytes, name)
    } catch (error) {
      throw refused(`${this.place.name}: ${name} is damaged.`, error)
    }
  }

  /** Removes states and objects that the state does not need. Only its writer may. */
  async tidy(state: State, isOurs: (run: string) => boolean): Promise<void> {
    const needed = new Set(state.copies.flatMap(({ objects }) => readRanges(objects)))
    for (const name of await this.place.list('objects')) {
      const run = /^objects\/(\w+)-\d+$/.exec(name)?.[1]
      if (run !== undefined && !needed.has(name) && isOurs(run)) await this.place.remove(name)
    }
    const until = new Date(state.written_at).getTime() - stateMs
    for (const name of await this.place.list('states')) {
      if (name >= stateName(state.number)) break
      const bytes = await this.place.read(name)
      if (!bytes || new Date(parsed<StateFile>(bytes, this.place, name).written_at).getTime() > until) break
      await this.place.remove(name)
    }
  }
}

function parsed<T>(bytes: Buffer, place: Place, name: string): T {
  try {
    return JSON.parse(bytes.toString()) as T
  } catch (error) {
    throw refused(`${place.name}: ${name} is damaged.`, error)
  }
}

async function begin(place: Place, key: string | null): Promise<Buffer> {
  const about: About = {
    format: repositoryFormat,
    id: randomUUID(),
    created_at: new Date().toISOString(),
    encryption: newSeal(key).encryption,
  }
  const bytes = Buffer.from(`${JSON.stringify(about, null, 1)}\n`)
  if (await place.create(aboutName, bytes)) return bytes
  return (await place.read(aboutName))! // another process was faster
}

/** Writes pieces into new objects, those that the last copy does not have. */
export class PieceWriter {
  /** Bytes of contents that were not there. */
  added = 0
  /** Bytes that were written. */
  stored = 0
  private readonly run: string
  private readonly known: ReadonlyMap<string, Piece>
  private readonly mine = new Map<string, Piece>()
  private readonly used = new Set<string>()
  private parts: Uint8Array[] = []
  private size = 0
  private count = 0
  private writing: Promise<void> = Promise.resolve()

  constructor(
    private readonly repository: Repository,
    epoch: number,
    /** Those of the last copy. */
    pieces: Iterable<Piece>,
  ) {
    this.run = `${epoch}r${randomBytes(6).toString('hex')}`
    const kept = new Map<string, number>()
    const all = [...pieces]
    for (const { object, stored } of all) kept.set(object, (kept.get(object) ?? 0) + stored)
    const small = new Set([...kept].flatMap(([object, bytes]) => (bytes < leastKept ? [object] : [])))
    const staying = small.size > mostSmall ? all.filter(({ object }) => !small.has(object)) : all
    this.known = new Map(staying.map((piece) => [piece.hash, piece]))
  }

  /** The piece, if it is where it can stay. */
  keep(piece: Piece): Piece | null {
    const known = this.mine.get(piece.hash) ?? this.known.get(piece.hash)
    if (!known) return null
    this.used.add(known.object)
    return piece.checksum === undefined ? known : { ...known, checksum: piece.checksum }
  }

  async put(bytes: Buffer, checksum?: string): Promise<Piece> {
    const { seal } = this.repository
    const hash = seal.hash(bytes)
    const about = checksum === undefined ? {} : { checksum }
    const known = this.mine.get(hash) ?? this.known.get(hash)
    if (known) {
      this.used.add(known.object)
      const { checksum: _, ...piece } = known
      return { ...piece, ...about }
    }
    const small = await deflated(bytes, { level: 1 })
    const isPacked = small.length < bytes.length * 0.9
    if (this.size >= objectBytes) await this.turn()
    const object = nameOfObject(this.run, this.count)
    const at = this.size
    const closed = seal.close(isPacked ? small : bytes, `${object}:${at}`)
    // A copy: the caller reads the next contents into the same buffer.
    this.parts.push(Uint8Array.from(closed))
    this.size += closed.length
    this.added += bytes.length
    this.stored += closed.length
    const piece: Piece = { object, at, stored: closed.length, bytes: bytes.length, isPacked, hash }
    this.mine.set(hash, piece)
    this.used.add(object)
    return { ...piece, ...about }
  }

  /** Writes the list of files, and what is left; then all that the copy needs is durable. */
  async finish(files: readonly CopiedFile[]): Promise<Pick<Copy, 'files' | 'objects' | 'added' | 'stored'>> {
    const rows: unknown[] = []
    for (const { pieces, ...file } of files) {
      const lists: Piece[] = []
      for (let at = 0; at < pieces.length; at += listLength) lists.push(await this.put(writePieces(pieces.slice(at, at + listLength))))
      rows.push({ ...file, lists })
    }
    const list: Piece[] = []
    for (let at = 0; at < Math.max(1, rows.length); at += listLength)
      list.push(await this.put(Buffer.from(JSON.stringify(rows.slice(at, at + listLength)))))
    await this.turn()
    await this.writing
    return { files: list, objects: writeRanges(this.used), added: this.added, stored: this.stored }
  }

  /** Waits for what is being written, so that a failure leaves nothing in progress. */
  async stop(): Promise<void> {
    await this.writing.catch(() => undefined)
  }

  /** One object is written while the next one is filled. */
  private async turn(): Promise<void> {
    if (this.size === 0) return
    const bytes = Buffer.concat(this.parts)
    const name = nameOfObject(this.run, this.count++)
    this.parts = []
    this.size = 0
    await this.writing
    const { place } = this.repository
    this.writing = place.create(name, bytes).then((isNew) => {
      if (!isNew) throw refused(`${place.name}: ${name} exists, and nothing is overwritten.`)
    })
    this.writing.catch(() => undefined) // the next turn meets it
  }
}
