import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { startLineProcess } from '../../bench/line-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'waymark-lines-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const program = (text: string) => {
  const file = join(folder, 'program.mjs')
  writeFileSync(file, text)
  return { name: 'the program', file, args: [] }
}
const answering = `
  import { createInterface } from 'node:readline'
  console.log('ready')
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === '"end"') process.exit(3)
    if (line === '"killed"') process.kill(process.pid, 'SIGKILL')
    console.log(JSON.stringify({ heard: JSON.parse(line) }))
  }`

test('lines are answered in order, until the process is stopped', async () => {
  const started = await startLineProcess<number, { heard: number }>(program(answering))
  expect([await started.ask(1), await started.ask(2)]).toEqual([{ heard: 1 }, { heard: 2 }])
  await started.stop()
})

test.each([
  ['end', 'exit code 3'],
  ['killed', 'SIGKILL'],
])('a process that ends before it answers says how (%s)', async (order, how) => {
  const started = await startLineProcess<string, unknown>(program(answering))
  const message = `The process of the program ended before it answered (${how})`
  await expect(started.ask(order)).rejects.toThrow(message)
  await expect(started.ask('again')).rejects.toThrow(message)
  await started.stop()
})

test('a program that fails at once is not waited for', async () => {
  await expect(startLineProcess(program('process.exit(1)'))).rejects.toThrow('(exit code 1)')
})
