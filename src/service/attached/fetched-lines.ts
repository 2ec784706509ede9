import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { Client } from 'pg'

// Rows of one statement as lines of text. pg would keep all rows of an answer; here the connection waits while nobody reads, so memory has a few rows, however long they are.

interface Connection {
  readonly stream: Socket
  query(sql: string): void
}

/** Bytes that wait to be read. */
const mostWaiting = 1024 ** 2

/** The first column of each row, without line breaks. `onLine`: with its bytes. */
export function fetchedLines(client: Client, sql: string, onLine: (bytes: number) => void): Readable {
  const { stream } = (client as unknown as { connection: Connection }).connection
  const lines = new Readable({
    highWaterMark: mostWaiting,
    read: () => void stream.resume(),
    destroy(error, done) {
      stream.resume() // what is left of the answer is dropped
      done(error)
    },
  })
  const query = {
    /** Ends the time limit of pg. */
    callback: undefined as (() => void) | undefined,
    submit: (connection: Connection) => connection.query(sql),
    handleRowDescription() {},
    handleDataRow({ fields: [text] }: { readonly fields: readonly (string | null)[] }) {
      if (lines.destroyed) return
      const line = Buffer.from(`${(text ?? '').replaceAll('\n', ' ')}\n`)
      onLine(line.length - 1)
      if (!lines.push(line)) stream.pause()
    },
    handleCommandComplete() {},
    handleReadyForQuery() {
      query.callback?.()
      lines.push(null)
    },
    handleError(error: Error) {
      query.callback?.()
      lines.destroy(error)
    },
  }
  client.query(query as never)
  return lines
}
