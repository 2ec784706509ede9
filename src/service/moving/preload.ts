import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { copyProject } from '../../engine/storage/moving/copy-project.ts'
import { type FollowedLog, followLog } from '../../engine/storage/moving/follow-log.ts'
import { withSource } from '../../engine/storage/moving/source.ts'
import type { MoveTarget } from '../../engine/storage/moving/target.ts'
import { movedProjects } from '../../engine/storage/postgres/moving.ts'
import { accountsFile } from '../directory/control.ts'
import { copyAccounts } from './copy-accounts.ts'
import { copying, type MoveParts, mustBeMovable, projectsOf, projectsWithTransformations } from './parts.ts'

// The first part of a move while a server has the directory: a copy of the directory is copied into the databases, and the logs of the directory are followed until little is
// left for the moment in which events are refused.

/** So few records take no time at the end. */
const fewRecords = 2_000
const mostRounds = 100

interface Progress {
  readonly state: 'copied' | 'loaded'
  readonly move: string
}

const workFolder = (dataDir: string) => `${dataDir}.moving`

async function progressOf(folder: string, move: string): Promise<Progress['state'] | null> {
  const text = await readFile(join(folder, 'progress.json'), 'utf8').catch(() => '{}')
  const found = JSON.parse(text) as Partial<Progress>
  return found.move === move && found.state ? found.state : null
}
const noteProgress = (folder: string, progress: Progress) =>
  writeFile(join(folder, 'progress.json'), JSON.stringify(progress), { mode: 0o600, flush: true })

export const removeWorkFolder = (dataDir: string): Promise<void> => rm(workFolder(dataDir), { recursive: true, force: true })

/** `copyTo`: makes a folder with a copy of the directory. */
export async function preload(target: MoveTarget, parts: MoveParts, copyTo: (folder: string) => Promise<void>): Promise<void> {
  const folder = workFolder(parts.dataDir)
  const data = join(folder, 'data')
  const move = target.moving.id
  let state = await progressOf(folder, move)
  if (state === null) {
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await copyTo(data)
    state = 'copied'
    await noteProgress(folder, { state, move })
  }
  if (state === 'copied') {
    await parts.settle(data)
    await withSource(data, parts.memoryLimit, async (source) => {
      const { instance } = source
      await instance.attach('control', 'control.duckdb', accountsFile)
      await mustBeMovable(source, parts.secretKeys)
      const transformed = await projectsWithTransformations(source)
      for (const { id } of await projectsOf(source)) {
        const database = transformed.has(id) ? null : await source.attach(id)
        if (database === null) continue
        await copyProject({ instance, database, target, ...copying(id, parts) })
        await source.detach(database)
      }
      await copyAccounts(instance, target.postgres)
    })
    await noteProgress(folder, { state: 'loaded', move })
    await rm(data, { recursive: true, force: true })
  }
  await followUntilClose(target, parts)
}

async function followUntilClose(target: MoveTarget, parts: MoveParts): Promise<void> {
  const logs = new Map<number, FollowedLog>()
  for (const id of await movedProjects(target.postgres)) logs.set(id, followLog(target, parts.dataDir, id))
  const cluster = await parts.openCluster()
  try {
    for (let round = 0; round < mostRounds; round++) {
      let appended = 0
      for (const [id, log] of logs) {
        parts.signal.throwIfAborted()
        const followed = await log.follow(false).catch(() => null) // the end finds out what is wrong with it
        appended += followed?.appended ?? 0
        if (followed) parts.onProgress({ phase: 'following', project: id, rows: followed.seq })
        if (followed && followed.appended > 0) await cluster.reach(id)
      }
      if (appended < fewRecords) return
    }
  } finally {
    await cluster.close()
  }
}
