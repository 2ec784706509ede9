#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8'
import { runCommand } from './run.ts'

// Batches live for some seconds, long enough to be taken for old. Left alone the heap grows to four times what is in use before they are looked at again.
setFlagsFromString('--heap-growing-percent=50')

process.exitCode = await runCommand(process.argv.slice(2), process.env, {
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
})
