import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type HostFacts, hostFacts, hostLines, measureDisk, openFilesIn } from '../../../src/doors/cli/doctor/host.ts'

// What `waymark doctor` says about the machine: from fixed facts, and from this machine.

const gibibyte = 1024 ** 3
const facts: HostFacts = {
  cores: 2,
  memory: 24 * gibibyte,
  memoryLimit: null,
  openFiles: 1_048_576,
  now: Date.UTC(2026, 10, 28, 12),
  newestFileAt: Date.UTC(2026, 10, 28, 11),
}
const said = (changed: Partial<HostFacts>) =>
  hostLines({ ...facts, ...changed }).map(({ text, isWarning }) => `${isWarning ? '! ' : ''}${text}`)

test('a machine that has enough of everything', () => {
  expect(said({ disk: { syncMs: 0.84, slowestSyncMs: 12.3, bytesPerSecond: 300 * 1024 ** 2 } })).toEqual([
    '2 cores, 24.0 GiB of memory: a server uses up to 4.8 GiB for stores and 5.0 GiB for lists',
    '1,048,576 open files',
    'the clock says 2026-11-28T12:00:00Z',
    'a synced write takes 0.8 ms, 12 ms at most; 300.0 MiB a second are written',
  ])
})

test.each<[string, Partial<HostFacts>, string]>([
  [
    'a small container',
    { memoryLimit: 0.5 * gibibyte },
    '! 2 cores, 512.0 MiB of memory (the limit of the container; the machine has 24.0 GiB)',
  ],
  ['few open files', { openFiles: 1024 }, '! 1,024 open files: many connections and projects need 4,096.'],
  [
    'a clock that was set back',
    { newestFileAt: Date.UTC(2026, 10, 28, 13) },
    '! the clock says 2026-11-28T12:00:00Z, but a file of the directory was written at 2026-11-28T13:00:00Z',
  ],
  ['a clock of 1970', { now: 0, newestFileAt: null }, '! the clock says 1970-01-01T00:00:00Z, which is long ago'],
  [
    'a disk that syncs slowly',
    { disk: { syncMs: 45, slowestSyncMs: 300, bytesPerSecond: 1e9 } },
    '! a synced write takes 45 ms, 300 ms at most',
  ],
  [
    'a disk that writes slowly',
    { disk: { syncMs: 1, slowestSyncMs: 2, bytesPerSecond: 1e6 } },
    '! a synced write takes 1.0 ms, 2.0 ms at most; 976.6 KiB a second',
  ],
])('%s is said, with what to do', (_, changed, begin) => {
  const warnings = said(changed).filter((line) => line.startsWith('! '))
  expect(warnings).toHaveLength(1)
  expect(warnings[0]!.startsWith(begin)).toBe(true)
})

test.each([
  ['Max open files            1024                 1048576              files     ', 1024],
  [
    'Max processes             1                    2                    processes \nMax open files            unlimited            unlimited            files     ',
    Number.POSITIVE_INFINITY,
  ],
  ['', null],
])('the soft limit of open files in %j', (limits, expected) => {
  expect(openFilesIn(limits)).toBe(expected)
})

test('this machine is measured, and nothing is left in the directory', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'waymark-host-'))
  try {
    const disk = await measureDisk(directory)
    expect(disk.slowestSyncMs).toBeGreaterThanOrEqual(disk.syncMs)
    expect(Math.min(disk.syncMs, disk.bytesPerSecond)).toBeGreaterThan(0)
    expect(readdirSync(directory)).toEqual([])
    expect(hostLines(await hostFacts(null, disk)).length).toBeGreaterThanOrEqual(3)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})
