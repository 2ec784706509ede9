import nodeCrypto from 'node:crypto'
import nodeFs from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import zlib from 'node:zlib'
import library from './bindings.ts'
import type { Files } from './files.ts'
import { realFs as fs } from './real-fs.ts'
import type { Schedule, Timer } from './schedule.ts'

// The ports of the simulator are the modules of Node itself: files, timers, the clock and random numbers are replaced before the engine is loaded. So its sources are
// those that are shipped, and a file that is written tomorrow is simulated too.

/** One per process. Each run of a seed gives it a disk and a source of random numbers. */
export interface Machine {
  readonly schedule: Schedule
  files: Files | null
  random: () => number
}

/** The id of this process, as its locks have it: of none that is alive, once it has ended. */
const noProcess = 2 ** 30

type AnyFunction = (...args: never[]) => unknown
type Module = Record<string, unknown>

export function replaceBuiltins(machine: Machine): void {
  Object.defineProperty(process, 'pid', { value: noProcess })
  replaceFiles(machine)
  replaceTimers(machine.schedule)
  replaceRandom(machine)
  replaceZlib(machine.schedule)
  replaceDuckdb(machine)
  syncBuiltinESMExports()
}

function replaceFiles(machine: Machine): void {
  const real = { ...promises } as unknown as Record<string, AnyFunction>
  /** Node's functions call each other. */
  let isInside = false
  const inside = <T>(run: () => T): T => {
    isInside = true
    try {
      return run()
    } finally {
      isInside = false
    }
  }
  const sync = syncFunctions(() => machine.files!, machine)
  for (const [name, simulated] of Object.entries(sync)) {
    const original = (nodeFs as unknown as Record<string, AnyFunction>)[name]!
    const replaced = (...args: never[]) => {
      if (isInside || !machine.files?.has(args[0])) return original(...args)
      return inside(() => (simulated as AnyFunction)(...args))
    }
    ;(nodeFs as unknown as Module)[name] = replaced
    const asPromised = name.slice(0, -'Sync'.length)
    if (!(asPromised in real)) continue
    ;(promises as unknown as Module)[asPromised] = (...args: never[]) => {
      const { files } = machine
      if (!files?.has(args[0])) return machine.schedule.call(`${asPromised} of the program`, () => original(...args))
      const label = `${asPromised} ${String(args[0]).slice(files.root.length)}`
      return machine.schedule.call(label, () => inside(() => (simulated as AnyFunction)(...args)))
    }
  }
  ;(promises as unknown as Module).open = async (path: string, flags?: string, mode?: number) => {
    if (!machine.files?.has(path)) return real.open!(...([path, flags, mode] as never[]))
    const files = machine.files
    const name = String(path).slice(files.root.length)
    const fd = await machine.schedule.call(`open ${name}`, () => inside(() => files.open(String(path), flags, mode)))
    return handleOf(machine, files, fd, name, inside)
  }
}

