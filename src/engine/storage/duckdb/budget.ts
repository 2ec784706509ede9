import { availableParallelism, totalmem } from 'node:os'
import { WaymarkError } from '../../../errors/errors.ts'

const gibibyte = 1024 ** 3
const units: Readonly<Record<string, number>> = {
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KIB: 1024,
  MIB: 1024 ** 2,
  GIB: gibibyte,
  TIB: 1024 ** 4,
}

/** The container's limit if there is one (cgroup v1 or v2), else the machine's memory. */
const machineMemory = (): number => {
  const limit = process.constrainedMemory?.() ?? 0
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

/** DuckDB's default is 80 % of the machine; the rest of the process and the application also need memory. */
export const defaultMemoryLimit = (machine = machineMemory()): number => Math.floor(Math.min(0.4 * machine, 2 * gibibyte))

export interface MemoryBudget {
  readonly memoryLimit: number
  /** Of the events that are kept in memory as lists. */
  readonly listMemory: number
}

/**
 * What a server uses unless told otherwise. A library is a guest in its process; a server has the machine, or its container, for itself. Beyond 4 GiB a quarter is for
 * lists, which answer most questions, and beyond 10 GiB a fifth for stores.
 */
export function serverMemory(machine = machineMemory()): MemoryBudget {
  const memoryLimit = Math.max(defaultMemoryLimit(machine), Math.floor(machine / 5))
  return { memoryLimit, listMemory: Math.max(Math.floor(memoryLimit / 4), Math.floor((machine - 4 * gibibyte) / 4)) }
}

/** A number of bytes, or text such as `512MB` or `1.5 GiB`. */
export const memoryBytes = (value: number | string): number => bytesOf(value, 'memoryLimit', 64 * 1024 ** 2, 'at least 64 MiB, ')

/** Of the events that are kept in memory as lists. 0: none. */
export const listMemoryBytes = (value: number | string | undefined, memoryLimit: number): number =>
  value === undefined ? Math.floor(memoryLimit / 4) : bytesOf(value, 'listMemory', 0, '')

/** Of the log. */
export const logBytes = (value: number | string): number => bytesOf(value, 'logRetention.bytes', 0, '')

function bytesOf(value: number | string, attr: string, least: number, atLeast: string): number {
  const match = typeof value === 'number' ? null : /^\s*(\d+(?:\.\d+)?)\s*([KMGT]?I?B)\s*$/i.exec(value)
  const isZero = typeof value === 'string' && value.trim() === '0'
  const given = typeof value === 'number' ? value : Number(match?.[1]) * (units[match?.[2]?.toUpperCase() ?? ''] ?? Number.NaN)
  const bytes = isZero ? 0 : given
  if (!(bytes >= least && Number.isFinite(bytes))) {
    const message = `${attr} must be ${atLeast}as a number of bytes or text like "512MB"; got ${JSON.stringify(value)}`
    throw new WaymarkError('validation-failed', { message: message.replace('must be as', 'must be'), attr })
  }
  return Math.floor(bytes)
}

/** The most persons whose state the process caches, beside the engine's memory: as objects, each takes about two thousand bytes. */
export const peopleOf = (memoryLimit: number): number => Math.min(100_000, Math.max(5_000, Math.floor(memoryLimit / (16 * 1024))))

/**
 * The largest answer that is held as a whole. It exists several times while it becomes JSON, which takes up to six times its size, and V8 limits the
 * length of a string.
 */
export const answerBytes = (memoryLimit: number): number => Math.min(64 * 1024 ** 2, Math.max(8 * 1024 ** 2, Math.floor(memoryLimit / 16)))

export const defaultThreads = (): number => availableParallelism()

/** Slots share the engine's memory, so more of them do not increase throughput. */
const maxConcurrency = 8

/**
 * Statements run on libuv's threads, like the log's writes and fsyncs. One thread is reserved for the log and one for the apply stage, so
 * that queries never delay an acknowledgement.
 */
export const defaultConcurrency = (libuvThreads = Number(process.env.UV_THREADPOOL_SIZE) || 4): number =>
  Math.min(maxConcurrency, Math.max(1, libuvThreads - 2))
