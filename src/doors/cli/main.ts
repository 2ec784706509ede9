#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8'
import { runCommand } from './run.ts'

// Batches live for some seconds, long enough to be promoted to the old generation: by default the heap grows to four times its live size before it is
// collected. With a memory limit, more frequent collections are better.
setFlagsFromString(`--heap-growing-percent=${process.argv.some((word) => word.startsWith('--memory')) ? 50 : 200}`)

// Files created here are for the owner of the data directory only, including those that DuckDB creates.
process.umask(0o077)

// The reader of the output may close it early: `waymark query … | head`.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })

process.exitCode = await runCommand(process.argv.slice(2), process.env, {
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
})

// The command has finished; open handles must not keep the process alive.
const lingering = setInterval(() => {
  if (process.stdout.writableLength > 0) return // a slow reader of the output
  process.stderr.write(`waymark: exited with open handles: ${process.getActiveResourcesInfo().join(', ')}\n`)
  process.exit()
}, 5_000)
lingering.unref()
