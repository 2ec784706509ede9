import { open } from 'node:fs/promises'
import type { Socket } from 'node:net'
import type { Client } from 'pg'

// `COPY … FROM STDIN` over a connection of pg. Each chunk is read into the same buffer: with a new one for each, collecting garbage took a tenth of the time.

interface Connection {
  readonly stream: Socket
  query(sql: string): void
  endCopyFrom(): void
  sendCopyFail(message: string): void
}

const chunkBytes = 1024 ** 2
/** The type of a CopyData message, and its length. */
const headBytes = 5
const copyData = 'd'.charCodeAt(0)

/** Sends a file. `onChunk` is called when the server has taken a chunk, apart from what the sockets buffer. */
export const copyFile = (client: Client, sql: string, path: string, onChunk: () => void): Promise<void> =>
  new Promise((resolve, reject) => {
    let unreadable: unknown = null
    let isOver = false
    const sending = async (connection: Connection): Promise<void> => {
      try {
        for await (const message of messagesOf(path)) {
          if (isOver || !(await isSent(connection.stream, message))) return
          onChunk()
        }
      } catch (error) {
        unreadable = error
        connection.sendCopyFail('The file of the run cannot be read.')
        return
      }
      if (!isOver) connection.endCopyFrom()
    }
    let sent: Promise<void> = Promise.resolve()
    const end = (settle: () => void): void => {
      isOver = true
      sent.then(settle)
    }
    const query = {
      submit: (connection: Connection) => connection.query(sql),
      handleCopyInResponse(connection: Connection) {
        sent = sending(connection)
      },
      handleCommandComplete() {},
      handleReadyForQuery: () => end(resolve),
      handleError: (error: unknown) => end(() => reject(unreadable ?? error)),
    }
    client.query(query as never)
  })

/** False: the connection is lost. The query gets the error. */
const isSent = (stream: Socket, message: Buffer): Promise<boolean> => new Promise((done) => stream.write(message, (error) => done(!error)))

/** Each is valid until the next one is asked for. */
async function* messagesOf(path: string): AsyncGenerator<Buffer, void, undefined> {
  const file = await open(path)
  try {
    const buffer = Buffer.allocUnsafe(headBytes + chunkBytes)
    buffer[0] = copyData
    for (;;) {
      const { bytesRead } = await file.read(buffer, headBytes, chunkBytes)
      if (bytesRead === 0) return
      const end = withoutNul(buffer, headBytes + bytesRead)
      buffer.writeUInt32BE(end - 1, 1) // the length counts itself, not the type
      yield buffer.subarray(0, end)
    }
  } finally {
    await file.close()
  }
}

/** PostgreSQL stores no NUL in texts: the bytes after it move forward. Returns the new end. */
function withoutNul(buffer: Buffer, end: number): number {
  let to = buffer.subarray(headBytes, end).indexOf(0)
  if (to < 0) return end
  to += headBytes
  for (let from = to; from < end; from++) if (buffer[from] !== 0) buffer[to++] = buffer[from]!
  return to
}
