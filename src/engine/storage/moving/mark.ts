import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { WaymarkError } from '../../../errors/errors.ts'
import { syncFolder } from '../files/sync-folder.ts'
import { isAlive, type ProcessIdentity, thisProcess } from '../locks/process-identity.ts'

// A file of a data directory that says where its data went, or that a process is about to move it: nobody else opens the directory.

const fileName = 'moved.json'

export interface MoveMark {
  /** `moving`: the process that is named does it, and its mark is void when it has ended. */
  readonly state: 'moving' | 'moved'
  /** The addresses of the databases. */
  readonly to: string
  readonly at: string
  readonly process: ProcessIdentity
}

export async function readMark(dataDir: string): Promise<MoveMark | null> {
  const text = await readFile(join(dataDir, fileName), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text === null) return null
  const mark = JSON.parse(text) as MoveMark
  return mark.state === 'moving' && !isAlive(mark.process) ? null : mark
}

export async function writeMark(dataDir: string, state: MoveMark['state'], to: string): Promise<void> {
  const mark: MoveMark = { state, to, at: new Date().toISOString(), process: thisProcess() }
  const path = join(dataDir, fileName)
  await writeFile(`${path}.new`, `${JSON.stringify(mark)}\n`, { mode: 0o600, flush: true })
  await rename(`${path}.new`, path)
  syncFolder(dataDir)
}

export const removeMark = (dataDir: string): Promise<void> => rm(join(dataDir, fileName), { force: true })

/** Its own process may open it until it has moved. */
export async function mustNotBeMoved(dataDir: string): Promise<void> {
  const mark = await readMark(dataDir)
  if (mark === null || (mark.state === 'moving' && mark.process.pid === process.pid)) return
  const reason =
    mark.state === 'moved'
      ? `its data was moved to ${mark.to} at ${mark.at}, and servers of that cluster have it. Without ${fileName} the directory can be opened again, as it was then.`
      : `\`waymark move\` (process ${mark.process.pid}) moves it to ${mark.to}. Wait until it has ended.`
  throw new WaymarkError('unusable-directory', { dataDir, reason })
}
