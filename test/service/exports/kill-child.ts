import { promises } from 'node:fs'
import http from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { DuckDBConnection } from '@duckdb/node-api'
import pg from 'pg'
import { open } from '../../../src/engine.ts'

// Stores some events, executes the exports that are due, and is killed at one of the steps on the way: `node kill-child.mjs DIR NOW STEP EVENTS`.

const [dataDir = '', now = '', stepText = '0', count = '0'] = process.argv.slice(2)
const killAt = Number(stepText)
let steps = 0
let isCounting = false

/** Before and after each call. */
function watch(target: object, name: string): void {
  const methods = target as Record<string, (...args: unknown[]) => unknown>
  const original = methods[name]!
  const step = () => {
    if (isCounting && ++steps === killAt) process.kill(process.pid, 'SIGKILL')
  }
  methods[name] = function (this: unknown, ...args: unknown[]) {
    step()
    const result = original.apply(this, args)
    return result instanceof Promise ? result.finally(step) : result
  }
}

for (const name of ['rename', 'rm', 'mkdir', 'open', 'readdir', 'readFile']) watch(promises, name)
watch(http, 'request')
syncBuiltinESMExports()
for (const name of ['run', 'prepare']) watch(DuckDBConnection.prototype, name)
for (const name of ['connect', 'query', 'end']) watch(pg.Client.prototype, name)

const waymark = await open({ dataDir, clock: () => new Date(now), threads: 1, memoryLimit: '256MB', exports: { runs: false } })
const id = (await waymark.projects())[0]!.id
const project = await waymark.project(id)
if (Number(count) > 0) {
  const batch = Array.from({ length: Number(count) }, (_, i) => ({
    event: 'a',
    distinct_id: `u${i % 3}`,
    properties: { i, pad: 'x'.repeat(2000) },
  }))
  await project.ingest({ batch })
  console.log('acknowledged')
}
isCounting = true
const { scheduler } = waymark.exports
for (;;) {
  const next = await scheduler.tick()
  if (scheduler.running === 0 && next > Date.parse(now)) break
  await scheduler.settled()
}
isCounting = false
await waymark.close()
console.log(`steps ${steps}`)
