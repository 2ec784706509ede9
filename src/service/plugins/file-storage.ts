import { createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { PluginStorage } from './ports.ts'
import { ScopeValues } from './scope-values.ts'

// Storage of plugins in one file: a line of JSON per change. A line is acknowledged after its fsync; lines that arrive meanwhile share the next one. The file is
// rewritten when most of its lines or bytes are outdated. It can be longer than the longest string, so it is read and written in pieces.

export interface FileStorage extends PluginStorage {
  close(): Promise<void>
}

type Line = readonly [scope: string, key: string, json: string | null]

const fewestLines = 1_000
const fewestBytes = 32 * 1024 * 1024
/** Characters of a piece, unless a line has more. */
const pieceLength = 256 * 1024

const lineOf = (text: string): Line | null => {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) && value.length === 3 && typeof value[0] === 'string' && typeof value[1] === 'string'
      ? (value as unknown as Line)
      : null
  } catch {
    return null
  }
}

/** Of a data directory. */
export const storageIn = (dataDir: string): string => join(dataDir, 'plugins', 'storage.jsonl')

const lineBreak = 0x0a

/** The lines of a file. A crash can leave the last one incomplete: that change was not acknowledged. */
async function* linesIn(file: string): AsyncGenerator<Line | null> {
  let begun: Buffer[] = []
  try {
    for await (const bytes of createReadStream(file) as AsyncIterable<Buffer>) {
      let from = 0
      for (let end = bytes.indexOf(lineBreak); end >= 0; end = bytes.indexOf(lineBreak, from)) {
        yield lineOf(Buffer.concat([...begun, bytes.subarray(from, end)]).toString('utf8'))
        begun = []
        from = end + 1
      }
      begun.push(bytes.subarray(from))
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

function* piecesOf(lines: Iterable<Line>): Generator<string> {
  let piece = ''
  for (const line of lines) {
    piece += `${JSON.stringify(line)}\n`
    if (piece.length < pieceLength) continue
    yield piece
    piece = ''
  }
  yield piece
}

type Entry = readonly [scope: string, key: string, json: string]

/** What a file has, which stays as it is. */
export async function readStorageFile(file: string): Promise<readonly Entry[]> {
  const found = new Map<string, Entry>()
  for await (const line of linesIn(file)) {
    if (!line) continue
    const [scope, key, json] = line
    const name = JSON.stringify([scope, key])
    if (json === null) found.delete(name)
    else found.set(name, [scope, key, json])
  }
  return [...found.values()]
}

/** Replaces a file. Without entries there is none. */
export async function writeStorageFile(file: string, entries: readonly Entry[]): Promise<void> {
  await rm(file, { force: true })
  if (entries.length === 0) return
  const storage = await openFileStorage(file)
  await Promise.all(entries.map(([scope, key, json]) => storage.set(scope, key, json)))
  await storage.close()
}

export async function openFileStorage(file: string): Promise<FileStorage> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const scopes = new Map<string, ScopeValues>()
  let entries = 0
  const apply = ([scope, key, json]: Line) => {
    const values = scopes.get(scope) ?? new ScopeValues()
    scopes.set(scope, values)
    entries -= values.values.has(key) ? 1 : 0
    values.set(key, json)
    entries += json === null ? 0 : 1
  }
  for await (const line of linesIn(file)) if (line) apply(line)
  let lines = 0
  /** Of the file, now and when it was last rewritten. */
  let [bytes, bytesRewritten] = [0, 0]
  let handle: FileHandle = await rewrite()
  let isTorn = false

  let waiting: { readonly line: Line; resolve(): void; reject(error: unknown): void }[] = []
  let writing: Promise<void> | null = null

  async function rewrite(): Promise<FileHandle> {
    const all: Line[] = [...scopes].flatMap(([scope, { values }]) => [...values].map(([key, json]): Line => [scope, key, json]))
    const next = `${file}.new`
    const made = await open(next, 'w', 0o600)
    for (const piece of piecesOf(all)) await made.appendFile(piece)
    await made.sync()
    bytes = (await made.stat()).size
    bytesRewritten = bytes
    await made.close()
    await rename(next, file)
    const folder = await open(dirname(file), 'r')
    await folder.sync()
    await folder.close()
    lines = all.length
    return open(file, 'a', 0o600)
  }

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) {
      const group = waiting
      waiting = []
      try {
        // What a write that failed has left of its last line is a line of its own, which is none.
        if (isTorn) await handle.appendFile('\n')
        isTorn = true
        for (const piece of piecesOf(group.map(({ line }) => line))) await handle.appendFile(piece)
        isTorn = false
        await handle.datasync()
        lines += group.length
        bytes = (await handle.stat()).size
        if ((lines > fewestLines && lines > 2 * entries) || bytes > fewestBytes + 2 * bytesRewritten) {
          const old = handle
          handle = await rewrite()
          await old.close()
        }
        for (const { resolve } of group) resolve()
      } catch (error) {
        for (const { reject } of group) reject(error)
      }
    }
    writing = null
  }

  const textOf = (scope: string, key: string) => scopes.get(scope)?.values.get(key) ?? null
  const set = (scope: string, key: string, json: string | null): Promise<void> => {
    const line: Line = [scope, key, json]
    apply(line)
    return new Promise((resolve, reject) => {
      waiting.push({ line, resolve, reject })
      writing ??= writeAll()
    })
  }
  return {
    set,
    get: async (scope, key) => textOf(scope, key),
    async replace(scope, key, before, json) {
      if (textOf(scope, key) !== before) return false
      await set(scope, key, json)
      return true
    },
    list: async (scope) => [...(scopes.get(scope)?.values ?? [])],
    size: async (scope) => scopes.get(scope)?.size ?? { keys: 0, characters: 0 },
    async close() {
      await writing
      await handle.close()
    },
  }
}

/** The same, opened when it is first used: a server without plugins has no such file. */
export function lazyFileStorage(file: string): FileStorage {
  let opening: Promise<FileStorage> | null = null
  const opened = () => {
    opening ??= openFileStorage(file).catch((error: unknown) => {
      opening = null // the next call tries again
      throw error
    })
    return opening
  }
  return {
    get: async (scope, key) => (await opened()).get(scope, key),
    set: async (scope, key, json) => (await opened()).set(scope, key, json),
    replace: async (scope, key, before, json) => (await opened()).replace(scope, key, before, json),
    list: async (scope) => (await opened()).list(scope),
    size: async (scope) => (await opened()).size(scope),
    close: async () => (await opening)?.close(),
  }
}
