import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { syncFolder } from './sync-folder.ts'

const fileName = 'secret.key'

const isError = (error: unknown, code: string): boolean => (error as NodeJS.ErrnoException).code === code

/** The keys of a data directory, one per line, newest first. The file is created with a new key if it does not exist; only its owner can read it. */
export function readSecretKeys(dataDir: string, newKey: () => string): readonly string[] {
  const path = join(dataDir, fileName)
  const text = read(path) ?? create(path, newKey())
  return text.split('\n').flatMap((line) => line.trim() || [])
}

/** Of a directory that is being made. */
export function writeSecretKeys(dataDir: string, keys: readonly string[]): void {
  writeFileSync(join(dataDir, fileName), `${keys.join('\n')}\n`, { mode: 0o600, flush: true })
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isError(error, 'ENOENT')) return null
    throw error
  }
}

function create(path: string, key: string): string {
  const unfinished = `${path}.${randomUUID()}`
  const file = openSync(unfinished, 'wx', 0o600)
  try {
    writeSync(file, `${key}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  try {
    linkSync(unfinished, path) // fails if another process was faster: a key must never be replaced
    syncFolder(dirname(path))
    return key
  } catch (error) {
    if (!isError(error, 'EEXIST')) throw error
    return readFileSync(path, 'utf8')
  } finally {
    rmSync(unfinished, { force: true })
  }
}
