import type { CapturedEvent } from './ports.ts'

// Events that plugins capture. A plugin that awaits `capture` does not wait for the log: events of its project may be waiting for the plugin.

const mostWaiting = 10_000

export interface Captures {
  add(projectId: number, event: CapturedEvent): void
  /** Resolves when the log has what was added. Later events are refused. */
  close(): Promise<void>
}

export function createCaptures(
  ingest: (projectId: number, events: readonly CapturedEvent[]) => Promise<void>,
  report: (error: unknown) => void,
): Captures {
  const waiting = new Map<number, CapturedEvent[]>()
  const running = new Map<number, Promise<void>>()
  let isClosed = false

  const drain = async (projectId: number) => {
    for (let events = waiting.get(projectId); events; events = waiting.get(projectId)) {
      waiting.delete(projectId)
      await ingest(projectId, events).catch(report)
    }
    running.delete(projectId)
  }

  return {
    add(projectId, event) {
      if (isClosed) throw new Error('The server is closing')
      const events = waiting.get(projectId) ?? []
      if (events.length >= mostWaiting) throw new Error(`More than ${mostWaiting} captured events are waiting for the log`)
      events.push(event)
      waiting.set(projectId, events)
      if (!running.has(projectId)) running.set(projectId, drain(projectId))
    },
    async close() {
      isClosed = true
      await Promise.all(running.values())
    },
  }
}
