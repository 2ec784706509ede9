import { type RecordBatch, Table } from 'apache-arrow'
import type { RowsAnswer } from '../../../engine/execution/answer-rows.ts'
import { arrowBytes } from '../../../lib/bytes/arrow-bytes.ts'
import { csvLines } from '../../../lib/text/csv.ts'
import { tableRows } from '../../../queries/answers/rows.ts'
import { arrowMedia, csvMedia, warningHeaders } from './forms.ts'

// Rows on their way from the engine to a client that may be slow: the engine produces the next ones when the client has read those before, and stops
// when the client disconnects.

/** Bytes of rows buffered before the first byte is sent, so that headers can describe the end. */
export const lookAheadLimits = { always: 1024 * 1024, perAnswer: 16 * 1024 * 1024, together: 64 * 1024 * 1024 }
/** A client that reads nothing for this long is disconnected. */
const clientPatience = 30_000

/** Requests of readers that may pause for longer, such as cursors, with their milliseconds. */
const patientRequests = new WeakMap<Request, number>()
export const waitsLonger = (request: Request, ms: number): void => void patientRequests.set(request, ms)
export const patienceWith = (request: Request): number => patientRequests.get(request) ?? clientPatience

/** Rows that wait for their reader, of all answers of the process. */
let heldAhead = 0

export interface Peeked {
  readonly answer: RowsAnswer
  readonly first: readonly RecordBatch[]
  /** Null while there is more to read. */
  readonly hasMore: boolean | null
  /** Bytes of `first`, which count until they are sent or given up. */
  readonly held: { bytes: number }
}

const hold = (held: { bytes: number }, bytes: number) => {
  held.bytes += bytes
  heldAhead += bytes
}

/** Waits for the first rows, if there is room for all of them: errors up to here get their own status. */
export async function peek(answer: RowsAnswer, { always, perAnswer, together } = lookAheadLimits): Promise<Peeked> {
  const first: RecordBatch[] = []
  const held = { bytes: 0 }
  try {
    while (held.bytes < always || (held.bytes < perAnswer && heldAhead < together)) {
      const { done, value } = await answer.batches.next()
      if (done) return { answer, first, hasMore: value, held }
      first.push(value)
      hold(held, value.data.byteLength)
    }
    return { answer, first, hasMore: null, held }
  } catch (error) {
    hold(held, -held.bytes)
    throw error
  }
}

async function* all({ answer, first, held }: Peeked): AsyncGenerator<RecordBatch> {
  yield* first
  hold(held, -held.bytes)
  yield* answer.batches
}

const arrow = (peeked: Peeked): AsyncGenerator<Uint8Array> => arrowBytes(all(peeked))

async function* csv(peeked: Peeked): AsyncGenerator<Uint8Array> {
  const names = peeked.first[0]!.schema.fields.map(({ name }) => name)
  yield* csvLines([names])
  for await (const batch of all(peeked)) yield* csvLines(tableRows(new Table([batch]), peeked.answer.timezone))
}

/** Waits for the first piece: errors up to here get their own status. */
export async function begunStream(pieces: AsyncGenerator<Uint8Array>): Promise<AsyncGenerator<Uint8Array>> {
  const first = await pieces.next()
  return (async function* () {
    try {
      if (first.done) return
      yield first.value
      yield* pieces
    } finally {
      await pieces.return(undefined)
    }
  })()
}

export interface StreamHooks {
  /** Stops the engine. */
  readonly stop: () => void
  /** Called once, at any kind of end. */
  readonly ended: () => void
  /** The stream failed: the connection must end so that the client notices. False if it cannot be closed here. */
  readonly breakOff: (error: unknown) => boolean
  readonly patience?: number
}

/** Bytes at the pace of the reader (backpressure). */
export function pacedBody(pieces: AsyncGenerator<Uint8Array>, { stop, ended, breakOff, patience = clientPatience }: StreamHooks) {
  let waiting: NodeJS.Timeout | undefined
  let isOver = false
  const over = () => {
    clearTimeout(waiting)
    if (isOver) return false
    isOver = true
    ended()
    return true
  }
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      clearTimeout(waiting)
      if (isOver) return
      const fail = (error: unknown) => {
        if (!over()) return
        stop()
        // Some servers would append the text of a stream's error to the rows. A stream that stalls instead ends with its connection.
        if (!breakOff(error)) controller.error(error)
      }
      try {
        const { done, value } = await pieces.next()
        if (isOver) return
        if (done) {
          over()
          controller.close()
          return
        }
        controller.enqueue(value)
        waiting = setTimeout(() => {
          fail(new Error('The client stopped reading the response.'))
          void pieces.return(undefined)
        }, patience)
        waiting.unref()
      } catch (error) {
        fail(error)
      }
    },
    async cancel() {
      over()
      stop()
      await pieces.return(undefined)
    },
  })
}

export const streamed = (
  peeked: Peeked,
  form: 'csv' | 'arrow',
  hooks: StreamHooks,
): { body: ReadableStream<Uint8Array>; headers: Record<string, string> } => ({
  body: pacedBody(form === 'csv' ? csv(peeked) : arrow(peeked), {
    ...hooks,
    ended: () => {
      hooks.ended()
      hold(peeked.held, -peeked.held.bytes)
      // A client may disconnect before it has read more than the first rows.
      peeked.answer.batches.return(true).catch(() => undefined)
    },
  }),
  headers: {
    'content-type': form === 'csv' ? csvMedia : arrowMedia,
    'x-row-limit': String(peeked.answer.limit),
    'x-has-more': String(peeked.hasMore ?? 'unknown'),
    ...warningHeaders(peeked.answer.warnings),
  },
})