/** With the paths of the machine's disk; all others go to the real ones. */
function syncFunctions(files: () => Files, machine: Machine) {
  const writeFile = (path: string | number, data: string | Uint8Array, options?: { flag?: string; mode?: number } | string) => {
    const { flag = 'w', mode } = typeof options === 'object' && options !== null ? options : {}
    const fd = typeof path === 'number' ? path : files().open(path, flag, mode)
    try {
      files().writeAll(fd, Buffer.from(data as string))
    } finally {
      if (typeof path !== 'number') files().close(fd)
    }
  }
  return {
    openSync: (path: string, flags?: string | number, mode?: number) => files().open(String(path), flags, mode),
    closeSync: (fd: number) => files().close(fd),
    readSync: (fd: number, buffer: Uint8Array, offset?: number, length?: number, position?: number) =>
      files().read(fd, buffer, offset, length, position),
    writeSync: (fd: number, data: string | Uint8Array, ...more: (number | null | undefined)[]) => {
      if (typeof data === 'string') return files().write(fd, Buffer.from(data), more[0])
      const [offset = 0, length = data.byteLength - (offset ?? 0), position] = more
      return files().write(fd, data.subarray(offset ?? 0, (offset ?? 0) + (length ?? 0)), position)
    },
    fsyncSync: (fd: number) => files().sync(fd),
    fdatasyncSync: (fd: number) => files().sync(fd),
    ftruncateSync: (fd: number, size?: number) => files().truncate(fd, size),
    truncateSync: (path: string, size?: number) => {
      const fd = files().open(path, 'r+')
      files().truncate(fd, size)
      files().close(fd)
    },
    writeFileSync: writeFile,
    appendFileSync: (path: string, data: string | Uint8Array) => writeFile(path, data, { flag: 'a' }),
    renameSync: (from: string, to: string) => files().rename(from, to),
    linkSync: (from: string, to: string) => files().link(from, to),
    copyFileSync: (from: string, to: string, mode?: number) => files().copy(from, to, mode),
    unlinkSync: (path: string) => files().remove(path),
    rmSync: (path: string, options?: object) => files().remove(path, options),
    // Folders are there at once, as journalling file systems keep their order.
    mkdirSync: fs.mkdirSync,
    mkdtempSync: (prefix: string) => {
      const path = `${prefix}${Math.floor(machine.random() * 1e9).toString(36)}`
      fs.mkdirSync(path)
      return path
    },
    readFileSync: fs.readFileSync,
    readdirSync: fs.readdirSync,
    statSync: fs.statSync,
    lstatSync: fs.lstatSync,
    realpathSync: fs.realpathSync,
    accessSync: fs.accessSync,
    chmodSync: fs.chmodSync,
    utimesSync: fs.utimesSync,
    rmdirSync: fs.rmdirSync,
    statfsSync: (path: string) => ({ ...fs.statfsSync(path), bsize: 1, bavail: files().room ?? 1e12, bfree: files().room ?? 1e12 }),
  }
}

/** A lock has the inode of the directory; files of the store, and so their copies, have bytes that differ from run to run. */
const isOfOtherSizes = /\.lock$|^\/place-/

/** The methods of a file handle that are in use. Another one is an error, which says so. */
function handleOf({ schedule }: Machine, files: Files, fd: number, name: string, inside: <T>(run: () => T) => T): object {
  const call = <T>(label: string, run: () => T): Promise<T> =>
    schedule.call(`${isOfOtherSizes.test(name) ? label.replace(/\d+/, 'all') : label} ${name}`, () => inside(run))
  const bytesOf = (data: string | Uint8Array) => Buffer.from(data as string)
  const methods = {
    fd,
    read: (buffer: Uint8Array | { buffer: Uint8Array }, offset?: number, length?: number, position?: number | null) => {
      if (!(buffer instanceof Uint8Array)) throw new Error('FileHandle.read with options is not simulated')
      return call('read', () => ({ bytesRead: files.read(fd, buffer, offset, length, position ?? null), buffer }))
    },
    write: (data: Uint8Array | string, offset?: number, length?: number, position?: number | null) =>
      call(`write ${data.length} to`, () => {
        const bytes = typeof data === 'string' ? bytesOf(data) : data.subarray(offset ?? 0, (offset ?? 0) + (length ?? data.byteLength))
        return { bytesWritten: files.write(fd, bytes, position ?? null), buffer: data }
      }),
    writev: (all: readonly Uint8Array[], position?: number | null) =>
      call(`write ${all.reduce((sum, one) => sum + one.byteLength, 0)} to`, () => ({
        bytesWritten: files.write(fd, Buffer.concat(all), position ?? null),
        buffers: all,
      })),
    writeFile: (data: string | Uint8Array) => call(`write ${data.length} to`, () => files.writeAll(fd, bytesOf(data))),
    appendFile: (data: string | Uint8Array) => call(`write ${data.length} to`, () => files.writeAll(fd, bytesOf(data))),
    readFile: (options?: string | { encoding?: string }) =>
      call('read', () => {
        const size = nodeFs.fstatSync(fd).size
        const bytes = Buffer.alloc(size)
        files.read(fd, bytes, 0, size, 0)
        return options === undefined ? bytes : bytes.toString('utf8')
      }),
    stat: (options?: object) => call('stat', () => nodeFs.fstatSync(fd, options)),
    chmod: (mode: number) => call('chmod', () => nodeFs.fchmodSync(fd, mode)),
    truncate: (size?: number) => call(`truncate to ${size ?? 0}`, () => files.truncate(fd, size)),
    sync: () => call('sync', () => files.sync(fd)),
    datasync: () => call('sync', () => files.sync(fd)),
    close: () => call('close', () => files.close(fd)),
  }
  return new Proxy(methods, {
    get(target, key) {
      if (key in target || typeof key === 'symbol' || key === 'then') return target[key as keyof typeof target]
      throw new Error(`FileHandle.${key} is not simulated`)
    },
  })
}

