import { randomBytes } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type DirectoryIdentity, directoryIdentity, isSameDirectory } from '../../engine/storage/locks/directory-identity.ts'
import { isAlive, isOfThisBoot, isSinceBoot, type ProcessIdentity, thisProcess } from '../../engine/storage/locks/process-identity.ts'

// While a process owns a directory, these files contain its address, the secret for those who call it, and the directory and process that they belong to: in a
// copy of the directory they are invalid.

export interface Address {
  readonly url: string
  readonly secret: string
}
interface Announcement {
  readonly directory: DirectoryIdentity
  readonly process: ProcessIdentity
}

/** Where other processes of this machine reach the owner of a directory, whether or not it is a server. */
export interface OwnerAddress {
  /** The path of a socket. */
  readonly socket: string
  readonly secret: string
}

const files = { server: 'server.json', owner: 'owner.json' } as const

export const newSecret = (): string => randomBytes(32).toString('base64url')

async function write(dataDir: string, name: string, address: object): Promise<() => Promise<void>> {
  const file = join(dataDir, name)
  const announcement = { ...address, directory: await directoryIdentity(dataDir), process: thisProcess() } satisfies Announcement
  await rm(file, { force: true })
  await writeFile(file, JSON.stringify(announcement), { mode: 0o600, flag: 'wx' })
  return () => rm(file, { force: true })
}

interface Found {
  readonly isHere: boolean
  /** It may be in another container of this machine. */
  readonly isOfThisBoot: boolean
  readonly pid: number
}

async function find<A>(dataDir: string, name: string): Promise<(A & Found) | null> {
  const { directory, process: owner, ...address } = JSON.parse(await readFile(join(dataDir, name), 'utf8')) as Announcement
  if (!isSameDirectory(directory, await directoryIdentity(dataDir))) return null
  const isHere = isOfThisBoot(owner)
  return isHere && !isAlive(owner) ? null : { ...(address as A), isHere, isOfThisBoot: isSinceBoot(owner), pid: owner.pid }
}

/** The answer takes the file away. */
export const announce = (dataDir: string, address: Address): Promise<() => Promise<void>> => write(dataDir, files.server, address)

/** `isHere`: the process runs on this machine, and does not only seem to. Null: nobody has the directory, or the file belongs to another one. */
export const announced = (dataDir: string): Promise<(Address & { readonly isHere: boolean }) | null> => find(dataDir, files.server)

/** The same, for the socket of the owner. */
export const announceOwner = (dataDir: string, address: OwnerAddress): Promise<() => Promise<void>> => write(dataDir, files.owner, address)

/** Null: nobody has the directory, or its owner takes no calls. */
export const announcedOwner = async (dataDir: string): Promise<(OwnerAddress & { readonly pid: number }) | null> => {
  const found = await find<OwnerAddress>(dataDir, files.owner).catch(() => null)
  return found?.isOfThisBoot ? found : null // after a restart of the machine, anybody may have made the folder of the socket
}

/** The socket that the last owner has announced and not taken back. */
export const leftSocket = async (dataDir: string): Promise<string | null> => {
  const text = await readFile(join(dataDir, files.owner), 'utf8').catch(() => '{}')
  try {
    const { socket } = JSON.parse(text) as Partial<OwnerAddress>
    return typeof socket === 'string' ? socket : null
  } catch {
    return null
  }
}
