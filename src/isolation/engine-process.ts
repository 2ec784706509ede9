import type { Message } from './channel.ts'
import { hostEngine } from './engine-host.ts'

// The program of the engine's process. It lives as long as the process that started it, and no signal of a terminal ends it before.

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL')) // what is not applied is in the log
hostEngine({
  send: (message) => void process.send?.(message),
  receive: (take) => void process.on('message', (message) => take(message as Message)),
})
