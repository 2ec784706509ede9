import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { random } from '../../bench/random.ts'
import type * as engine from '../../src/engine.ts'
import { program } from '../harness/programs.ts'

// A server is killed again and again while events pass a plugin: each is transformed at most twice and stored once, and none that was acknowledged is lost.

const uuidOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const batchSize = 40
/** Between two looks at the storage of the plugin. */
const lookMs = 5
/** For how long an event may not be seen so often. */
const longestMs = 120_000

/** When a process is killed: after so many acknowledgements, and once the plugin has seen an event so often. */
interface Moment {
  readonly acks: number
  readonly seen?: readonly [uuid: string, times: number]
}

/** Kills a process at a moment, and returns what it acknowledged. */
async function runAndKill(args: readonly string[], dataDir: string, { acks, seen }: Moment): Promise<readonly number[]> {
  const child = spawn(process.execPath, [program('transform-kills'), ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let complaint = ''
  child.stderr!.on('data', (text) => {
    complaint += text
  })
  const acknowledged: number[] = []
  const lines = createInterface({ input: child.stdout! })
  const enough = new Promise<void>((resolve) => {
    lines.on('line', (line) => {
      if (line.startsWith('ack ')) acknowledged.push(Number(line.slice(4)))
      if (acknowledged.length >= acks) resolve()
    })
  })
  const [over, drained] = [once(child, 'exit'), once(lines, 'close')]
  let isOver = false
  over.then(() => {
    isOver = true
  })
  await Promise.race([enough, over])
  const until = performance.now() + longestMs
  const isSeen = () => !seen || (timesSeen(dataDir).get(seen[0]) ?? 0) >= seen[1]
  while (!isOver && !isSeen() && performance.now() < until) await setTimeout(lookMs)
  const [inTime, times] = [isSeen(), seen && timesSeen(dataDir).get(seen[0])]
  child.kill('SIGKILL')
  const [, signal] = await over
  await drained
  if (signal !== 'SIGKILL') throw new Error(`the process ended by itself:\n${complaint}`)
  if (!inTime) throw new Error(`the plugin saw ${seen![0]} ${times ?? 0} times in ${longestMs} ms`)
  return acknowledged
}

/** How often the plugin saw each event, as its storage tells. */
function timesSeen(dataDir: string): ReadonlyMap<string, number> {
  const times = new Map<string, number>()
  const file = join(dataDir, 'plugins', 'storage.jsonl')
  for (const line of existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []) {
    const [, key, json] = JSON.parse(line) as [string, string, string]
    if (key.startsWith('00000000-')) times.set(key, Number(json))
  }
  return times
}

describe.each(['one', 'two'])('%s process(es)', (processes) => {
  test('kills while events are transformed, stored and transformed again', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'waymark-transform-kills-'))
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
    const draw = random(processes === 'one' ? 7 : 8)
    const acknowledged = new Set<number>()
    let from = 0
    const killAt = async (moment: Moment, stalls = 0) => {
      for (const batch of await runAndKill([dataDir, String(from), processes, String(stalls)], dataDir, moment)) acknowledged.add(batch)
      from = Math.max(from, ...acknowledged) + 10
    }
    const untouched: string[] = []
    for (let round = 0; round < 2; round++) {
      await killAt({ acks: 1 + Math.floor(draw() * 6) })
      // The plugin has an event for the first time when the process ends, and for the second time when the next one ends while it opens. What was
      // interrupted twice is not transformed a third time.
      for (const stalls of [1, 2]) {
        const first = uuidOf(from * batchSize)
        await killAt({ acks: 0, seen: [first, 1] }, stalls)
        await killAt({ acks: 0, seen: [first, 2] })
        if (stalls === 2) untouched.push(first)
      }
    }
    const { open } = (await import(pathToFileURL(program('engine')).href)) as typeof engine
    const waymark = await open({ dataDir, minFreeBytes: 0, memoryLimit: '256MB', isolate: processes === 'two' })
    try {
      const project = await waymark.project((await waymark.projects())[0]!.id)
      const query = 'select toString(uuid) as uuid, toInt(properties.n) as n, properties.$plugins_succeeded as succeeded from events'
      const table = await project.queryArrow({ kind: 'SqlLikeQuery', query })
      const results = [...table].map((row): [string, number, string] => [String(row.uuid), Number(row.n), String(row.succeeded)])
      const stored = new Map(results.map((row) => [row[0], row]))
      expect(stored.size).toBe(results.length)
      const times = timesSeen(dataDir)
      expect(Math.max(...times.values())).toBe(2)
      for (const [uuid, n, succeeded] of results) {
        const number = Number(uuid.slice(-12))
        expect([n, succeeded === '[]']).toEqual(n === number ? [number, true] : [number + 1_000_000, false])
        // It is stored with the result of a transformation that is counted, unless its third one was refused.
        if (n !== number) expect(times.get(uuid)).toBeGreaterThan(0)
      }
      const lost = [...acknowledged]
        .flatMap((batch) => Array.from({ length: batchSize }, (_, i) => batch * batchSize + i))
        .filter((n) => n % 10 !== 3 && !stored.has(uuidOf(n)))
      expect(lost).toEqual([])
      const dropped = results.filter(([uuid, n]) => n !== Number(uuid.slice(-12)) && n % 10 === 3)
      expect(dropped).toEqual([])
      expect(acknowledged.size).toBeGreaterThan(0)
      for (const uuid of untouched) expect([uuid, times.get(uuid), stored.get(uuid)?.[1]]).toEqual([uuid, 2, Number(uuid.slice(-12))])
    } finally {
      await waymark.close()
    }
    expect(existsSync(join(dataDir, 'projects', '1', 'transformed.jsonl'))).toBe(false)
  }, 900_000)
})
