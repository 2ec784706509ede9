import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { start } from './shell.ts'

// Whoever reads the output may leave early: `waymark query … | head`, or a log collector that is stopped.

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-closed-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Nobody reads what it says; how it ends. */
const unread = (args: readonly string[]) => {
  const child = start(args)
  child.stdout!.destroy()
  child.stderr!.destroy()
  return { child, ended: new Promise((resolve) => child.on('exit', (code, signal) => resolve(code ?? signal))) }
}

test('a command whose output nobody reads ends as it would have', async () => {
  expect(await unread(['help']).ended).toBe(0)
  expect(await unread(['quer']).ended).toBe(2)
})

test('a server goes on when nobody reads its output any more', async () => {
  const data = join(folder, 'data')
  const { child, ended } = unread(['serve', '--data', data, '--port', '0'])
  let hasEnded = false
  void ended.then(() => {
    hasEnded = true
  })
  const file = join(data, 'server.json')
  const isWritten = () => existsSync(file) && readFileSync(file, 'utf8').endsWith('}')
  await expect.poll(() => hasEnded || isWritten(), { interval: 50 }).toBe(true)
  expect(hasEnded).toBe(false)
  const { url } = JSON.parse(readFileSync(file, 'utf8')) as { url: string }
  for (const _ of [1, 2, 3]) expect((await fetch(`${url}/_livez`)).status).toBe(200)
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
})
