import { copyFile, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import * as z from 'zod'
import { compressionMustFit, fileSettings, fileWish } from '../writing/file-settings.ts'
import { baseKey, extension, fieldsMustBeKnown, fileKey, isFileKey } from '../writing/object-key.ts'
import { DestinationError, defineDestination, type ExportRun, type Outside, type RowFile, type Sink } from './destination.ts'

const leadsOut = (folder: string) => `The prefix leads out of the folder for exports${folder}. Use a path inside it, without "..".`
const isInside = (prefix: string) => !prefix.split(/[/\\]/).includes('..')
const config = z
  .object({
    prefix: z
      .string()
      .default('')
      .superRefine(fieldsMustBeKnown)
      .refine(isInside, { error: leadsOut('') })
      .refine((prefix) => !prefix.includes('\0'), { error: 'The prefix must not contain NUL.' }),
    ...fileSettings,
  })
  .superRefine(compressionMustFit)
type Config = z.infer<typeof config>

interface PublishedFile {
  readonly name: string
  readonly rows: number
  readonly bytes: number
}

/** Files in a folder of this machine. They get their names one after another; the manifest, written last, lists those that belong together. */
export const localFiles = defineDestination<Config>({
  type: 'LocalFiles',
  summary: 'JSONLines or Parquet files in a folder of the server.',
  config,
  secrets: [],
  files: fileWish,
  steps: ({ prefix }, outside) => [
    {
      name: 'Check that files can be written',
      description: 'Writes a file to the folder, and removes it.',
      run: async () => {
        const probe = join(folderOf(prefix, outside), '.waymark-test')
        await withinDisk(async () => {
          await mkdir(dirname(probe), { recursive: true, mode: 0o700 })
          await (await open(probe, 'w', 0o600)).close()
          await rm(probe)
        })
      },
    },
  ],
  open: async (settings, run, outside) => {
    const sink = new LocalSink(settings, run, outside)
    await sink.discard()
    await sink.mustBeOwn()
    return sink
  },
})

class LocalSink implements Sink {
  private readonly base: string
  private readonly folder: string
  private readonly name: string
  private readonly staged: PublishedFile[] = []
  private readonly run: ExportRun
  private readonly ending: string
  private readonly isNumbered: boolean

  constructor(settings: Config, run: ExportRun, outside: Outside) {
    this.run = run
    this.base = join(mustHaveFolder(outside), baseKey(settings.prefix, run))
    mustBeWithin(this.base, outside)
    this.folder = dirname(this.base)
    this.name = basename(this.base)
    const { format, compression, maxFileBytes } = fileWish(settings)
    this.ending = extension(format, compression)
    this.isNumbered = maxFileBytes !== null
  }

  write({ path, index, rows, bytes }: RowFile): Promise<void> {
    return withinDisk(async () => {
      await mkdir(this.folder, { recursive: true, mode: 0o700 })
      const name = fileKey(this.name, this.isNumbered ? index : null, this.ending)
      await moveFile(path, this.unfinished(name))
      await syncFile(this.unfinished(name))
      this.staged.push({ name, rows, bytes })
    })
  }

  publish(): Promise<void> {
    return withinDisk(async () => {
      await mkdir(this.folder, { recursive: true, mode: 0o700 })
      const manifest = `${this.name}.manifest.json`
      await this.mustBeOwn()
      const { export_id, id, model, columns, start, end } = this.run
      const content = { export_id, run_id: id, model, data_interval_start: start, data_interval_end: end, columns, files: this.staged }
      await writeDurably(this.unfinished(manifest), `${JSON.stringify(content, null, 2)}\n`)
      const names = this.staged.map(({ name }) => name)
      for (const name of names) await rename(this.unfinished(name), join(this.folder, name))
      for (const name of await this.published()) if (!names.includes(name)) await rm(join(this.folder, name), { force: true })
      await rename(this.unfinished(manifest), join(this.folder, manifest))
      await syncFile(this.folder)
    })
  }

  /** Removes unfinished files of all attempts: another attempt that is still running fails when it publishes. */
  async discard(): Promise<void> {
    const names = await readdir(this.folder).catch(() => [])
    const unfinished = names.filter((name) => name.startsWith(`.${this.run.key}.`))
    for (const name of unfinished) await rm(join(this.folder, name), { force: true }).catch(() => undefined)
  }

  /** Exports with the same prefix and interval would replace each other's files. */
  async mustBeOwn(): Promise<void> {
    const content = await readFile(join(this.folder, `${this.name}.manifest.json`), 'utf8').catch(() => '')
    if (content === '' || exportOf(content) === this.run.export_id) return
    const message = `${this.name} already exists and belongs to another export. Choose another prefix for one of them, such as one with {table}.`
    throw new DestinationError(message, { isRetryable: false })
  }

  private unfinished(name: string): string {
    return join(this.folder, `.${this.run.key}.${this.run.attempt}.${name}`)
  }

  /** Files that this run, or an earlier attempt, has published. */
  private async published(): Promise<readonly string[]> {
    return (await readdir(this.folder)).filter((name) => isFileKey(this.name, name))
  }
}

const exportOf = (manifest: string): unknown => {
  try {
    return (JSON.parse(manifest) as { readonly export_id?: unknown }).export_id
  } catch {
    return null
  }
}

const mustHaveFolder = ({ localFolder }: Outside): string => {
  if (localFolder !== null) return localFolder
  throw new DestinationError('This server does not write exports to local files. Choose another destination.', { isRetryable: false })
}

const mustBeWithin = (path: string, outside: Outside): void => {
  const folder = mustHaveFolder(outside)
  if (resolve(path).startsWith(resolve(folder) + sep)) return
  const message = leadsOut(`, ${folder}`)
  throw new DestinationError(message, { isRetryable: false })
}

const folderOf = (prefix: string, outside: Outside): string => {
  const path = join(mustHaveFolder(outside), prefix, '.')
  mustBeWithin(join(path, 'file'), outside)
  return path
}

/** Across file systems it is copied. */
async function moveFile(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
    await copyFile(from, to)
  }
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

async function writeDurably(path: string, content: string): Promise<void> {
  const file = await open(path, 'w', 0o600)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
}

const advice: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full. Free some space; the run is retried.',
  EDQUOT: 'The quota of the disk is used up. Free some space; the run is retried.',
  EACCES: 'Permission denied. Allow the user of the server to write there.',
  EPERM: 'Permission denied. Allow the user of the server to write there.',
  EROFS: 'The file system is read-only.',
  ENOTDIR: 'A part of the path is a file, not a folder.',
  EEXIST: 'A part of the path is a file, not a folder.',
}
const isRetryable = new Set(['ENOSPC', 'EDQUOT'])

async function withinDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException
    if (!code || !(code in advice)) throw error
    const message = `${path ? `${path} cannot be written. ` : ''}${advice[code]}`
    throw new DestinationError(message, { isRetryable: isRetryable.has(code), cause: error })
  }
}
