import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { FileLog } from '../../../../src/engine/storage/log/file-log.ts'
import type { LogBatch } from '../../../../src/engine/storage/log/log.ts'
import { TailedLog } from '../../../../src/engine/storage/log/tailed-log.ts'
import { Texts } from '../../../../src/lib/text/texts.ts'
import { assertGenerated } from '../../../harness/assert-generated.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'waymark-tail-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const batch = (...payloads: string[]): LogBatch => ({
  kind: 'event',
  receivedAt: 1_767_607_200_123,
  sentAt: null,
  historical: false,
  ip: null,
  uuids: payloads.map((_, i) => `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`),
  payloads: Texts.of(payloads),
})
const writer = { append: () => Promise.reject(new Error('nobody writes here')), taken: () => undefined, applied: () => undefined }
const tailOf = (lastSeq: number) => new TailedLog({ directory, lastSeq, writer, onDamage: 'refuse' })

/** Two batches for each segment. */
const twoBatches = 1_500
async function write(count: number, segmentBytes = twoBatches): Promise<void> {
  const log = await FileLog.open(directory, { minFreeBytes: 0, durability: 'os', windowMs: 0, segmentBytes }, 0)
  for (let i = 1; i <= count; i++) await log.append(batch(`${i}a`, `${i}b`))
  await log.close()
}
const numbered = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

test('records that become durable while a segment is read are not passed over', async () => {
  await write(4)
  expect(readdirSync(directory).filter((name) => name.endsWith('.arrow'))).toHaveLength(2)
  const tail = tailOf(2)
  const met: number[] = []
  for await (const { firstSeq, payloads } of tail.read(1)) {
    met.push(...numbered(firstSeq, firstSeq + payloads.length - 1))
    tail.reached(8)
  }
  expect(met).toEqual(numbered(1, 8))
})

test('a reader that is told of the end step by step meets every record once, whatever the segments', async () => {
  const told = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 8 })
  await assertGenerated(
    fc.asyncProperty(
      told,
      fc.constantFrom(1, twoBatches, 4 * twoBatches),
      fc.integer({ min: 0, max: 40 }),
      async (steps, segmentBytes, first) => {
        rmSync(directory, { recursive: true, force: true })
        await write(20, segmentBytes)
        const tail = tailOf(first - (first % 2))
        const ends = [...steps].sort((a, b) => a - b).map((seq) => seq + (seq % 2))
        const met: number[] = []
        for (let round = 0; round < 50 && met.at(-1) !== 40; round++) {
          for await (const { firstSeq, payloads } of tail.read((met.at(-1) ?? 0) + 1)) {
            met.push(...numbered(firstSeq, firstSeq + payloads.length - 1))
            if (ends.length > 0) tail.reached(ends.shift()!)
          }
          tail.reached(ends.shift() ?? 40)
        }
        expect(met).toEqual(numbered(1, 40))
      },
    ),
    { numRuns: 10 },
  )
})
