import { realpath, stat } from 'node:fs/promises'

/** Identifies a directory: a copy has another path and another inode. */
export interface DirectoryIdentity {
  readonly path: string
  readonly device: string
  readonly inode: string
}

export async function directoryIdentity(directory: string): Promise<DirectoryIdentity> {
  const path = await realpath(directory)
  const { dev, ino } = await stat(path, { bigint: true })
  return { path, device: String(dev), inode: String(ino) }
}

export const isSameDirectory = (a: DirectoryIdentity, b: DirectoryIdentity): boolean => a.path === b.path && hasSameInode(a, b)

/** Different only if nothing matches: a directory that was moved or replaced while in use still counts as the same. */
export const isOtherDirectory = (a: DirectoryIdentity, b: DirectoryIdentity): boolean => a.path !== b.path && !hasSameInode(a, b)

const hasSameInode = (a: DirectoryIdentity, b: DirectoryIdentity) => a.device === b.device && a.inode === b.inode
