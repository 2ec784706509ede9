import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createHandler } from '../../../src/doors/http/server/create-handler.ts'
import { open } from '../../../src/engine.ts'
import { run } from '../../doors/cli/shell.ts'

// A record that ends the process whenever it is applied: the project goes on without it, and the record is kept.

let dataDir: string
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'waymark-aside-'))
})
afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

const program = join(import.meta.dirname, 'ended-by-a-record.ts')

/** Null: it was ended. */
async function attempt(events: object | null): Promise<unknown> {
  const child = spawn(process.execPath, ['--import', 'tsx', program, dataDir, events ? JSON.stringify(events) : ''], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.on('data', (piece) => {
    text += piece
  })
  await once(child, 'close')
  return text === '' ? null : JSON.parse(text)
}

const ids = Array.from({ length: 70 }, (_, i) => `u${i}`)
const batch = ids.map((distinct_id, i) => ({
  event: i === 40 ? 'ends' : 'goes on',
  distinct_id,
  uuid: `01900000-0000-7000-8000-${String(i).padStart(12, '0')}`,
  timestamp: '2026-01-15T12:00:00Z',
  properties: { i, $set: { i } },
}))

test('it is tried alone twice, then set aside; it is named, and can be sent again', async () => {
  expect(await attempt({ batch })).toBeNull()
  let attempts = 1
  let found: unknown = null
  while (found === null && attempts < 8) {
    found = await attempt(null)
    attempts++
  }
  expect(found).toEqual([[69]])
  expect(attempts).toBeLessThanOrEqual(6) // 70 records, all again, parts of three, alone, alone again, without it
  const folder = join(dataDir, 'projects', '1', 'set-aside')
  expect(readdirSync(folder)).toEqual(['41.json'])

  const { code, out } = await run(['doctor', '--data', dataDir])
  expect([out, code]).toEqual([expect.stringContaining('record 41 crashed the engine each time it was applied'), 1])
  const waymark = await open({ dataDir, minFreeBytes: 0 })
  try {
    const handler = createHandler(waymark)
    const ready = async () => {
      const answer = await handler(new Request('http://localhost/_readyz'))
      return [answer.status, ((await answer.json()) as { checks: { records_set_aside: object } }).checks.records_set_aside]
    }
    expect(await ready()).toEqual([503, { isOk: false, detail: 1, reasons: ['project 1 has set aside record 41'] }])
    const project = await waymark.project(1)
    const rows = async (query: string) => ((await project.query({ kind: 'SqlLikeQuery', query })) as { results: unknown }).results
    expect(await rows('select count(distinct uuid), count(), count(distinct person_id) from events')).toEqual([[69, 69, 69]])
    // The file is the body of a request.
    expect(await project.ingest(JSON.parse(readFileSync(join(folder, '41.json'), 'utf8')) as never)).toMatchObject({ accepted: 1 })
    rmSync(join(folder, '41.json'))
    expect(await rows("select uuid, properties.i, distinct_id from events where event = 'ends'")).toEqual([[batch[40]!.uuid, '40', 'u40']])
    expect(await ready()).toEqual([200, { isOk: true, detail: 0, reasons: [] }])
  } finally {
    await waymark.close()
  }
})
