import { spawn } from 'node:child_process'

const signals = ['SIGINT', 'SIGTERM'] as const

export interface Stopping {
  /** Resolves at the first SIGINT or SIGTERM. */
  readonly asked: Promise<void>
  /** No longer listens, when nobody asked. */
  end(): void
}

/**
 * The first SIGINT or SIGTERM asks; from then on the process has `limitMs`. What is not over by then is told to `onLimit`, and the process ends with 1. A
 * second signal ends it at once.
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

/** For the process to end by itself after its limit. */
const graceMs = 2_000

/**
 * `process.exit()` waits for statements that cannot be interrupted, and no timer fires while the main thread is blocked: only another process can end this
 * one then. It ends with the pipe between the two, so with this process.
 */
function killAfter(ms: number): void {
  const script = `setTimeout(() => { try { process.kill(${process.pid}, 'SIGKILL') } finally { process.exit() } }, ${ms})
    process.stdin.on('close', () => process.exit()).resume()`
  const guard = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'ignore', 'ignore'], detached: true, env: {} })
  guard.on('error', () => undefined) // the timer is still there
  guard.unref()
  ;(guard.stdin as unknown as { unref(): void }).unref()
}
