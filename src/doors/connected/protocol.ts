import { deserialize, serialize } from 'node:v8'
import type { WireError } from '../../engine/isolation/wire-error.ts'
import { WaymarkError } from '../../errors/errors.ts'

// What the processes of one data directory say to each other, over HTTP on a socket of the machine, with a secret that only who may read the directory knows. A guest is a process that
// works through the owner, the one that has the directory open.

/** Of every request: the secret of the owner's door. */
export const secretHeader = 'x-waymark-owner'
/** What a request is. */
export const kindHeader = 'x-waymark-kind'
/** Facts about a request that a guest has taken. */
export const takenHeader = 'x-waymark-taken'
/** Of an answer: the lines that it wrote to the log, as a list in JSON, percent-encoded. */
export const logHeader = 'x-waymark-log'

/** The headers of a client come with facts about its request and with lines for the log: more than Node takes of itself. */
export const mostHeaderBytes = 1024 ** 2

/** `watch`: lasts as long as the guest is connected. `call`: a method. `batches`: rows as an Arrow stream. `request`: one that a guest has taken. `operator`: of typed calls. `command`: of the command line. */
export type Kind = 'watch' | 'call' | 'batches' | 'request' | 'operator' | 'command'

/** Whom a call is made on: the directory, or a project by its id. */
export type Target =
  | { readonly of: 'directory' | 'server' }
  | { readonly of: 'project' | 'actions' | 'cohorts' | 'files'; readonly project: number }

export interface Call {
  readonly target: Target
  readonly method: string
  readonly args: readonly unknown[]
  /** For each argument, which options the owner puts in place of those that cannot be sent. */
  readonly watched: readonly (readonly (keyof Watched)[])[]
}

/** Options that cannot be sent: functions stay in the process that they were passed in. */
export interface Watched {
  readonly signal?: AbortSignal
  readonly onProgress?: (value: unknown) => void
}

/** The parts of an answer to a call. */
export type Part =
  | { readonly progress: unknown }
  | { readonly answer: unknown /** The key of the project, which may be a new one. */; readonly token: string | null }
  | { readonly failure: unknown }

/** What the guest knows of a request that it has taken. */
export interface Taken {
  readonly url: string
  readonly address: string | null
  readonly mountedAt: string | null
  /** Whom the guest's application has signed in; absent: it was not asked. */
  readonly host: unknown
  /** Why the application could not say it. */
  readonly hostFailure: WireError | null
  /** The options of its handler, as JSON. */
  readonly options: string
  /** The same when a request is sent again. */
  readonly attempt: string
}

export const writeTaken = (taken: Taken): string => Buffer.from(JSON.stringify(taken)).toString('base64url')
export const readTaken = (text: string): Taken => JSON.parse(Buffer.from(text, 'base64url').toString()) as Taken

/** Functions, symbols and proxies cannot be sent to another process. */
export function written(value: unknown): Buffer {
  try {
    return serialize(value)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const message = `This value cannot be sent to the process that has the data directory open: ${reason} Use JSON values, dates or BigInts.`
    throw new WaymarkError('validation-failed', { message, attr: null }, { cause })
  }
}
export const read = (bytes: Uint8Array): unknown => deserialize(bytes)

const lengthBytes = 4

/** A part of an answer, with its length before it. */
export function framed(part: Part): Buffer {
  const bytes = written(part)
  const frame = Buffer.allocUnsafe(lengthBytes + bytes.length)
  frame.writeUInt32LE(bytes.length)
  bytes.copy(frame, lengthBytes)
  return frame
}

export async function* unframed(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Part> {
  let waiting: Uint8Array[] = []
  let bytes = 0
  let wanted: number | null = null
  const take = (count: number): Buffer => {
    const all = waiting.length === 1 ? waiting[0]! : Buffer.concat(waiting)
    waiting = [all.subarray(count)]
    bytes -= count
    return Buffer.from(all.buffer, all.byteOffset, count)
  }
  for await (const chunk of chunks) {
    waiting.push(chunk)
    bytes += chunk.length
    for (;;) {
      if (wanted === null && bytes >= lengthBytes) wanted = take(lengthBytes).readUInt32LE()
      if (wanted === null || bytes < wanted) break
      yield read(take(wanted)) as Part
      wanted = null
    }
  }
}