function replaceTimers(schedule: Schedule): void {
  const aborted = (signal: AbortSignal | undefined) =>
    Object.assign(new Error('The operation was aborted'), { name: 'AbortError', code: 'ABORT_ERR', cause: signal?.reason })
  const handle = (timer: Timer) => {
    const self = {
      timer,
      ref: () => self,
      unref: () => self,
      hasRef: () => true,
      refresh: () => self,
      [Symbol.dispose]: () => schedule.clearTimer(timer),
    }
    return self
  }
  const clear = (given: ReturnType<typeof handle> | undefined) => void (given?.timer && schedule.clearTimer(given.timer))
  const waiting = <T>(ms: number, value: T, { signal }: { signal?: AbortSignal } = {}) =>
    new Promise<T>((resolve, reject) => {
      if (signal?.aborted) return reject(aborted(signal))
      const timer = schedule.setTimer(ms, () => resolve(value))
      signal?.addEventListener(
        'abort',
        () => {
          schedule.clearTimer(timer)
          reject(aborted(signal))
        },
        { once: true },
      )
    })
  Object.assign(globalThis, {
    setTimeout: (run: (...args: unknown[]) => void, ms = 1, ...args: unknown[]) => handle(schedule.setTimer(ms, () => run(...args))),
    setInterval: (run: (...args: unknown[]) => void, ms = 1, ...args: unknown[]) =>
      handle(schedule.setTimer(ms, () => run(...args), Math.max(ms, 1))),
    setImmediate: (run: (...args: unknown[]) => void, ...args: unknown[]) => {
      let isCleared = false
      void schedule.call('turn', () => void (isCleared || run(...args)))
      return { clear: () => (isCleared = true), unref: () => undefined }
    },
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: (given: { clear(): void } | undefined) => given?.clear(),
    Date: dateOf(schedule),
  })
  Object.assign(timers, {
    setTimeout: (ms?: number, value?: unknown, options?: { signal?: AbortSignal }) => waiting(ms ?? 1, value, options),
    setImmediate: (value?: unknown) => schedule.call('turn', () => value),
  })
  performance.now = () => schedule.now()
  AbortSignal.timeout = (ms) => {
    const controller = new AbortController()
    schedule.setTimer(ms, () => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')))
    return controller.signal
  }
}

function dateOf(schedule: Schedule): DateConstructor {
  const RealDate = globalThis.Date
  class VirtualDate extends RealDate {
    constructor(...args: unknown[]) {
      super(...((args.length === 0 ? [schedule.wallClock()] : args) as [number]))
    }
    static override now() {
      return schedule.wallClock()
    }
    static override [Symbol.hasInstance](value: unknown) {
      return Object.prototype.toString.call(value) === '[object Date]'
    }
  }
  return VirtualDate as unknown as DateConstructor
}

function replaceRandom(machine: Machine): void {
  const bytes = (count: number) => Buffer.from(Array.from({ length: count }, () => Math.floor(machine.random() * 256)))
  Math.random = () => machine.random()
  Object.assign(nodeCrypto, {
    randomBytes: bytes,
    randomFillSync: (into: Uint8Array | Uint32Array) => {
      new Uint8Array(into.buffer, into.byteOffset, into.byteLength).set(bytes(into.byteLength))
      return into
    },
    randomInt: (low: number, high?: number) =>
      high === undefined ? Math.floor(machine.random() * low) : low + Math.floor(machine.random() * (high - low)),
    randomUUID: () => {
      const hex = bytes(16).toString('hex')
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
    },
  })
  const scrypt = nodeCrypto.scryptSync
  Object.assign(nodeCrypto, {
    scrypt: (...args: unknown[]) => {
      const done = args.pop() as (error: unknown, key?: unknown) => void
      machine.schedule.call('scrypt', () => scrypt(...(args as Parameters<typeof scrypt>))).then((key) => done(null, key), done)
    },
  })
}

/** Node runs these in threads. */
function replaceZlib(schedule: Schedule): void {
  for (const name of ['gzip', 'gunzip', 'deflate', 'inflate', 'deflateRaw', 'inflateRaw', 'brotliCompress', 'brotliDecompress'] as const) {
    const now = zlib[`${name}Sync`] as (...args: unknown[]) => Buffer
    ;(zlib as unknown as Module)[name] = (...args: unknown[]) => {
      const done = args.pop() as (error: unknown, bytes?: Buffer) => void
      schedule.call(name, () => now(...args)).then((bytes) => done(null, bytes), done)
    }
  }
}

/** What a process that is gone has left open. */
const databases = new Set<unknown>()
const connections = new Set<unknown>()

interface Bindings {
  close_sync: (database: unknown) => void
  disconnect_sync: (connection: unknown) => void
  readonly PendingState: { readonly RESULT_READY: number }
  [name: string]: unknown
}
const bindings = library as unknown as Bindings

/** One call of the store at a time, when the schedule says so. */
/** Its beginning: enough to see which it is. */
const statement = (sql: string, { files }: Machine) => sql.replaceAll(files?.root ?? '', '').slice(0, 80)

function replaceDuckdb(machine: Machine): void {
  const { schedule } = machine
  const duckdb = bindings
  const {
    open,
    connect,
    get_or_create_from_cache: cached,
    close_sync: close,
    disconnect_sync: disconnect,
  } = duckdb as Record<string, AnyFunction>
  const opened =
    (set: Set<unknown>, work: AnyFunction) =>
    async (...args: never[]) => {
      const made = await work(...args)
      set.add(made)
      return made
    }
  const calls: Record<string, AnyFunction> = {
    open: opened(databases, open!),
    get_or_create_from_cache: opened(databases, cached!),
    connect: opened(connections, connect!),
  }
  const names = [
    'query',
    'prepare',
    'execute_prepared',
    'execute_prepared_streaming',
    'extract_statements',
    'prepare_extracted_statement',
    'execute_pending',
    'fetch_chunk',
  ]
  for (const name of names) calls[name] = duckdb[name] as AnyFunction
  for (const [name, work] of Object.entries(calls))
    duckdb[name] = (...args: never[]) =>
      schedule.call(`duckdb ${name}${typeof args[1] === 'string' ? ` ${statement(args[1], machine)}` : ''}`, () => work(...args))
  duckdb.close_sync = ((database: never) => {
    databases.delete(database)
    return close!(database)
  }) as (database: unknown) => void
  duckdb.disconnect_sync = ((connection: never) => {
    connections.delete(connection)
    return disconnect!(connection)
  }) as (connection: unknown) => void
  // Its threads would take as long as they like.
  duckdb.pending_execute_check_state = () => duckdb.PendingState.RESULT_READY
}

/** After a kill: what it had open is of no process any more. */
export function closeStores(): void {
  const duckdb = bindings
  for (const connection of [...connections]) duckdb.disconnect_sync(connection)
  for (const database of [...databases]) duckdb.close_sync(database)
}
