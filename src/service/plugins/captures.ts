import type { CapturedEvent } from './ports.ts'

// Events that plugins capture. A plugin that awaits `capture` does not wait for the log: events of its project may be waiting for the plugin.

const mebibyte = 1024 ** 2
/** Bytes are those of JSON. A batch of the log has room for more than those of a project. */
const mostWaiting = { events: 10_000, bytesOfProject: 32 * mebibyte, bytesOfServer: 256 * mebibyte }

interface Waiting {
  readonly events: CapturedEvent[]
  bytes: number
}

export interface Captures {
  add(projectId: number, event: CapturedEvent): void
  /** Resolves when the log has what was added. Later events are refused. */
  close(): Promise<void>
}

export function createCaptures(
  ingest: (projectId: number, events: readonly CapturedEvent[]) => Promise<void>,
  report: (error: unknown) => void,
  most = mostWaiting,
): Captures {
  const waiting = new Map<number, Waiting>()
  /** Of all projects, with the events that are on their way to the log. */
  let held = 0
  const running = new Map<number, Promise<void>>()
  let isClosed = false

  const drain = async (projectId: number) => {
    for (let next = waiting.get(projectId); next; next = waiting.get(projectId)) {
      waiting.delete(projectId)
      await ingest(projectId, next.events).catch(report)
      held -= next.bytes
    }
    running.delete(projectId)
  }

  return {
    add(projectId, event) {
      if (isClosed) throw new Error('The server is closing')
      const next = waiting.get(projectId) ?? { events: [], bytes: 0 }
      if (next.events.length >= most.events) throw new Error(`More than ${most.events} captured events are waiting for the log`)
      const bytes = Buffer.byteLength(JSON.stringify(event))
      if (next.bytes + bytes > most.bytesOfProject || held + bytes > most.bytesOfServer)
        throw new Error('Captured events with too many bytes are waiting for the log')
      next.events.push(event)
      next.bytes += bytes
      held += bytes
      waiting.set(projectId, next)
      if (!running.has(projectId)) running.set(projectId, drain(projectId))
    },
    async close() {
      isClosed = true
      await Promise.all(running.values())
    },
  }
}
