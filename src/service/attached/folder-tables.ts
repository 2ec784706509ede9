import { createHash } from 'node:crypto'
import { readdir, realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import type { AttachedTable } from '../../language/catalog/attached.ts'
import { isTableName } from './options.ts'

// The tables of a folder: each file with rows is one, and each folder of Parquet files.

export type FolderTable = Pick<AttachedTable, 'format' | 'files' | 'asOf' | 'version'> & {
  readonly name: string
  readonly problem?: string
}

const mostTables = 200
const mostFiles = 2_000

const formats: readonly (readonly [pattern: RegExp, format: AttachedTable['format']])[] = [
  [/\.parquet$/i, 'parquet'],
  [/\.(csv|tsv)(\.gz)?$/i, 'csv'],
  [/\.(jsonl|ndjson)(\.gz)?$/i, 'json'],
]
/** The engine reads such paths as patterns. */
const pattern = /[*?[{]/

/** Undefined: not a file with rows. */
const formatOf = (name: string) => formats.find(([pattern]) => pattern.test(name))

/** Whether an attached object of a bucket is read. */
export const isTableFile = (name: string): boolean => formatOf(name) !== undefined

interface Found {
  readonly table: string
  readonly format: AttachedTable['format']
  readonly paths: readonly string[]
}

/** Sorted by name. Throws if the folder cannot be read. */
export async function tablesOfFolder(folder: string): Promise<readonly FolderTable[]> {
  const root = await realpath(folder)
  const entries = (await readdir(root, { withFileTypes: true })).filter(({ name }) => !name.startsWith('.'))
  const found: Found[] = []
  for (const { name } of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(root, name)
    const known = formatOf(name)
    if (known) found.push({ table: name.replace(known[0], ''), format: known[1], paths: [path] })
    else if ((await stat(path).catch(() => null))?.isDirectory()) {
      const parts = (await readdir(path)).filter((part) => /\.parquet$/i.test(part) && !part.startsWith('.')).sort()
      if (parts.length > 0) found.push({ table: name, format: 'parquet', paths: parts.map((part) => join(path, part)) })
    }
  }
  const counts = new Map<string, number>()
  for (const { table } of found) counts.set(table.toLowerCase(), (counts.get(table.toLowerCase()) ?? 0) + 1)
  const tooMany = `the folder has ${found.length} tables, and the first ${mostTables} by name are attached.`
  return Promise.all(
    found.map((one, i) => {
      const twice = counts.get(one.table.toLowerCase())! > 1 ? 'several files have its name.' : null
      return tableOf(root, one, i < mostTables ? twice : tooMany)
    }),
  )
}

/** `refusal`: why it is none, whatever is in its files. */
async function tableOf(root: string, { table: name, format, paths }: Found, refusal: string | null): Promise<FolderTable> {
  const named = isTableName(name) ? refusal : 'the name of its file must be letters, digits and underscores.'
  const problem = named ?? (paths.length > mostFiles ? `it has ${paths.length} files, and at most ${mostFiles} are read.` : null)
  const failed = (reason: string): FolderTable => ({ name, format, files: [], asOf: '', version: reason, problem: reason })
  if (problem !== null) return failed(problem)
  try {
    const files = await Promise.all(paths.map((path) => realpath(path)))
    const outside = files.findIndex((file) => !file.startsWith(`${root}${sep}`))
    if (outside >= 0) return failed('a link leads out of the attached folder.')
    if (files.some((file) => pattern.test(file))) return failed('a path with *, ?, [ or { cannot be read: it would name other files, too.')
    const facts = await Promise.all(files.map((file) => stat(file)))
    const last = Math.max(...facts.map(({ mtimeMs }) => mtimeMs))
    const version = createHash('sha256')
      .update(JSON.stringify([files, facts.map(({ ino, mtimeMs, size }) => [ino, mtimeMs, size])]))
      .digest('base64')
    return { name, format, files, asOf: new Date(last).toISOString(), version }
  } catch (error) {
    return failed(`its file cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'}).`)
  }
}
