import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { OpenDirectory } from './open-directory.ts'
import { openPlace, placeKey } from './places/open-place.ts'
import type { Place, PlaceUse } from './places/place.ts'
import type { Copy } from './repository/pieces.ts'
import { Repository } from './repository/repository.ts'
import { type Restored, type RestoredProject, type RestoreOptions, restoreAccounts, restoreCopy, restoreOneProject } from './restore.ts'
import { type Taken, type TakeOptions, takeCopy } from './take.ts'
import { openNotes } from './writer-notes.ts'

export { placeKey }

export interface KeyOption {
  /** Text of any length. Absent: copies are not encrypted. */
  readonly key?: string | null
}

async function inPlace<T>(
  text: string,
  use: PlaceUse,
  key: string | null,
  work: (repository: Repository, place: Place) => Promise<T>,
): Promise<T> {
  const place = await openPlace(text, use)
  let isWhole = false
  try {
    const result = await work(await Repository.open(place, key, use), place)
    isWhole = true
    return result
  } finally {
    await place.close(isWhole)
  }
}

/** Takes a copy of a directory that this process has open. One at a time. */
export const backUp = (directory: OpenDirectory, to: string, { key = null, ...options }: TakeOptions & KeyOption = {}): Promise<Taken> =>
  inPlace(to, 'write', key, async (repository) =>
    takeCopy(directory, repository, placeKey(to), await openNotes(directory.dataDir), options),
  )

/** Makes a directory of a copy. No process may use the directory. */
export const restore = (from: string, dataDir: string, { key = null, ...options }: RestoreOptions & KeyOption = {}): Promise<Restored> =>
  inPlace(from, 'read', key, (repository) => restoreCopy(repository, resolve(dataDir), options))

/** Restores one project into an open directory. */
export const restoreProject = (
  from: string,
  id: number,
  begin: Parameters<typeof restoreOneProject>[2],
  { key = null, ...options }: RestoreOptions & KeyOption,
): Promise<RestoredProject> => inPlace(from, 'read', key, (repository) => restoreOneProject(repository, id, begin, options))

/** The copies that a place has, oldest first. */
export const copiesIn = (from: string, { key = null }: KeyOption = {}): Promise<readonly Copy[]> =>
  inPlace(from, 'read', key, async (repository) => (await repository.state())?.copies ?? [])

/** Writes the accounts of a copy inside of a directory that this process has open, for as long as the work goes on. */
export const withAccounts = <T>(
  from: string,
  inside: string,
  { key = null, ...options }: RestoreOptions & KeyOption,
  work: (folder: string) => Promise<T>,
): Promise<T> =>
  inStaging(inside, async (folder) => {
    await inPlace(from, 'read', key, (repository) => restoreAccounts(repository, folder, options))
    return work(folder)
  })

/** Restores a copy inside of a directory that this process has open, for as long as the work goes on. */
export async function withRestored<T>(
  from: string,
  inside: string,
  options: RestoreOptions & KeyOption,
  work: (dataDir: string, restored: Restored) => Promise<T>,
): Promise<T> {
  return inStaging(inside, async (dataDir) => work(dataDir, await restore(from, dataDir, options)))
}

async function inStaging<T>(inside: string, work: (folder: string) => Promise<T>): Promise<T> {
  // No copy has this folder, and the next start empties it.
  const staging = join(inside, 'staging')
  await mkdir(staging, { recursive: true, mode: 0o700 })
  const folder = await mkdtemp(join(staging, 'restored-'))
  try {
    return await work(join(folder, 'data'))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
