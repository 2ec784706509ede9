import { strict as assert } from 'node:assert'
import { writeFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { batch, events, fingerprint, projectOf } from './directory.ts'
import type { Expected } from './expectations.ts'
import type { Built, Ended } from './processes.ts'

// What each command must do with a directory of one damaged project. Each gets a copy of its own.

type Check = (built: Built, dataDir: string, expected: Expected) => Promise<void>

const sql = 'select count(), uniq(uuid) from events'
const key = { authorization: 'Bearer phx_damage', 'content-type': 'application/json' }

const mustSay = ({ code, err }: Ended, expected: Extract<Expected, { is: 'refused' }>) => {
  const [from, to] = expected.lost
  assert.equal(code, 1, err)
  assert.match(err, /^waymark: [^\n]+ `--recovery partial`[^\n]+\n$/)
  assert.ok(
    expected.code === 'log-damaged' ? err.includes(`records ${from} to ${to} of the log`) : err.includes(`up to ${to} to rebuild`),
    err,
  )
}
const saidLost = (err: string, { lost: [from, to] }: Extract<Expected, { is: 'refused' }>) =>
  assert.match(err, new RegExp(`project 1: lost: records ${from} to ${to}, because `))

const ask = async (built: Built, dataDir: string, more: readonly string[] = []) =>
  built.command(['query', sql, '--data', dataDir, '--project', '1', '--format', 'csv', ...more]).ended
const mustCount = ({ code, out, err }: Ended, count: number) => assert.deepEqual([code, out.split('\n')[1]], [0, `${count},${count}`], err)

const doctor: Check = async (built, dataDir, expected) => {
  const before = fingerprint(dataDir)
  const { code, out, err } = await built.command(['doctor', '--data', dataDir]).ended
  assert.deepEqual(fingerprint(dataDir), before)
  assert.ok(code === 0 || code === 1, err)
  assert.equal(out.includes('opening is refused'), expected.is === 'refused', out)
  if (expected.is === 'refused') assert.equal(code, 1)
}

const query: Check = async (built, dataDir, expected) => {
  if (expected.is === 'whole') return mustCount(await ask(built, dataDir), events.all)
  const before = fingerprint(projectOf(dataDir))
  mustSay(await ask(built, dataDir), expected)
  assert.deepEqual(fingerprint(projectOf(dataDir)), before)
  const partial = await ask(built, dataDir, ['--recovery', 'partial'])
  mustCount(partial, expected.left)
  saidLost(partial.err, expected)
  mustCount(await ask(built, dataDir), expected.left)
}

const importing: Check = async (built, dataDir, expected) => {
  const file = `${dataDir}.jsonl`
  writeFileSync(
    file,
    batch(1001, 7)
      .map((event) => JSON.stringify(event))
      .join('\n'),
  )
  const take = (more: readonly string[] = []) =>
    built.command(['import', file, '--data', dataDir, '--project', '1', '--json', ...more]).ended
  const isWhole = expected.is === 'whole'
  if (!isWhole) {
    const { code, err } = await take()
    assert.equal(code, 1)
    assert.match(err, /`--recovery partial`/)
  }
  const { code, out, err } = await take(isWhole ? [] : ['--recovery', 'partial'])
  assert.deepEqual([code, JSON.parse(out || '{}').stored], [0, 7], err)
  mustCount(await ask(built, dataDir), (isWhole ? events.all : expected.left) + 7)
}

const isAside = (name: string) => name.includes('.broken-')
/** The files while the server does not try to open them again: for a moment a damaged write-ahead log has another name then. */
async function atRest(project: string) {
  for (let tries = 0; ; tries++) {
    const files = fingerprint(project)
    if (tries === 20 || !Object.keys(files).some(isAside)) return files
    await setTimeout(100)
  }
}

/** Sends an event, asks how many there are, reads the probe, and stops it with SIGTERM. */
async function serveOnce(built: Built, dataDir: string, more: readonly string[] = []) {
  const server = built.command(['serve', '--data', dataDir, '--port', '0', '--json', ...more])
  const { url } = JSON.parse(await server.firstLine()) as { url: string }
  const post = (path: string, body: object, headers = {}) => fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  const captured = await post('/batch/', { api_key: 'phc_damage', batch: batch(2001, 3) })
  const asked = await post('/api/projects/1/query/', { query: { kind: 'SqlLikeQuery', query: sql } }, key)
  const answer = (await asked.json()) as { results?: number[][]; detail?: string }
  const ready = await fetch(`${url}/_readyz`)
  const probe = (await ready.json()) as { checks: { projects_failed: { reasons: string[] } } }
  const asking = await ask(built, dataDir)
  const before = await atRest(projectOf(dataDir))
  const checked = await built.command(['doctor', '--data', dataDir]).ended
  assert.deepEqual(await atRest(projectOf(dataDir)), before, 'doctor beside a server')
  server.child.kill('SIGTERM')
  const ended = await server.ended
  return { captured: captured.status, asked: asked.status, answer, ready: ready.status, probe, asking, checked, ended }
}

const serve: Check = async (built, dataDir, expected) => {
  const mustWork = (found: Awaited<ReturnType<typeof serveOnce>>, count: number) => {
    assert.deepEqual([found.captured, found.asked, found.ready, found.answer.results?.[0]], [200, 200, 200, [count, count]])
    mustCount(found.asking, count)
    assert.deepEqual([found.ended.code, found.checked.code], [0, 0], found.ended.err)
  }
  if (expected.is === 'whole') return mustWork(await serveOnce(built, dataDir), events.all + 3)
  const refused = await serveOnce(built, dataDir)
  assert.deepEqual([refused.captured, refused.asked, refused.ready, refused.asking.code, refused.checked.code], [503, 503, 503, 1, 1])
  assert.deepEqual(refused.probe.checks.projects_failed.reasons, [`project 1 cannot be opened: ${expected.code}`])
  assert.ok(refused.answer.detail?.includes(expected.code))
  assert.ok(!refused.answer.detail?.includes(dataDir))
  assert.equal(refused.ended.code, 0, refused.ended.err)
  const partial = await serveOnce(built, dataDir, ['--recovery', 'partial'])
  mustWork(partial, expected.left + 3)
  assert.match(partial.ended.err, /"level":"warn","message":"lost: records /)
}

/** Opens, counts, ingests, and leaves without closing. */
const library: Check = async (built, dataDir, expected) => {
  const text = `
    const [, dataDir, recovery] = process.argv
    const waymark = await open({ dataDir, recovery })
    const project = await waymark.project(1)
    const { results } = await project.query({ kind: 'SqlLikeQuery', query: ${JSON.stringify(sql)} })
    await project.ingest({ batch: ${JSON.stringify(batch(3001, 2))} })
    console.log(results[0].join(), project.recoveryReports().map(({ kind }) => kind).join())`
  const opened = (recovery: string) => built.program(text, [dataDir, recovery]).ended
  const first = await opened('complete')
  if (expected.is === 'whole') assert.match(first.out, new RegExp(`^${events.all},${events.all} `), first.err)
  else {
    assert.ok(first.err.includes(`code: '${expected.code}'`), first.err)
    assert.equal(first.code, 1)
    const { code, out, err } = await opened('partial')
    assert.match(out, new RegExp(`^${expected.left},${expected.left} .*records-lost`), err)
    assert.equal(code, 0)
  }
  mustCount(await ask(built, dataDir), (expected.is === 'whole' ? events.all : expected.left) + 2)
}

export const commands: Readonly<Record<string, Check>> = { doctor, query, import: importing, serve, library }
