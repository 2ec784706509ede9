import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { InternalError, WaymarkError } from '../../../errors/errors.ts'
import type { SaltStore } from '../../../events/ingestion/ports.ts'
import { isObject } from '../../../lib/is-object.ts'
import { syncFolder } from './sync-folder.ts'

// The salts of visitors without cookies, in a folder of their own: it must be in no backup. The tag makes programs for backups leave the folder out.

const saltFolder = 'cookieless'
const tag = `Signature: 8a477f597d28d172789f06886806bc55
# This folder has the salts that visitors without cookies are hashed with. They are erased after three days. Leave the folder out of backups.
`

/** `isCopy`: the directory is a copy of another one, whose salts it must not have. */
export function openSaltFile(dataDir: string, { isCopy }: { readonly isCopy: boolean }): SaltStore {
  const folder = join(dataDir, saltFolder)
  const path = join(folder, 'salts.json')
  if (isCopy) rmSync(path, { force: true })
  return {
    read() {
      try {
        return saltsIn(readFileSync(path, 'utf8'))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map()
        throw failed(error)
      }
    },
    write(salts) {
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        writeFileSync(join(folder, 'CACHEDIR.TAG'), tag, { mode: 0o600 })
        writeDurably(path, JSON.stringify(Object.fromEntries([...salts].map(([day, salt]) => [day, salt.toString('base64')]))))
        syncFolder(folder)
      } catch (error) {
        throw failed(error)
      }
    },
  }
}

/** A file that a crash left unreadable has no salts: its visitors count anew. */
function saltsIn(text: string): ReadonlyMap<number, Buffer> {
  let stored: unknown
  try {
    stored = JSON.parse(text)
  } catch {
    return new Map()
  }
  const salts = new Map<number, Buffer>()
  for (const [day, salt] of Object.entries(isObject(stored) ? stored : {})) {
    if (/^-?\d+$/.test(day)) salts.set(Number(day), Buffer.from(String(salt), 'base64'))
  }
  return salts
}

function writeDurably(path: string, text: string): void {
  const unfinished = `${path}.new`
  const file = openSync(unfinished, 'w', 0o600)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(unfinished, path)
}

const failed = (cause: unknown) =>
  (cause as NodeJS.ErrnoException).code === 'ENOSPC'
    ? new WaymarkError('disk-full', { free: 0, floor: 0 }, { cause })
    : new InternalError('The salts of visitors without cookies cannot be read or written', { cause })
