import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { program } from '../../../harness/programs.ts'
import { type Sink, startSink } from './sink.ts'

// A process that stores events and delivers them is killed again and again, at one of its deliveries. Every acknowledged event arrives.

const folder = mkdtempSync(join(tmpdir(), 'waymark-delivery-kills-'))
let sink: Sink | null = null
afterEach(async () => {
  await sink?.close()
  rmSync(folder, { recursive: true, force: true })
})

interface Ended {
  readonly acknowledged: readonly string[]
  readonly isDelivered: boolean
}

const run = (dataDir: string, url: string, events: number, processes: number, started: (kill: () => void) => void): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const args = [program('delivery-kills'), dataDir, url, String(events), String(processes)]
    const child = spawn(process.execPath, ['--max-old-space-size=300', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    let [out, err] = ['', '']
    child.stdout.on('data', (text) => (out += text))
    child.stderr.on('data', (text) => (err += text))
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (signal !== 'SIGKILL' && code !== 0) return reject(new Error(`the child ended with ${code ?? signal}: ${err}`))
      const lines = out.split('\n').filter((line) => line.startsWith('[') && line.endsWith(']'))
      resolve({ acknowledged: lines.flatMap((line) => JSON.parse(line) as string[]), isDelivered: out.includes('delivered') })
    })
    started(() => child.kill('SIGKILL'))
  })

test.each([1, 2])('with %d processes', async (processes) => {
  sink = await startSink()
  const dataDir = join(folder, String(processes))
  const acknowledged: string[] = []
  let kill: () => void = () => undefined
  let left = 0
  sink.answer = ({ event }, attempt) => {
    if (left > 0 && --left === 0) {
      kill()
      return 'hang'
    }
    return String(event).endsWith('3') && attempt === 1 ? 503 : 200
  }
  const kills = [1, 2, 9, 24, 60, 131]
  let killed = 0
  for (const at of kills) {
    left = at
    const ended = await run(dataDir, sink.url, 210, processes, (end) => {
      kill = end
    })
    acknowledged.push(...ended.acknowledged)
    if (!ended.isDelivered) killed++
  }
  expect(killed).toBe(kills.length)
  left = 0
  const last = await run(dataDir, sink.url, 0, processes, () => undefined)
  expect(last.isDelivered).toBe(true)
  const accepted = sink.accepted.map(({ event }) => event as string)
  expect(acknowledged.filter((event) => !accepted.includes(event))).toEqual([])
  expect(acknowledged.length).toBeGreaterThan(kills.length)
  const uuids = new Set(sink.accepted.map(({ uuid, event }) => `${uuid} ${event}`))
  expect(uuids.size, 'what comes again has the same uuid').toBe(new Set(accepted).size)
  // The steps that were not saved.
  expect(accepted.length - new Set(accepted).size).toBeLessThanOrEqual(kills.length * 200)
})
