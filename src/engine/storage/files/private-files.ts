import { chmod, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

const others = 0o077

/** Removes the permissions of other users from a file, or from a directory and its contents. Returns what could not be changed. */
export async function makePrivate(path: string): Promise<readonly string[]> {
  const found = await stat(path).catch(() => null)
  if (!found) return []
  const refused = (found.mode & others) !== 0 && !(await allow(path, found.mode & 0o700)) ? [path] : []
  if (!found.isDirectory()) return refused
  const names = await readdir(path).catch(() => [])
  const inside = await Promise.all(names.map((name) => makePrivate(join(path, name))))
  return [...refused, ...inside.flat()]
}

const allow = (path: string, mode: number): Promise<boolean> =>
  chmod(path, mode).then(
    () => true,
    () => false,
  )

/** Files and folders that Waymark creates in a data directory. */
const ownName =
  /^(control\.duckdb(\.wal|\.blocks|\.format-\d+)?|backups\.json|waymark\.lock(\..+)?|server\.json|secret\.key|cookieless|projects|imports|exports|plugins|staging|tmp|lost\+found)$/

/** The same for a data directory. A directory with other contents keeps its own mode; Waymark's files in it do not. */
export async function makeDirectoryPrivate(dataDir: string): Promise<readonly string[]> {
  const names = await readdir(dataDir)
  const ours = names.filter((name) => ownName.test(name) && name !== 'lost+found')
  const refused = await Promise.all(
    ours.map((name) => (name === 'projects' ? makeTopPrivate(join(dataDir, name)) : makePrivate(join(dataDir, name)))),
  )
  return [...(ours.length === names.length ? await makeTopPrivate(dataDir) : []), ...refused.flat()]
}

/** A directory alone: other users cannot access what is in it. */
async function makeTopPrivate(path: string): Promise<readonly string[]> {
  const found = await stat(path).catch(() => null)
  return found && (found.mode & others) !== 0 && !(await allow(path, found.mode & 0o700)) ? [path] : []
}
