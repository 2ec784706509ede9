import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createBlockLimit } from '../../../../src/engine/storage/log/compressing.ts'
import { FileLog } from '../../../../src/engine/storage/log/file-log.ts'
import type { LogBatch } from '../../../../src/engine/storage/log/log.ts'
import { Texts } from '../../../../src/lib/text/texts.ts'

const root = mkdtempSync(join(tmpdir(), 'waymark-compressing-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const batch = (number: number): LogBatch => ({
  kind: 'event',
  receivedAt: 1_767_607_200_000 + number,
  sentAt: null,
  historical: false,
  ip: null,
  uuids: [`00000000-0000-4000-8000-${String(number).padStart(12, '0')}`],
  payloads: Texts.of([JSON.stringify({ number, text: `${number} `.repeat(30_000) })]),
})
const read = async (log: FileLog) => {
  const found: (readonly [number, string])[] = []
  for await (const { firstSeq, payloads } of log.read(1)) found.push([firstSeq, payloads.at(0)])
  return found
}

test.each(['before', 'after'])('a process that is killed %s any step of compressing loses nothing and doubles nothing', async (when) => {
  const original = join(root, `original-${when}`)
  const last = 7
  let log = await FileLog.open(original, { minFreeBytes: 0, segmentBytes: 150_000 })
  for (let number = 1; number <= last; number++) await log.append(batch(number))
  const before = await read(log)
  await log.close()
  const names = readdirSync(original).sort()
  expect(names.length).toBeGreaterThan(2)
  let kills = 0
  for (let step = 1; ; step++) {
    const directory = join(root, `${when}-${step}`)
    cpSync(original, directory, { recursive: true })
    const child = join(import.meta.dirname, 'compressing-child.ts')
    const { signal, status, stderr } = spawnSync(
      process.execPath,
      ['--import', 'tsx', child, directory, String(last), String(step), when],
      {
        encoding: 'utf8',
      },
    )
    expect([step, signal ?? status, stderr]).toEqual([step, signal === null ? 0 : 'SIGKILL', ''])
    if (signal !== null) kills++
    log = await FileLog.open(directory, { minFreeBytes: 0, compression: createBlockLimit() }, last)
    expect([step, log.damages, await read(log)]).toEqual([step, [], before])
    await log.compressed()
    expect([step, readdirSync(directory).sort()]).toEqual([step, names])
    expect(names.filter((name) => readFileSync(join(directory, name)).readUInt16BE(0) === 0x1f8b)).toEqual(names.slice(0, -1))
    expect([step, await read(log)]).toEqual([step, before])
    await log.close()
    rmSync(directory, { recursive: true })
    if (signal === null) break
  }
  expect(kills).toBeGreaterThan(10)
})
