import { type FileHandle, mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolders } from '../../engine/storage/files/make-folders.ts'
import { isDatabaseFile } from '../../engine/storage/instance.ts'
import { cutLog } from '../../engine/storage/log/moment.ts'
import { filesOf } from '../../engine/storage/project-storage.ts'
import { WaymarkError } from '../../errors/errors.ts'
import { shownFrom, shownTime } from '../../lib/time/shown-time.ts'
import type { Progress } from './open-directory.ts'
import { syncFolder } from './places/folder.ts'
import type { CopiedFile, CopiedProject, Copy } from './repository/pieces.ts'
import type { Reader, Repository } from './repository/repository.ts'

// A directory made of a copy. It gets its name when it is whole. Opening it is like opening one after a crash: the log has the records that the stores lack.

export interface RestoreOptions {
  /** The number of a copy. Default: the newest. */
  readonly copy?: number
  /** A moment: the directory as it was then. */
  readonly at?: Date
  /** Where the log of a project ends, by its id. Default: with the copy. */
  readonly ends?: ReadonlyMap<number, number>
  readonly signal?: AbortSignal
  onProgress?(progress: Progress): void
}

export interface Restored {
  /** The copy with the accounts and the stores. */
  readonly copy: Copy
  readonly bytes: number
  readonly projects: readonly { readonly id: number; readonly name: string; readonly position: number | null }[]
}

const unfinishedName = '.restoring'

const refused = (message: string) => new WaymarkError('command-failed', { message })

/** What a restored directory is made of: the files of one copy, and the logs of a later one that go on to a moment. */
interface Source {
  readonly copy: Copy
  readonly files: readonly CopiedFile[]
  readonly moment: number | null
}

async function sourceOf(repository: Repository, { copy: number, at }: RestoreOptions): Promise<Source> {
  const { name } = repository.place
  const copies = (await repository.state())?.copies ?? []
  const newest = copies.at(-1)
  if (!newest) throw refused(`${name} has no copy yet.`)
  if (number !== undefined && at !== undefined) throw refused('Give either the number of a copy or a moment.')
  if (at !== undefined) return sourceAt(repository, copies, at)
  const copy = number === undefined ? newest : copies.find((one) => one.number === number)
  if (!copy) throw refused(`${name} has no copy ${number}: it has ${copies[0]!.number} to ${newest.number}.`)
  return { copy, files: await repository.filesOf(copy), moment: null }
}

/** The last copy that was complete at the moment, and the log of the next one, which has everything that arrived until then. */
async function sourceAt(repository: Repository, copies: readonly Copy[], at: Date): Promise<Source> {
  const moment = at.getTime()
  const { name } = repository.place
  const range = `${shownFrom(copies[0]!.at)} to ${shownTime(copies.at(-1)!.began_at)}`
  const copy = copies.findLast((one) => new Date(one.at).getTime() <= moment)
  const later = copies.find((one) => new Date(one.began_at).getTime() >= moment)
  if (!copy) throw refused(`${name} begins after that moment. It can bring back moments from ${range}, and each of its copies.`)
  const files = await repository.filesOf(copy)
  if (!later) {
    if (new Date(copy.at).getTime() === moment) return { copy, files, moment }
    throw refused(
      `${name} ends before that moment. It can bring back moments from ${range}; without a moment, the newest copy is restored.`,
    )
  }
  const isLog = ({ kind, path }: CopiedFile) => kind === 'log' && copy.projects.some(({ id }) => path.startsWith(`projects/${id}/`))
  const logs = new Map(files.filter(isLog).map((file) => [file.path, file]))
  for (const file of (await repository.filesOf(later)).filter(isLog)) logs.set(file.path, file)
  return { copy, files: [...files.filter(({ kind }) => kind !== 'log'), ...logs.values()], moment }
}

/** Writes a directory, which must not exist or be empty. */
export async function restoreCopy(repository: Repository, dataDir: string, options: RestoreOptions = {}): Promise<Restored> {
  await mustBeFree(dataDir)
  const source = await sourceOf(repository, options)
  await makeFolders(dataDir).catch((error: Error) => {
    throw refused(`${dataDir} cannot be made: ${error.message}`)
  })
  // Inside of it: it may be a mount point.
  const unfinished = join(dataDir, unfinishedName)
  await rm(unfinished, { recursive: true, force: true }) // of a process that was killed
  try {
    const restored = await writeFiles(repository, source, unfinished, options)
    // Without accounts a directory with projects is not opened, so they come last.
    const names = (await readdir(unfinished)).sort((a, b) => Number(isDatabaseFile(a)) - Number(isDatabaseFile(b)))
    for (const name of names) await rename(join(unfinished, name), join(dataDir, name))
    await rm(unfinished, { recursive: true })
    await syncFolder(dataDir)
    return restored
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true }).catch(() => undefined)
    throw error
  }
}

