import { readdirSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import type { Message } from './channel.ts'
import { hostEngine } from './engine-host.ts'

// The main program of the engine's process. It ends with the process that started it, and ignores signals of a terminal.

/** The door has priority: a heavy query must not delay an acknowledgement. It may have been started with a low one itself. */
const niceness = Math.min(19, getPriority() + 5)

/** New threads inherit the priority of the thread that creates them. Systems without priorities per thread are left alone. */
function giveWay(): void {
  try {
    for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), niceness)
  } catch {
    // not Linux, or the thread has just ended
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL')) // what is not applied is in the log
hostEngine(
  {
    send: (message) => void process.send?.(message),
    receive: (take) => void process.on('message', (message) => take(message as Message)),
  },
  giveWay,
)
