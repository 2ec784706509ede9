import type { DuckDBConnection } from '@duckdb/node-api'
import { WaymarkError } from '../../../errors/errors.ts'
import { onAbort } from '../../../lib/flow/on-abort.ts'

interface Waiter {
  take(connection: DuckDBConnection): void
  refuse(error: Error): void
}

const cancelled = (signal: AbortSignal, cause?: unknown) =>
  signal.reason instanceof WaymarkError ? signal.reason : new WaymarkError('query-cancelled', {}, { cause })

/** One statement at a time per connection: a connection belongs to one user until it is returned. */
export class ConnectionPool {
  private readonly idle: DuckDBConnection[]
  private readonly waiting: Waiter[] = []
  /** Connections in use, and those being opened. */
  private taken = 0
  private isClosed = false
  private drained: (() => void) | null = null
  private readonly connect: () => Promise<DuckDBConnection>
  readonly size: number

  /** `ready` are open already. */
  constructor(connect: () => Promise<DuckDBConnection>, size: number, ready: readonly DuckDBConnection[] = []) {
    this.connect = connect
    this.size = size
    this.idle = [...ready]
  }

  /** Connections in use. */
  get inUse(): number {
    return this.taken
  }

  /** An aborted signal removes the caller from the queue. Its reason is thrown if it is a WaymarkError (a time limit, say). */
  async acquire(signal?: AbortSignal): Promise<DuckDBConnection> {
    if (this.isClosed) throw new WaymarkError('closed', {})
    if (signal?.aborted) throw cancelled(signal)
    if (this.taken >= this.size) return this.queue(signal)
    this.taken++
    try {
      return this.idle.pop() ?? (await this.connect())
    } catch (error) {
      this.leave()
      throw error
    }
  }

  release(connection: DuckDBConnection): void {
    const next = this.waiting.shift()
    if (next) {
      next.take(connection)
      return
    }
    this.idle.push(connection)
    this.leave()
  }

  /** Runs `work` on a connection of its own and interrupts it when the signal aborts. A transaction left open is rolled back. */
  async use<T>(work: (connection: DuckDBConnection) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const connection = await this.acquire(signal)
    let again: NodeJS.Timeout | undefined
    const interrupt = () => {
      connection.interrupt()
      // A statement that is interrupted before it has started would run to its end.
      again = setInterval(() => connection.interrupt(), 20)
    }
    const leave = signal && onAbort(signal, interrupt)
    try {
      signal?.throwIfAborted()
      return await work(connection)
    } catch (error) {
      clearInterval(again)
      await connection.run('ROLLBACK').catch(() => undefined)
      throw signal?.aborted ? cancelled(signal, error) : error
    } finally {
      clearInterval(again)
      leave?.()
      this.release(connection)
    }
  }

  /** Rejects waiting callers, and lets running ones finish. */
  async close(): Promise<void> {
    this.isClosed = true
    for (const waiter of this.waiting.splice(0)) waiter.refuse(new WaymarkError('closed', {}))
    if (this.taken > 0) {
      await new Promise<void>((resolve) => {
        this.drained = resolve
      })
    }
    for (const connection of this.idle.splice(0)) connection.closeSync()
  }

  private leave(): void {
    this.taken--
    if (this.taken === 0) this.drained?.()
  }

  private queue(signal: AbortSignal | undefined): Promise<DuckDBConnection> {
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        const index = this.waiting.indexOf(waiter)
        if (index >= 0) this.waiting.splice(index, 1)
        if (signal) reject(cancelled(signal))
      }
      const waiter: Waiter = {
        take: (connection) => {
          leave?.()
          resolve(connection)
        },
        refuse: (error) => {
          leave?.()
          reject(error)
        },
      }
      const leave = signal && onAbort(signal, giveUp) // a query may have many statements
      this.waiting.push(waiter)
    })
  }
}