async function mustBeFree(dataDir: string): Promise<void> {
  const found = await readdir(dataDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw refused(`${dataDir}: ${error.message}`)
  })
  if (found.some((name) => name !== unfinishedName && name !== 'lost+found'))
    throw refused(`${dataDir} is not empty. A copy is restored into a new directory: nothing that exists is overwritten.`)
}

async function writeFiles(repository: Repository, source: Source, folder: string, options: RestoreOptions): Promise<Restored> {
  const { copy, files } = source
  await mkdir(join(folder, 'projects'), { recursive: true, mode: 0o700 })
  const bytes = await writeAllOf(repository, files, (path) => pathIn(folder, path), options)
  const projects: Restored['projects'][number][] = []
  for (const project of copy.projects) {
    const end = options.ends?.get(project.id)
    projects.push({ id: project.id, name: project.name, position: await endLog(filesOf(folder, project.id), source, project, end) })
  }
  return { copy, bytes, projects }
}

async function writeAllOf(
  repository: Repository,
  files: readonly CopiedFile[],
  pathOf: (path: string) => string,
  { signal, onProgress }: RestoreOptions,
): Promise<number> {
  const ofBytes = files.reduce((sum, { bytes }) => sum + bytes, 0)
  const reader = repository.reader()
  const folders = new Set<string>()
  let bytes = 0
  for (const [count, file] of files.entries()) {
    const path = pathOf(file.path)
    const folder = dirname(path)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    folders.add(folder).add(dirname(folder))
    const handle = await open(path, 'wx', 0o600)
    try {
      for await (const piece of contentsOf(reader, file)) {
        await writeAll(handle, piece)
        bytes += piece.length
        onProgress?.({ phase: 'writing', files: count, bytes, ofBytes })
        signal?.throwIfAborted()
      }
      await handle.sync()
    } finally {
      await handle.close()
    }
  }
  for (const folder of folders) await syncFolder(folder)
  return bytes
}

/** Cuts the log of a project where it must end, and notes its end. */
async function endLog(
  { log, position: positionFile }: ReturnType<typeof filesOf>,
  { moment }: Source,
  { position }: CopiedProject,
  end?: number,
): Promise<number | null> {
  await mkdir(log, { recursive: true, mode: 0o700 }) // a store without its folder has lost its log
  const cut = moment !== null ? { time: moment } : end !== undefined ? { seq: end } : null
  const last = cut ? (await cutLog(log, cut)).lastSeq : position
  if (last !== null) await writeFile(positionFile, `${String(last).padStart(16, '0')}\n`, { mode: 0o600 })
  return last
}

/** Writes the accounts of a copy into a folder. */
export async function restoreAccounts(repository: Repository, folder: string, options: RestoreOptions): Promise<void> {
  const { files } = await sourceOf(repository, options)
  const accounts = files.filter(({ path }) => path.startsWith('control.duckdb'))
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeAllOf(repository, accounts, (path) => pathIn(folder, path), { ...(options.signal ? { signal: options.signal } : {}) })
}

export interface RestoredProject {
  readonly copy: Copy
  readonly project: CopiedProject
  readonly position: number | null
}

/** Writes the files of one project into the folder of a new one, which must not exist. `begin` makes the new one, and says where its folder is. */
export async function restoreOneProject(
  repository: Repository,
  id: number,
  begin: (project: CopiedProject) => Promise<ReturnType<typeof filesOf>>,
  options: RestoreOptions,
): Promise<RestoredProject> {
  const source = await sourceOf(repository, options)
  const project = source.copy.projects.find((one) => one.id === id)
  const known = source.copy.projects.map((one) => `${one.id} (${one.name})`).join(', ')
  if (!project) throw refused(`Copy ${source.copy.number} has no project ${id}: it has ${known}.`)
  const own = `projects/${id}/`
  const files = await begin(project)
  const unfinished = `${files.folder}.restoring`
  try {
    await writeAllOf(
      repository,
      source.files.filter(({ path }) => path.startsWith(own)),
      (path) => pathIn(unfinished, path.slice(own.length)),
      options,
    )
    await mkdir(unfinished, { recursive: true, mode: 0o700 })
    await rename(unfinished, files.folder)
    await syncFolder(dirname(files.folder))
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true }).catch(() => undefined)
    throw error
  }
  return { copy: source.copy, project, position: await endLog(files, source, project) }
}

async function* contentsOf(reader: Reader, file: CopiedFile): AsyncGenerator<Buffer> {
  for (const piece of file.pieces) yield reader.contents(piece)
}

async function writeAll(handle: FileHandle, bytes: Buffer): Promise<void> {
  for (let done = 0; done < bytes.length; ) done += (await handle.write(bytes, done, bytes.length - done)).bytesWritten
}

/** A list of files that somebody has changed must not write anywhere else. */
function pathIn(folder: string, path: string): string {
  const parts = path.split('/')
  if (path === '' || parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('\\') || part.includes('\0')))
    throw refused(`The backup names a file ${JSON.stringify(path)}, which is not inside a directory.`)
  return join(folder, ...parts)
}
