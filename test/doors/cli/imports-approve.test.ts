import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCommand } from '../../../src/doors/cli/run.ts'
import { open } from '../../../src/engine.ts'

let data: string
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'waymark-approve-'))
  await run('init')
})
afterAll(() => rm(data, { recursive: true, force: true }))

const run = async (...args: string[]) => {
  const lines: string[] = []
  const code = await runCommand([...args, '--data', data], {}, { out: (line) => lines.push(line), err: (line) => lines.push(line) })
  return { code, text: lines.join('\n') }
}
const record = async () => {
  const waymark = await open({ dataDir: data })
  return waymark.accounts.historicalImports.of(1).finally(() => waymark.close())
}

test('imports are approved with and without bounds, and the approval can be taken back', async () => {
  expect(await run('imports', 'approve', '--project', '1', '--total', '50000000', '--speed', '100000')).toEqual({
    code: 0,
    text: 'Imports into project 1 are approved: 50000000 events, 100000 events a minute.',
  })
  expect(await record()).toMatchObject({
    is_approved: true,
    approved_by: 'the operator',
    total_events: 50_000_000,
    events_per_minute: 100_000,
  })
  expect((await run('imports', 'approve', '--project', '1')).text).toBe('Imports into project 1 are approved: unlimited.')
  expect(await record()).toMatchObject({ is_approved: true, total_events: null, events_per_minute: null })
  expect((await run('imports', 'approve', '--project', '1', '--revoke')).text).toBe('Imports into project 1 are limited.')
  expect(await record()).toMatchObject({ is_approved: false, approved_by: null, approved_at: null })
})

test.each([
  [['--project', '77'], 1],
  [['--project', '1', '--total', 'many'], 2],
  [[], 2],
])('%j ends with %i', async (args, code) => {
  expect((await run('imports', 'approve', ...args)).code).toBe(code)
})
