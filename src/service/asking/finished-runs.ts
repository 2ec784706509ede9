import type { RunKey } from '../../engine/execution/ports.ts'
import { otherLimits } from '../../limits/limits.ts'
import type { AccountStore, AccountTables, QueryRun } from '../accounts/records.ts'

// Finished runs that can still be polled: for a limited time, and while the answers of a project are within a size limit.

interface Kept {
  readonly id: string
  readonly task_id: string
  readonly characters: number
  readonly expires: number
}
type Ended = Pick<QueryRun, 'id' | 'task_id' | 'project_id' | 'expiration_time' | 'characters'>

const maxCharacters: number = otherLimits.keptAnswerBytes.number

/** `isShared`: other servers add some, too, so they are read each time. */
export const createFinishedRuns = (read: AccountStore['read'], most = maxCharacters, isShared = false) => {
  const byProject = new Map<number, Kept[]>()

  const entry = ({ id, task_id, expiration_time, characters }: Ended): Kept => ({
    id,
    task_id,
    characters: characters ?? 0,
    expires: expiration_time?.getTime() ?? Number.POSITIVE_INFINITY,
  })
  /** The oldest first. Runs of an earlier process are read once. */
  const keptOf = async (projectId: number): Promise<Kept[]> => {
    const known = byProject.get(projectId)
    if (known && !isShared) return known
    const found = await read.query_runs.find({ project_id: projectId, is_complete: true })
    const kept = found.map(entry).sort((a, b) => a.expires - b.expires)
    byProject.set(projectId, kept)
    return kept
  }

  return {
    /** Runs that were removed by their age. */
    forget(runs: readonly Ended[]): void {
      for (const { project_id, task_id } of runs) {
        const known = byProject.get(project_id)
        if (known)
          byProject.set(
            project_id,
            known.filter((one) => one.task_id !== task_id),
          )
      }
    },

    /** Adds one, in the transaction that writes its end, and removes expired ones and the oldest ones beyond the limit. Returns what was removed. */
    async add(tables: AccountTables, run: Ended, now: Date): Promise<readonly RunKey[]> {
      const kept = [...(await keptOf(run.project_id)).filter(({ id }) => id !== run.id), entry(run)]
      let left = kept.reduce((sum, one) => sum + one.characters, 0)
      const isOver = (one: Kept) => {
        const goes = one.task_id !== run.task_id && (one.expires <= now.getTime() || left > most)
        if (goes) left -= one.characters
        return goes
      }
      const gone = kept.filter(isOver)
      for (const { id, task_id } of gone) await tables.query_runs.remove({ project_id: run.project_id, id, task_id })
      byProject.set(
        run.project_id,
        kept.filter((one) => !gone.includes(one)),
      )
      return gone.map(({ task_id }) => ({ project_id: run.project_id, task_id }))
    },
  }
}
