import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { finish, firstLine, start } from './shell.ts'

// How a process ends that is asked to: everything in a process of its own. What would never end by itself has to end.

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-stopping-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const source = (name: string) => new URL(`../../../src/${name}`, import.meta.url).href

/** A module that runs until it is ended. */
const script = (text: string) => {
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', text], { stdio: ['ignore', 'pipe', 'pipe'] })
  const said: string[] = []
  child.stdout.on('data', (chunk) => said.push(String(chunk)))
  child.stderr.on('data', (chunk) => said.push(String(chunk)))
  const ready = once(child.stdout, 'data')
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, said: said.join('') }))
  return { child, ready, ended }
}
const listening = (rest: string) => `
  import { listenForStop } from '${source('doors/cli/stopping.ts')}'
  const stopping = listenForStop(200, () => console.log('still open: the door'))
  setInterval(() => undefined, 1_000)
  console.log('ready')
  await stopping.asked
  ${rest}`

test('after its limit a process ends with 1 and says what was open', async () => {
  const { child, ready, ended } = script(listening(''))
  await ready
  child.kill('SIGTERM')
  expect(await ended).toEqual({ code: 1, signal: null, said: 'ready\nstill open: the door\n' })
})

test.each(['SIGTERM', 'SIGINT'] as const)('a second signal, a %s, ends it at once', async (second) => {
  const { child, ready, ended } = script(listening("console.log('draining')").replace('200', '3_600_000'))
  await ready
  const draining = once(child.stdout, 'data')
  child.kill('SIGTERM')
  await draining
  child.kill(second)
  expect(await ended).toEqual({ code: null, signal: second, said: 'ready\ndraining\n' })
})

test('a main thread that is blocked while it stops is ended from outside', async () => {
  const { child, ready, ended } = script(listening('Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)'))
  await ready
  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ signal: 'SIGKILL' })
})

test('a statement that would run for days does not keep a process that exits', async () => {
  const { ended } = script(`
    import { openInstance } from '${source('engine/storage/duckdb/instance.ts')}'
    const instance = await openInstance({ dataDir: ':memory:', threads: 1 })
    instance.rows('SELECT count(*) FROM range(10000000000000) AS r WHERE hash(r.range) % 7 = 3').catch(() => undefined)
    setTimeout(() => process.exit(7), 200)`)
  expect(await ended).toMatchObject({ code: 7, signal: null })
})

test('serve ends within its limit although a client never finishes its request', async () => {
  const child = start(['serve', '--data', join(folder, 'hanging'), '--port', '0', '--json', '--drain-seconds', '1'])
  const ended = finish(child)
  const { port } = new URL((JSON.parse(await firstLine(child)) as { url: string }).url)
  const client = connect(Number(port), '127.0.0.1')
  const cut = once(client, 'close').catch(() => undefined)
  client.on('error', () => undefined)
  client.write('POST /batch/ HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{')
  await once(client, 'ready').catch(() => undefined)
  await fetch(`http://127.0.0.1:${port}/_livez`) // what was sent before has arrived
  child.kill('SIGTERM')
  expect((await ended).code).toBe(0)
  await cut
})
