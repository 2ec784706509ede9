import { readdirSync } from 'node:fs'
import { setPriority } from 'node:os'
import type { Message } from './channel.ts'
import { hostEngine } from './engine-host.ts'

// The program of the engine's process. It lives as long as the process that started it, and no signal of a terminal ends it before.

/** Who takes events comes first: a heavy query shall not keep an acknowledgement waiting. */
const niceness = 5

/** A thread that is made later is as nice as the one that made it. Where threads cannot be told so one by one, it is left alone. */
function giveWay(): void {
  try {
    for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), niceness)
  } catch {
    // no Linux, or a thread that has just ended
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
