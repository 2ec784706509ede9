import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { lockDirectory } from '../../src/storage/lock.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'waymark-lock-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const lockFile = () => join(directory, 'waymark.lock')
const boot = () => (existsSync('/proc/sys/kernel/random/boot_id') ? readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() : null)
const owner = (changes: object) =>
  writeFileSync(
    lockFile(),
    JSON.stringify({ pid: process.pid, started: null, boot: boot(), host: hostname(), since: '2026-01-05T10:00:00.000Z', ...changes }),
  )

test('a second owner is refused with the process and the time of the first, in the same process too', async () => {
  const lock = await lockDirectory(directory)
  expect(lock.lastOwner).toBe('closed')
  const { since } = JSON.parse(readFileSync(lockFile(), 'utf8'))
  await expect(lockDirectory(directory)).rejects.toMatchObject({
    code: 'directory-locked',
    data: { dataDir: directory, pid: process.pid, since },
    message: expect.stringContaining(`process ${process.pid} since ${since}`),
  })
  await lock.release()
  expect(existsSync(lockFile())).toBe(false)
  await (await lockDirectory(directory)).release()
})

test('the lock of another process that runs is respected, and taken over once it is dead', async () => {
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000); console.log(1)'], { stdio: ['ignore', 'pipe', 'ignore'] })
  await once(other.stdout, 'data')
  owner({ pid: other.pid })
  await expect(lockDirectory(directory)).rejects.toMatchObject({ code: 'directory-locked', data: { pid: other.pid } })
  other.kill('SIGKILL')
  await once(other, 'exit')
  const lock = await lockDirectory(directory)
  expect(lock.lastOwner).not.toBe('closed')
  await lock.release()
})

const stale: readonly [string, object | string][] = [
  ['of a process that started at another time: its id was given again', { started: '1' }],
  ['from before the machine was started', { boot: 'another' }],
  ['of another machine or container, whose process ids mean nothing here', { host: 'elsewhere' }],
  ['that was never written to the end', '{"pid":'],
  ['that is empty', ''],
]
test.skipIf(!existsSync('/proc/self/stat')).each(stale)('a lock %s is taken over', async (_, content) => {
  if (typeof content === 'string') writeFileSync(lockFile(), content)
  else owner(content)
  const lock = await lockDirectory(directory)
  expect(lock.lastOwner).not.toBe('closed')
  await lock.release()
})

test('of many who find a stale lock one gets it', async () => {
  owner({ boot: 'another' })
  const results = await Promise.allSettled(Array.from({ length: 8 }, () => lockDirectory(directory)))
  expect(results.filter((result) => result.status === 'fulfilled').length).toBe(1)
})

test('a directory that could not be closed as it should be is stale for the next owner', async () => {
  await (await lockDirectory(directory)).release('killed')
  const next = await lockDirectory(directory)
  expect(next.lastOwner).toBe('killed')
  await next.release()
})

test('a lock that somebody else holds by now is not released', async () => {
  const lock = await lockDirectory(directory)
  owner({})
  await lock.release()
  expect(existsSync(lockFile())).toBe(true)
})
