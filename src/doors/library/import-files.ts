import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readTableFile } from '../../engine/storage/files/table-file.ts'
import type { LocalWaymark } from '../../engine.ts'
import { WaymarkError } from '../../errors/errors.ts'
import type { WireBatch } from '../../events/bulk/prepare-part.ts'
import type { ImportFormat } from '../../events/imports/format.ts'
import type { CellFormats } from '../../events/imports/formats/cells.ts'
import { fieldSource, type Mapping } from '../../events/imports/formats/mapped.ts'
import { openSource, type SourceFile } from '../../events/imports/open.ts'
import type { ImportedEvent } from '../../events/imports/record.ts'
import {
  type BatchResult,
  type Checkpoints,
  type ImportProgress,
  type ImportRun,
  type ImportSummary,
  runImport,
} from '../../events/imports/run.ts'
import { directoryCommands, imported } from '../http/commands/directory-commands.ts'
import { ImportThreads, type PreparedTarget, threadsFor } from './import-threads.ts'

// Files of events, for the command line and for applications.

/** The records of imports. */
export interface ImportRecords {
  begin(about: { readonly file: string; readonly format: string }): Promise<string>
  finish(id: string, about: { readonly status: 'done' | 'stopped'; readonly rows: number; readonly unreadable: number }): Promise<unknown>
  areUndone(ids: readonly string[]): Promise<boolean>
}

interface KeptCheckpoints extends Pick<Checkpoints, 'read'> {
  /** `importId`: the import that stored the latest rows. */
  write(fingerprint: string, rows: number, importId: string | undefined): Promise<void>
}

/** Where imported events go. */
export interface Target {
  store(batch: readonly ImportedEvent[], importId?: string): Promise<BatchResult>
  readonly checkpoints?: KeptCheckpoints
  /** Absent: what is imported cannot be undone as a whole. */
  readonly records?: ImportRecords
  /** For events that other threads have prepared. Absent: it takes none. */
  readonly prepared?: PreparedTarget
}

/** From this size on files are read and prepared in threads of their own: starting them takes longer than importing less. Compressed ones have several times the events. */
const leastBytes = 4 * 1024 ** 2
const isLarge = (files: readonly SourceFile[]): boolean => {
  const bytesOf = ({ path, bytes, isParquet }: SourceFile) => (isParquet || /\.(gz|zst)$/i.test(path) ? 8 * bytes : bytes)
  return files.reduce((sum, file) => sum + bytesOf(file), 0) >= leastBytes
}

/** A project that is open in this process. */
export async function preparedFor(waymark: LocalWaymark, id: number): Promise<PreparedTarget> {
  const project = await waymark.project(id)
  return {
    threads: threadsFor(waymark.memoryLimit),
    preparing: () => project.preparing(),
    store: async (batch, importId) => {
      const take = () => project.takePrepared(importId === undefined ? batch : { ...batch, importId })
      const answer = await (importId === undefined ? take() : imported(waymark, id, importId, take))
      return { ...answer, warnings: counted(answer.warnings) }
    },
  }
}

/** The records of a directory that is open in this process. */
const recordsFor = (waymark: LocalWaymark, project: number): ImportRecords => ({
  begin: async (about) => (await directoryCommands['begin-import'](waymark, { project, ...about })).id,
  finish: (id, about) => directoryCommands['finish-import'](waymark, { project, id, ...about }),
  areUndone: (ids) => waymark.imports.areUndone({ id: project }, ids),
})

const nameOf = ([first, ...others]: readonly SourceFile[]): string =>
  (others.length === 0 ? first!.name : `${first!.name} and ${others.length} more`).slice(0, 400)

/** An import that is recorded when it stores its first events. */
function recorded({ store, checkpoints, prepared, records }: Target, files: readonly SourceFile[]) {
  let begun: Promise<string> | undefined
  const idOf = () => (begun ??= records?.begin({ file: nameOf(files), format: files[0]!.format }))
  return {
    store: async (batch: readonly ImportedEvent[]) => store(batch, await idOf()),
    ...(prepared && {
      prepared: { ...prepared, store: async (batch: WireBatch) => prepared.store(batch, await idOf()) } satisfies PreparedTarget,
    }),
    ...(checkpoints && {
      checkpoints: {
        read: (fingerprint: string) => checkpoints.read(fingerprint),
        write: async (fingerprint: string, rows: number) => checkpoints.write(fingerprint, rows, await begun),
      } satisfies Checkpoints,
    }),
    ended: async (summary: ImportSummary | null): Promise<void> => {
      const id = await begun
      if (id === undefined) return
      const { rows = 0, unreadable = 0, isAborted = true } = summary ?? {}
      await records?.finish(id, { status: isAborted ? 'stopped' : 'done', rows, unreadable })
    },
  }
}

const isBadEvent = (error: unknown): error is WaymarkError<'bad-event'> => error instanceof WaymarkError && error.code === 'bad-event'

