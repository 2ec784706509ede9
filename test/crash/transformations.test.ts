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

/** Kills a process, or one that opens, and returns what it acknowledged. */
async function runAndKill(args: readonly string[], isOpening: boolean, ms: number): Promise<readonly number[]> {
  const child = spawn(process.execPath, [program('transform-kills'), ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let complaint = ''
  child.stderr!.on('data', (text) => {
    complaint += text
  })
  const acknowledged: number[] = []
  const lines = createInterface({ input: child.stdout! })
  const begun = new Promise<void>((resolve) => {
    lines.on('line', (line) => {
      if (line.startsWith('ack ')) acknowledged.push(Number(line.slice(4)))
      if (line === (isOpening ? 'started' : 'ready')) resolve()
    })
  })
  const [over, drained] = [once(child, 'exit'), once(lines, 'close')]
  await Promise.race([begun.then(() => setTimeout(ms)), over])
  child.kill('SIGKILL')
  const [, signal] = await over
  await drained
  if (signal !== 'SIGKILL') throw new Error(`the process ended by itself:\n${complaint}`)
  return acknowledged
}

/** How often the plugin saw each event, as its storage tells. */
function timesSeen(dataDir: string): ReadonlyMap<string, number> {
  const times = new Map<string, number>()
  for (const line of readFileSync(join(dataDir, 'plugins', 'storage.jsonl'), 'utf8').split('\n')) {
    const [, key, json] = line === '' ? [] : (JSON.parse(line) as [string, string, string])
    if (key?.startsWith('00000000-')) times.set(key, Number(json))
  }
  return times
}

/** The last line may have been cut by a kill. */
const isAnySeenTwice = (dataDir: string): boolean => {
  const file = join(dataDir, 'plugins', 'storage.jsonl')
  return existsSync(file) && /"00000000-[^"]*","2"\]$/m.test(readFileSync(file, 'utf8'))
}

describe.each(['one', 'two'])('%s process(es)', (processes) => {
  test('kills while events are transformed, stored and transformed again', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'waymark-transform-kills-'))
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
    const draw = random(processes === 'one' ? 7 : 8)
    const acknowledged = new Set<number>()
    let from = 0
    // Later kills on a machine that is too slow for the first ones to hit.
    for (let round = 0; round < 14 || !isAnySeenTwice(dataDir); round++) {
      const patience = Math.max(1, round / 7)
      // Processes that are killed while they open were transforming for the second time.
      const isOpening = round % 3 !== 0
      for (const batch of await runAndKill([dataDir, String(from), processes], isOpening, patience * draw() * (isOpening ? 900 : 500)))
        acknowledged.add(batch)
      from = Math.max(from, ...acknowledged) + 10
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
        .flatMap((batch) => Array.from({ length: 40 }, (_, i) => batch * 40 + i))
        .filter((n) => n % 10 !== 3 && !stored.has(`00000000-0000-4000-8000-${String(n).padStart(12, '0')}`))
      expect(lost).toEqual([])
      const dropped = results.filter(([uuid, n]) => n !== Number(uuid.slice(-12)) && n % 10 === 3)
      expect(dropped).toEqual([])
      expect(acknowledged.size).toBeGreaterThan(0)
      // The kills hit: some events were transformed for the second time, some not for the third.
      expect([...times.values()].filter((n) => n === 2).length).toBeGreaterThan(0)
    } finally {
      await waymark.close()
    }
    expect(existsSync(join(dataDir, 'projects', '1', 'transformed.jsonl'))).toBe(false)
  })
})
