import { closeSync, constants, openSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import { mkdir, open, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { AsideRecord, AttemptNote, AttemptStore } from '../../../events/ingestion/ports.ts'

const width = 120
const nothing = { from: 0, to: -1, weight: 0, lasted: 0 }

/** In the folder of a project: one file for each record that is set aside. */
const asideIn = (folder: string): string => join(folder, 'set-aside')

const numbersIn = (names: readonly string[]): number[] =>
  names
    .flatMap((name) => /^(\d+)\.json$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)

/** Numbers of the records that a project has set aside. */
export const recordsAside = async (folder: string): Promise<number[]> => numbersIn(await readdir(asideIn(folder)).catch(() => []))

export interface Aside {
  readonly project: number
  readonly records: readonly number[]
}

/** All projects of a directory that have set records aside. */
export async function allAside(dataDir: string): Promise<readonly Aside[]> {
  const names = await readdir(join(dataDir, 'projects')).catch(() => [])
  const all = names.map(async (name) => ({ project: Number(name), records: await recordsAside(join(dataDir, 'projects', name)) }))
  return (await Promise.all(all)).filter(({ records }) => records.length > 0).sort((a, b) => a.project - b.project)
}

function namesIn(folder: string): number[] {
  try {
    return numbersIn(readdirSync(folder))
  } catch {
    return []
  }
}

function readNote(path: string): AttemptNote | null {
  try {
    const { from, to, weight, lasted } = JSON.parse(readFileSync(path, 'utf8')) as AttemptNote
    return [from, to, weight, lasted].every(Number.isSafeInteger) && from <= to ? { from, to, weight, lasted } : null
  } catch {
    return null
  }
}

/** It outlives the process, and need not outlive the machine: without the note the records are applied like any others. */
export function openAttempts(folder: string): AttemptStore {
  const path = join(folder, 'applying.json')
  const found = readNote(path)
  const aside = new Set(namesIn(asideIn(folder)))
  let handle: number | null = null
  const note = (attempt: AttemptNote | null) => {
    try {
      handle ??= openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600)
      writeSync(handle, `${JSON.stringify(attempt ?? nothing).padEnd(width)}\n`, 0)
    } catch {
      // A full disk: the records are applied all the same.
    }
  }
  return {
    found,
    note,
    aside,
    async setAside(record) {
      const target = join(asideIn(folder), `${record.seq}.json`)
      await mkdir(asideIn(folder), { recursive: true, mode: 0o700 })
      const file = await open(`${target}.new`, 'w', 0o600)
      try {
        await file.writeFile(textOfAside(record))
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(`${target}.new`, target)
      aside.add(record.seq)
      note(null)
      return target
    },
    close() {
      if (handle === null) return
      note(null)
      closeSync(handle)
      handle = null
    },
  }
}

/** An event is the body of a request that sends it again. */
export function textOfAside({ seq, kind, uuid, receivedAt, sentAt, payload }: AsideRecord): string {
  const row = JSON.parse(payload) as object
  const received_at = new Date(receivedAt).toISOString()
  const about = { record: seq, kind, received_at }
  const isTimed = 'timestamp' in row || 'offset' in row
  const again = { ...row, uuid, ...(isTimed ? {} : { timestamp: received_at }) }
  const content = kind === 'event' ? { ...(sentAt === null ? {} : { sent_at: sentAt }), batch: [again] } : { row }
  return `${JSON.stringify({ set_aside: about, ...content }, null, 1)}\n`
}
