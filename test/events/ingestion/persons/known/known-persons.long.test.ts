import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { open } from '../../../../../src/engine.ts'
import type { LocalProject } from '../../../../../src/project.ts'

// More persons than stay in memory, in a real store: what the index and the file of persons say after each kind of start is what the log says.

const root = mkdtempSync(join(tmpdir(), 'waymark-known-'))
afterAll(() => rmSync(root, { recursive: true }))

const persons = 24_000
const size = 2_000
const dataDir = join(root, 'data')
const ids = join(dataDir, 'projects', '1', 'ids')

const using = async <T>(work: (project: LocalProject) => Promise<T>): Promise<T> => {
  const errors: unknown[] = []
  const waymark = await open({ dataDir, memoryLimit: '96MB', onError: (error) => errors.push(error) })
  try {
    const project = (await waymark.projects()).length > 0 ? await waymark.project(1) : await waymark.createProject()
    const result = await work(project)
    expect(errors).toEqual([])
    return result
  } finally {
    await waymark.close()
  }
}

/** Each person gets a property of its own; every seventh signs up under another id. */
async function round(project: LocalProject, name: string): Promise<void> {
  for (let first = 0; first < persons; first += size)
    await project.ingest({
      batch: Array.from({ length: size }, (_, k) => {
        const i = (first + k) * 7919
        const who = i % persons
        const isSignUp = who % 7 === 0
        return {
          event: isSignUp ? '$identify' : 'visited',
          distinct_id: isSignUp ? `user ${who} ${name}` : `visitor ${who}`,
          timestamp: '2026-01-15T12:00:00Z',
          properties: {
            ...(isSignUp ? { $anon_distinct_id: `visitor ${who}` } : {}),
            $set: { [name]: who, words: 'né '.repeat(who % 40) },
          },
        }
      }),
    })
}

/** What the log alone says. */
async function rebuilt(): Promise<unknown> {
  const kept = `${dataDir}-kept`
  cpSync(dataDir, kept, { recursive: true })
  for (const file of readdirSync(join(dataDir, 'projects', '1')))
    if (file !== 'log' && file !== 'log.position') rmSync(join(dataDir, 'projects', '1', file), { recursive: true })
  try {
    return await using((project) => project.digest())
  } finally {
    rmSync(dataDir, { recursive: true })
    cpSync(kept, dataDir, { recursive: true })
    rmSync(kept, { recursive: true })
  }
}

test('the same persons as the log has, with its files, without them, and with older ones', { timeout: 600_000 }, async () => {
  await using((project) => round(project, 'first'))
  expect(readdirSync(ids).sort()).toEqual(['known.ids', 'persons'])
  const older = join(root, 'older')
  cpSync(ids, older, { recursive: true })
  await using((project) => round(project, 'second'))
  for (const [name, prepare] of [
    ['third', () => undefined],
    ['fourth', () => rmSync(ids, { recursive: true })],
    ['fifth', () => cpSync(older, ids, { recursive: true })],
  ] as const) {
    prepare()
    const digest = await using(async (project) => {
      await round(project, name)
      const { results } = await project.query<[number, number]>({
        kind: 'SqlLikeQuery',
        query: `select count(), count(properties.${name}) from persons`,
      })
      expect(results).toEqual([[persons, persons]])
      return project.digest()
    })
    expect(existsSync(join(ids, 'known.ids'))).toBe(true)
    expect(await rebuilt()).toEqual(digest)
  }
})
