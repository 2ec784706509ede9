import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import type { Answered } from '../../../src/doors/library/import-protocol.ts'
import { type Call, ImportThreads, type PreparingThread, threadsFor } from '../../../src/doors/library/import-threads.ts'
import { preparePart } from '../../../src/events/bulk/prepare-part.ts'
import { ImportFileError } from '../../../src/events/imports/format.ts'
import { type LinesReader, linesOfBlock, linesReader, openSource, type Recipe } from '../../../src/events/imports/open.ts'
import { type Checkpoints, runImport } from '../../../src/events/imports/run.ts'
import { readDecoded } from '../../../src/events/ingestion/wire-batch.ts'

// The order of what threads prepare, with threads that are as fast and as reliable as a test wants them. Real ones are in import-threads.long.test.ts.

const folder = mkdtempSync(join(tmpdir(), 'waymark-threads-'))
afterAll(() => rmSync(folder, { recursive: true }))

const rows = 12_000
const text = Array.from({ length: rows }, (_, i) =>
  JSON.stringify({ event: 'e', distinct_id: `u${i}`, timestamp: '2026-01-05T10:00:00Z', properties: { filler: 'f'.repeat(150), i } }),
).join('\n')

const fileOf = async (name: string, content: string | Uint8Array) => {
  const path = join(folder, name)
  writeFileSync(path, content)
  return openSource(path, { readTable: async function* () {} })
}

class Memory implements Checkpoints {
  readonly rows = new Map<string, number>()
  read = async (fingerprint: string) => this.rows.get(fingerprint) ?? 0
  write = async (fingerprint: string, count: number) => void this.rows.set(fingerprint, count)
}

interface Wanted {
  /** Turns of the event loop that each answer of a thread takes, thread by thread. */
  readonly turns: readonly number[]
  /** The block, counted over all threads, that fails. */
  readonly fails?: number
}

function world({ turns, fails }: Wanted) {
  let started = 0
  let asked = 0
  let [ahead, mostAhead] = [0, 0]
  const stored: string[] = []
  const start = (): PreparingThread => {
    const slow = turns[started++]!
    let file: { recipe: Recipe; done: number; lines: LinesReader } | null = null
    let turn: Promise<unknown> = Promise.resolve()
    const answer = async (call: Call, number: number): Promise<Answered> => {
      if (call.ask === 'open') {
        file = { recipe: call.recipe, done: call.done, lines: linesReader(call.recipe)! }
        return { id: 0, part: null }
      }
      for (let i = 0; i < slow; i++) await setImmediate()
      if (number === fails) throw new Error('a thread ended')
      const { recipe, done, lines } = file!
      const { bytes, first, preparing } = call as Extract<Call, { ask: 'block' }>
      return { id: 0, part: preparePart(lines.rows(linesOfBlock(bytes), first, done), recipe, done, preparing) }
    }
    return {
      ask(call) {
        const number = call.ask === 'open' ? 0 : ++asked
        if (call.ask !== 'open') mostAhead = Math.max(mostAhead, ++ahead)
        const answered = turn.then(() => answer(call, number))
        turn = answered.catch(() => undefined)
        answered.catch(() => undefined)
        return answered
      },
      close: async () => undefined,
    }
  }
  const target = {
    threads: turns.length,
    preparing: async () => ({ receivedAt: Date.UTC(2026, 0, 6), anonymizeIps: false }),
    store: async (batch: Parameters<typeof readDecoded>[0]) => {
      ahead--
      const { events } = readDecoded(batch)
      stored.push(...events.map(({ distinctId }) => distinctId))
      return { accepted: events.length, duplicates: 0, dropped: 0, warnings: [] }
    },
  }
  const threads = new ImportThreads(target, () => Promise.reject(new Error('nothing is left to the project')), start)
  const run = (file: Awaited<ReturnType<typeof fileOf>>, checkpoints: Checkpoints = new Memory()) =>
    runImport({
      files: [file],
      parts: (...args) => threads.parts(...args),
      send: () => Promise.reject(new Error('not by the main thread')),
      checkpoints,
      inFlight: 1,
    })
  return {
    run,
    stored,
    get mostAhead() {
      return mostAhead
    },
  }
}

const inOrder = (count: number) => Array.from({ length: count }, (_, i) => `u${i}`)

describe('what threads prepare', () => {
  test.each([[[0]], [[0, 0]], [[7, 0]], [[0, 3, 1]]])(
    'is stored in the order of the file, with threads that take %j turns',
    async (turns) => {
      const of = world({ turns })
      const summary = await of.run(await fileOf('order.jsonl', text))
      expect([summary.rows, summary.stored, of.stored.length]).toEqual([rows, rows, rows])
      expect(of.stored).toEqual(inOrder(rows))
      expect(of.mostAhead).toBeGreaterThan(turns.length)
      expect(of.mostAhead).toBeLessThanOrEqual(2 * turns.length + 2)
    },
  )

  test.each([1, 2, 4])('counts as stored up to block %i, which fails, although those after it were prepared', async (fails) => {
    const checkpoints = new Memory()
    const file = await fileOf(`fails-${fails}.jsonl`, text)
    const of = world({ turns: [0, 5], fails })
    await expect(of.run(file, checkpoints)).rejects.toThrow('a thread ended')
    expect(of.stored).toEqual(inOrder(of.stored.length))
    expect(of.stored.length < rows).toBe(true)
    expect([...checkpoints.rows.values()]).toEqual(fails === 1 ? [] : [of.stored.length])
    const again = world({ turns: [1, 0] })
    const summary = await again.run(file, checkpoints)
    expect([summary.skipped, summary.stored]).toEqual([of.stored.length, rows - of.stored.length])
    expect([...of.stored, ...again.stored]).toEqual(inOrder(rows))
  })

  test('is stored up to a place that cannot be read', async () => {
    const checkpoints = new Memory()
    const packed = gzipSync(text)
    const of = world({ turns: [3, 0] })
    const run = of.run(await fileOf('cut.jsonl.gz', packed.subarray(0, packed.length * 0.8)), checkpoints)
    await expect(run).rejects.toThrow(ImportFileError)
    await expect(run).rejects.toThrow(/cut\.jsonl\.gz cannot be read/)
    expect(of.stored.length).toBeGreaterThan(rows / 2)
    expect(of.stored).toEqual(inOrder(of.stored.length))
    expect([...checkpoints.rows.values()]).toEqual([of.stored.length])
  })
})

test('a small memory limit has no threads, a large one not more than there is use for', () => {
  const mebibyte = 1024 ** 2
  expect(threadsFor(128 * mebibyte)).toBe(0)
  expect(threadsFor(511 * mebibyte)).toBe(0)
  expect(threadsFor(512 * mebibyte)).toBe(1)
  expect(threadsFor(2 ** 50)).toBeLessThanOrEqual(4)
})
