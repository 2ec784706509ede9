import { randomBytes } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type DirectoryIdentity, directoryIdentity, isSameDirectory } from '../../engine/storage/locks/directory-identity.ts'
import { isAlive, isOfThisBoot, type ProcessIdentity, thisProcess } from '../../engine/storage/locks/process-identity.ts'

// While a server or an application owns a directory, this file contains its address, the secret for local commands, and the directory and process that it
// belongs to: in a copy of the directory the file is invalid.

export interface Address {
  readonly url: string
  readonly secret: string
}
interface Announcement extends Address {
  readonly directory: DirectoryIdentity
  readonly process: ProcessIdentity
}

const fileOf = (dataDir: string) => join(dataDir, 'server.json')

export const newSecret = (): string => randomBytes(32).toString('base64url')

/** The answer takes the file away. */
export async function announce(dataDir: string, address: Address): Promise<() => Promise<void>> {
  const file = fileOf(dataDir)
  const announcement: Announcement = { ...address, directory: await directoryIdentity(dataDir), process: thisProcess() }
  await rm(file, { force: true })
  await writeFile(file, JSON.stringify(announcement), { mode: 0o600, flag: 'wx' })
  return () => rm(file, { force: true })
}

/** `isHere`: the process runs on this machine, and does not only seem to. Null: nobody has the directory, or the file belongs to another one. */
export async function announced(dataDir: string): Promise<(Address & { readonly isHere: boolean }) | null> {
  const { url, secret, directory, process: owner } = JSON.parse(await readFile(fileOf(dataDir), 'utf8')) as Announcement
  if (!isSameDirectory(directory, await directoryIdentity(dataDir))) return null
  const isHere = isOfThisBoot(owner)
  return isHere && !isAlive(owner) ? null : { url, secret, isHere }
}
