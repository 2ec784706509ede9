import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { lockDirectory } from '../../../../src/engine/storage/locks/lock.ts'

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

test.skipIf(!existsSync('/proc/self/stat'))(
  'the lock of a process that has ended and that its parent does not ask for is taken over',
  async () => {
    // The shell becomes a program that never asks how the child in the background ended.
    const parent = spawn('sh', ['-c', 'sleep 1000 & echo $!; exec tail -f /dev/null'], { stdio: ['ignore', 'pipe', 'ignore'] })
    try {
      const [said] = (await once(parent.stdout, 'data')) as [Buffer]
      const pid = Number(String(said).trim())
      await expect.poll(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8').trim(), { interval: 5 }).toBe('tail')
      process.kill(pid, 'SIGKILL')
      const state = () => /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]
      while (state() !== 'Z') await setTimeout(5)
      owner({ pid })
      const lock = await lockDirectory(directory)
      expect(lock.lastOwner).toBe('killed')
      await lock.release()
    } finally {
      parent.kill('SIGKILL')
    }
  },
)

describe('a directory and its copy', () => {
  const inUse = async () => {
    const lock = await lockDirectory(directory)
    const copy = `${directory}-copy`
    cpSync(directory, copy, { recursive: true })
    return { lock, copy }
  }
  afterEach(() => rmSync(`${directory}-copy`, { recursive: true, force: true }))

  test('the lock that a copy carries along is not of the copy', async () => {
    const { lock, copy } = await inUse()
    const other = await lockDirectory(copy)
    expect(other.lastOwner).toBe('copied')
    await expect(lockDirectory(directory)).rejects.toMatchObject({ code: 'directory-locked' })
    await other.release(other.lastOwner)
    const next = await lockDirectory(copy) // what was not mended is still a copy
    expect(next.lastOwner).toBe('copied')
    await next.release()
    await lock.release()
  })

  test('a directory that is moved while it is in use is still in use', async () => {
    const { lock, copy } = await inUse()
    rmSync(copy, { recursive: true })
    renameSync(directory, copy)
    await expect(lockDirectory(copy)).rejects.toMatchObject({ code: 'directory-locked', data: { pid: process.pid } })
    renameSync(copy, directory)
    await lock.release()
  })

  test('so is one that is replaced in its place', async () => {
    const { lock, copy } = await inUse()
    rmSync(directory, { recursive: true })
    renameSync(copy, directory)
    await expect(lockDirectory(directory)).rejects.toMatchObject({ code: 'directory-locked', data: { pid: process.pid } })
    await lock.release()
  })
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
