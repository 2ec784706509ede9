import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readTableFile } from '../../../../src/engine/storage/files/table-file.ts'
import { type LocalWaymark, open } from '../../../../src/engine.ts'
import type { LocalProject } from '../../../../src/project.ts'

// A chunk after an error is empty, like the one after the last row: rows that end early must not look complete.

let waymark: LocalWaymark
let project: LocalProject
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-failing-'))
  waymark = await open({ dataDir: ':memory:' })
  project = await waymark.createProject({ name: 'Shop' })
})
afterAll(async () => {
  await waymark.close()
  await rm(folder, { recursive: true, force: true })
})

const late = {
  kind: 'SqlLikeQuery',
  query: "select number, 'x' as same, 'y' as same, throwIf(number = 300000, 'too late') from numbers(400000)",
} as const

test('a statement that fails after its first rows rejects, with its reason', async () => {
  await expect(project.queryArrow(late)).rejects.toThrow('too late')
  let rows = 0
  const read = async () => {
    for await (const batch of project.queryArrowBatches(late)) rows += batch.numRows
  }
  await expect(read()).rejects.toThrow('too late')
  expect(rows).toBeLessThan(300_000)
  expect((await project.queryArrow({ ...late, query: late.query.replace('400000', '300000') })).numRows, 'a whole one does not').toBe(
    300_000,
  )
})

test('so does reading a file', async () => {
  const file = join(folder, 'damaged.parquet')
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  await connection.run(
    `COPY (SELECT hash(range)::VARCHAR AS name FROM range(300000)) TO '${file}' (ROW_GROUP_SIZE 10240, COMPRESSION snappy)`,
  )
  connection.closeSync()
  instance.closeSync()
  const bytes = await readFile(file)
  await writeFile(file, bytes.fill(0xff, Math.floor(bytes.length * 0.9), Math.floor(bytes.length * 0.91)))
  let rows = 0
  const read = async () => {
    for await (const part of readTableFile(file, 'parquet')) if ('rows' in part) rows += part.rows.length
  }
  await expect(read()).rejects.toThrow(/snappy|corrupt|parquet|decompress/i)
  expect(rows).toBeGreaterThan(0)
})
