import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { expect } from 'vitest'
import { open } from '../../../src/engine.ts'
import { program } from '../../harness/programs.ts'
import { startReceiver } from './receiver.ts'

const eventsOfRound = 12
const hour = 3_600_000

interface Ended {
  readonly isAcknowledged: boolean
  readonly steps: number | null
}

const runChild = (args: readonly string[]): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--max-old-space-size=300', program('export-kills'), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let out = ''
    let err = ''
    child.stdout.on('data', (text) => (out += text))
    child.stderr.on('data', (text) => (err += text))
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (signal !== 'SIGKILL' && code !== 0) return reject(new Error(`the child ended with ${code ?? signal}: ${err}`))
      const steps = /^steps (\d+)$/m.exec(out)?.[1]
      resolve({ isAcknowledged: out.includes('acknowledged'), steps: steps === undefined ? null : Number(steps) })
    })
  })

/** A destination beside files and HTTP, and what is there afterwards. */
export interface KillTarget {
  readonly type: string
  readonly config: object
  found(): Promise<{ readonly rows: number; readonly uuids: number }>
}

/**
 * A process stores events and exports them to files and over HTTP; it is killed at a step, and the next one goes on. `stepOf` chooses the step, given the
 * number of steps of an undisturbed round. Afterwards every event is there exactly once.
 */
export async function killRounds(
  kills: number,
  stepOf: (kill: number, steps: number) => number,
  targets: readonly KillTarget[] = [],
): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'waymark-kills-'))
  const receiver = await startReceiver()
  let now = Date.parse('2026-03-02T10:30:00Z')
  const round = async (step: number): Promise<Ended> => {
    const ended = await runChild([dataDir, new Date(now).toISOString(), String(step), String(eventsOfRound)])
    now += hour
    return ended
  }
  try {
    await prepare(dataDir, receiver.url, new Date(now), targets)
    await round(0)
    const { steps } = await round(0) // the first with a complete interval
    expect(steps).toBeGreaterThan(20)
    let killed = 0
    for (let kill = 0; kill < kills; kill++) {
      const ended = await round(stepOf(kill, steps!))
      expect(ended.isAcknowledged).toBe(true)
      if (ended.steps === null) killed++
    }
    expect(killed).toBeGreaterThan(kills / 2)
    now += hour
    await round(0)
    const exported = (kills + 2) * eventsOfRound // what the last round stored belongs to the next interval
    expect(await uuidsInFiles(join(dataDir, 'exports'))).toEqual({ rows: exported, uuids: exported })
    const sent = receiver.runs.flatMap(({ rows }) => rows.map(({ uuid }) => uuid))
    expect({ rows: sent.length, uuids: new Set(sent).size }).toEqual({ rows: exported, uuids: exported })
    for (const { type, found } of targets) expect(await found(), type).toEqual({ rows: exported, uuids: exported })
    expect(readdirSync(join(dataDir, 'exports')).filter((name) => name.startsWith('.'))).toEqual([])
  } finally {
    await receiver.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function prepare(dataDir: string, url: string, now: Date, targets: readonly KillTarget[]): Promise<void> {
  const waymark = await open({ dataDir, clock: () => now, exports: { runs: false } })
  try {
    const { user, organization, project } = await waymark.accounts.firstStart({ makesKey: false })
    const membership = (await waymark.accounts.organizations.membership(organization.id, user))!
    const by = { user, membership }
    for (const destination of [
      { type: 'LocalFiles', config: { file_format: 'Parquet', max_file_size_mb: 0.001 } },
      { type: 'HTTP', config: { url, token: 'secret' } },
      ...targets.map(({ type, config }) => ({ type, config })),
    ])
      await waymark.exports.service.create(by, project, { name: destination.type, destination, interval: 'hour' })
    await waymark.exports.scheduler.tick()
  } finally {
    await waymark.close()
  }
}

/** By the manifests: what belongs together. Files that no manifest lists would be doubled rows for a reader of the folder. */
async function uuidsInFiles(folder: string): Promise<{ rows: number; uuids: number }> {
  const names = readdirSync(folder)
  const manifests = names
    .filter((name) => name.endsWith('.manifest.json'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')))
  const listed = manifests.flatMap(({ files }) => (files as { name: string }[]).map(({ name }) => name))
  expect(names.filter((name) => name.endsWith('.parquet')).sort()).toEqual(listed.sort())
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const answer = await connection.runAndReadAll(
    `SELECT count(*)::INTEGER, count(DISTINCT uuid)::INTEGER FROM read_parquet('${join(folder, '*.parquet')}')`,
  )
  const [[rows, uuids]] = answer.getRows() as [[number, number]]
  connection.closeSync()
  instance.closeSync()
  return { rows, uuids }
}