/** Imports opened files. An invalid event does not stop the others of its batch. */
export async function carryFiles(target: Target, run: Omit<ImportRun, 'send' | 'checkpoints' | 'parts'>): Promise<ImportSummary> {
  const { store, checkpoints, prepared, ended } = recorded(target, run.files)
  const refusedRows: string[] = []
  const send = async (batch: readonly ImportedEvent[]): Promise<BatchResult> => {
    for (let left = batch; ; ) {
      if (left.length === 0) return { accepted: 0, duplicates: 0, dropped: 0, warnings: [] }
      try {
        return await store(left)
      } catch (error) {
        if (!isBadEvent(error) || error.data.index === null) throw error
        refusedRows.push(error.data.message)
        left = left.filter((_, i) => i !== error.data.index)
      }
    }
  }
  const threads = prepared && prepared.threads > 0 && isLarge(run.files) ? new ImportThreads(prepared, send) : null
  let summary: ImportSummary | null = null
  const parts = threads ? { parts: threads.parts.bind(threads) } : {}
  try {
    summary = await runImport({ ...run, send, checkpoints, ...parts })
    for (const problem of refusedRows) summary.problems.push({ file: '', row: 0, problem })
    summary.unreadable += refusedRows.length
    return summary
  } finally {
    await threads?.close()
    await ended(summary)
  }
}

export const counted = (warnings: readonly { readonly type: string }[]): BatchResult['warnings'] => {
  const counts = new Map<string, number>()
  for (const { type } of warnings) counts.set(type, (counts.get(type) ?? 0) + 1)
  return [...counts].map(([kind, count]) => ({ kind, count }))
}

/** How far each file has been imported, by its content: a repeated import continues after the stored rows. */
export async function checkpointFiles(
  dataDir: string,
  project: number,
  { areUndone }: Pick<ImportRecords, 'areUndone'>,
): Promise<KeptCheckpoints> {
  const folder = join(dataDir, 'imports')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const fileOf = (fingerprint: string) => join(folder, `${project}-${fingerprint}.json`)
  const importsOf = new Map<string, readonly string[]>()
  const kept = async (fingerprint: string): Promise<{ rows?: number; imports?: readonly string[] }> => {
    const text = await readFile(fileOf(fingerprint), 'utf8').catch(() => '{}')
    try {
      return JSON.parse(text) as object
    } catch {
      return {}
    }
  }
  return {
    read: async (fingerprint) => {
      const { rows = 0, imports = [] } = await kept(fingerprint)
      if (imports.length > 0 && (await areUndone(imports))) return 0
      importsOf.set(fingerprint, imports)
      return rows
    },
    write: async (fingerprint, rows, importId) => {
      const before = importsOf.get(fingerprint) ?? []
      const imports = importId === undefined || before.includes(importId) ? before : [...before, importId]
      importsOf.set(fingerprint, imports)
      // A crash during the write must not leave half a number.
      const file = fileOf(fingerprint)
      await writeFile(`${file}.new`, JSON.stringify({ rows, imports }), { mode: 0o600 })
      await rename(`${file}.new`, file)
    },
  }
}

export interface FileImportOptions {
  /** Default: detected from the name and the contents. */
  readonly format?: ImportFormat
  /** The column of each field of a CSV, JSONL or Parquet file; `=TEXT` is a constant. */
  readonly map?: Partial<Readonly<Record<'event' | 'distinct_id' | 'timestamp' | 'uuid' | 'properties', string>>>
  /** How a plain file writes times and numbers. Default: times as they look, without a time zone in UTC; texts stay texts. */
  readonly cells?: CellFormats
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: ImportProgress) => void
}
export type FileImportSummary = Readonly<Omit<ImportSummary, 'files'>>

/** Imports files into a project of an open directory. */
export async function importFiles(
  waymark: LocalWaymark,
  id: number,
  paths: readonly string[],
  { format, map = {}, cells, signal, onProgress }: FileImportOptions = {},
): Promise<FileImportSummary> {
  const project = await waymark.project(id)
  const columns = Object.fromEntries(Object.entries(map).map(([field, from]) => [field, fieldSource(from)]))
  const mapping: Mapping = { ...columns, ...(cells && { cells }) }
  const files: SourceFile[] = []
  for (const path of paths) files.push(await openSource(path, { format, mapping, readTable: readTableFile }))
  const store = async (batch: readonly ImportedEvent[], importId?: string) => {
    const take = () => project.take({ batch, historical_migration: true }, importId === undefined ? {} : { importId })
    const answer = await (importId === undefined ? take() : imported(waymark, id, importId, take))
    return { ...answer, warnings: counted(answer.warnings) }
  }
  const records = recordsFor(waymark, id)
  const checkpoints = waymark.dataDir === ':memory:' ? {} : { checkpoints: await checkpointFiles(waymark.dataDir, id, records) }
  return carryFiles(
    { store, records, prepared: await preparedFor(waymark, id), ...checkpoints },
    { files, ...(signal && { signal }), ...(onProgress && { onProgress }) },
  )
}
