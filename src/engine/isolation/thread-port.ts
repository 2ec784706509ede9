import type { MessagePort, Worker } from 'node:worker_threads'
import type { Message, Port } from './channel.ts'

/** The channel to another thread. Rows in an answer are handed over, not copied. */
export const threadPort = (other: MessagePort | Worker): Port => ({
  send: (message) => {
    const value = message[0] === 'answer' ? message[2] : null
    const isWhole = value instanceof Uint8Array && value.buffer instanceof ArrayBuffer && value.byteLength === value.buffer.byteLength
    other.postMessage(message, isWhole ? [value.buffer] : [])
  },
  receive: (take) => void other.on('message', (message: Message) => take(message)),
})
