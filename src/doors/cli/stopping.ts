import { spawn } from 'node:child_process'

const signals = ['SIGINT', 'SIGTERM'] as const

/** The time for closing, after running requests have had theirs. */
export const closeMs = 10_000

export interface Stopping {
  /** Resolves at the first SIGINT or SIGTERM. */
  readonly asked: Promise<void>
  /** Stops listening if no signal came. */
  end(): void
}

/**
 * The first SIGINT or SIGTERM requests a stop; from then on the process has `limitMs`. Work that is not finished by then is passed to `onLimit`, and the
 * process exits with 1. A second signal exits immediately.
 */
export function listenForStop(limitMs: number, onLimit: () => void): Stopping {
  let isAsked = false
  let resolve: () => void
  const asked = new Promise<void>((done) => {
    resolve = done
  })
  const stop = (signal: NodeJS.Signals) => {
    if (isAsked) {
      end()
      process.kill(process.pid, signal)
      return
    }
    isAsked = true
    setTimeout(() => {
      onLimit()
      process.exit(1)
    }, limitMs).unref()
    killAfter(limitMs + graceMs)
    resolve()
  }
  const end = () => {
    for (const signal of signals) process.off(signal, stop)
  }
  for (const signal of signals) process.on(signal, stop)
  return { asked, end }
}

/** Time for the process to exit by itself after its limit. */
export const graceMs = 2_000

/**
 * `process.exit()` waits for statements that cannot be interrupted, and no timer fires while the main thread is blocked: then only another process can
 * end this one. The other process exits when the pipe between the two closes, so with this process.
 */
function killAfter(ms: number): void {
  const script = `setTimeout(() => { try { process.kill(${process.pid}, 'SIGKILL') } finally { process.exit() } }, ${ms})
    process.stdin.on('close', () => process.exit()).resume()`
  const guard = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'ignore', 'ignore'], detached: true, env: {} })
  guard.on('error', () => undefined) // the timer is still there
  guard.unref()
  ;(guard.stdin as unknown as { unref(): void }).unref()
}
