import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { WaymarkError } from '../../../errors/errors.ts'
import { isObject } from '../../../lib/is-object.ts'

// Formats of small files that are neither databases nor logs. All of them have format 1, which is not written. A later one says so: a file of lines begins with
// the line {"format":2}, a file of one JSON object has the field `format`, and secret.key begins with the line `# format 2`.

const supported = 1
const keyLine = /^# format (\d+)$/

const refuseNewer = (file: string, found: number): void => {
  if (found > supported) throw new WaymarkError('newer-format', { file, found, supported })
}

const formatIn = (value: unknown): number => {
  const format = isObject(value) ? value.format : undefined
  return typeof format === 'number' && Number.isInteger(format) ? format : supported
}

/** Refuses a file that a newer version wrote, by its object or its first line. What is not JSON is left to the reader of the file. */
export function mustBeKnownJson(file: string, text: string): void {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return
  }
  refuseNewer(file, formatIn(value))
}

const mustBeKnownKeys = (file: string, text: string): void => refuseNewer(file, Number(keyLine.exec(firstLine(text))?.[1] ?? supported))

export const firstLine = (text: string): string => text.split('\n', 1)[0]!.trim()

const beginning = 4096

async function startOf(path: string): Promise<string> {
  const file = await open(path, 'r')
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(beginning), 0, beginning, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}

const checks: readonly (readonly [name: string, check: (path: string) => Promise<void>])[] = [
  ['secret.key', async (path) => mustBeKnownKeys(path, await startOf(path))],
  ['cookieless/salts.json', async (path) => mustBeKnownJson(path, await readFile(path, 'utf8'))],
  ['plugins/storage.jsonl', async (path) => mustBeKnownJson(path, firstLine(await startOf(path)))],
]

/** For a directory that is opened, before anything in it changes. The files of a project are read when it is opened. */
export async function mustHaveKnownFiles(dataDir: string): Promise<void> {
  for (const [name, check] of checks)
    await check(join(dataDir, name)).catch((error: unknown) => {
      if (error instanceof WaymarkError) throw error // others are met again, by what needs the file
    })
}
