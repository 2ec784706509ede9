// What a copy consists of: files, each a list of pieces. A piece is stored once, whatever copies and files have it.

/** Contents, and where they are stored. */
export interface Piece {
  /** Name of the object that has it. */
  readonly object: string
  readonly at: number
  /** Bytes there. */
  readonly stored: number
  /** Bytes of the contents. */
  readonly bytes: number
  readonly isPacked: boolean
  readonly hash: string
  /** The checksum that a block of a database states about itself: a later copy need not read one that still states it. */
  readonly checksum?: string
}

export type FileKind = 'database' | 'log' | 'file'

export interface CopiedFile {
  /** In the directory, with slashes. */
  readonly path: string
  readonly kind: FileKind
  readonly bytes: number
  readonly pieces: readonly Piece[]
}

export interface CopiedProject {
  readonly id: number
  readonly name: string
  /** The last record that the copy has. Null: the project was not open, and its log ends where its files do. */
  readonly position: number | null
  /** Why the project could not be opened: its files were copied as they were. */
  readonly problem?: string
  /** What its store said, for a verification. */
  readonly digest?: Digest
}

/** The contents of a store with the records up to `seq`: counts and hashes of its tables, and of the answers to some questions. */
export interface Digest {
  readonly seq: number
  readonly rows: readonly { readonly name: string; readonly count: number; readonly hash: string }[]
}

/** One copy of a directory. */
export interface Copy {
  readonly number: number
  readonly began_at: string
  /** It has everything that was acknowledged before `began_at`, and nothing that was acknowledged after this. */
  readonly at: string
  /** Of the program that made it. */
  readonly version: string
  /** Bytes of all files, and those of them that no earlier copy had. */
  readonly bytes: number
  readonly added: number
  /** Bytes that were added to the place. */
  readonly stored: number
  readonly projects: readonly CopiedProject[]
  /** Its list of files. */
  readonly files: readonly Piece[]
  /** The objects that it needs, as `run:first-last,…` separated by spaces. */
  readonly objects: string
}

type Row = readonly [object: number, at: number, stored: number, bytes: number, isPacked: 0 | 1, hash: string, checksum?: string]
interface PieceList {
  readonly objects: readonly string[]
  readonly pieces: readonly Row[]
}

export function writePieces(pieces: readonly Piece[]): Buffer {
  const objects = new Map<string, number>()
  const rows = pieces.map(({ object, at, stored, bytes, isPacked, hash, checksum }): Row => {
    if (!objects.has(object)) objects.set(object, objects.size)
    const row = [objects.get(object)!, at, stored, bytes, isPacked ? 1 : 0, hash] as const
    return checksum === undefined ? row : [...row, checksum]
  })
  return Buffer.from(JSON.stringify({ objects: [...objects.keys()], pieces: rows } satisfies PieceList))
}

export function readPieces(bytes: Buffer): Piece[] {
  const { objects, pieces } = JSON.parse(bytes.toString()) as PieceList
  return pieces.map(([object, at, stored, length, isPacked, hash, checksum]) => ({
    object: objects[object]!,
    at,
    stored,
    bytes: length,
    isPacked: isPacked === 1,
    hash,
    ...(checksum === undefined ? {} : { checksum }),
  }))
}

const objectName = /^objects\/(\w+)-(\d+)$/

export const nameOfObject = (run: string, number: number): string => `objects/${run}-${String(number).padStart(6, '0')}`

/** Names of objects as ranges of their numbers. */
export function writeRanges(names: Iterable<string>): string {
  const runs = new Map<string, number[]>()
  for (const name of names) {
    const [, run, number] = objectName.exec(name)!
    runs.set(run!, [...(runs.get(run!) ?? []), Number(number)])
  }
  return [...runs].map(([run, numbers]) => `${run}:${rangesOf(numbers.sort((a, b) => a - b))}`).join(' ')
}

function rangesOf(sorted: readonly number[]): string {
  const ranges: [number, number][] = []
  for (const number of sorted) {
    const last = ranges.at(-1)
    if (last && number <= last[1] + 1) last[1] = number
    else ranges.push([number, number])
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(',')
}

export function readRanges(text: string): string[] {
  return text
    .split(' ')
    .filter((one) => one !== '')
    .flatMap((one) => {
      const [run, ranges] = one.split(':') as [string, string]
      return ranges.split(',').flatMap((range) => {
        const [first, last = first] = range.split('-').map(Number) as [number, number?]
        return Array.from({ length: last - first + 1 }, (_, i) => nameOfObject(run, first + i))
      })
    })
}
