import { WaymarkError } from '../../errors/errors.ts'
import type { CopiedProject, Copy, Digest } from './repository/pieces.ts'

// A copy is verified by restoring it in a temporary folder, up to the record at which the original was asked what it says, and asking the restored one the same.

/** A restored directory, as a verification uses it. */
export interface RestoredDirectory {
  /** All projects that its accounts name. */
  projects(): Promise<readonly number[]>
  /** With everything in its log applied. */
  digest(project: number): Promise<Digest>
  close(): Promise<void>
}

export interface Verified {
  readonly copy: number
  /** Projects that were compared. */
  readonly projects: number
  readonly events: number
  readonly persons: number
  /** Tables and questions with equal answers. */
  readonly compared: number
}

/** Where the log of each project must end for a comparison. */
export const endsOf = ({ projects }: Copy): ReadonlyMap<number, number> =>
  new Map(projects.flatMap(({ id, digest }) => (digest ? [[id, digest.seq]] : [])))

/** A record that was applied in part when the original was asked: the comparison says nothing. */
export class NotComparable extends Error {}

export async function compareCopy(copy: Copy, restored: RestoredDirectory, isHalfRead: (project: number) => boolean): Promise<Verified> {
  const known = new Set(await restored.projects())
  let [projects, events, persons, compared] = [0, 0, 0, 0]
  for (const project of copy.projects) {
    if (!known.has(project.id)) throw failed(copy, project, 'its record is not among the accounts')
    if (!project.digest) continue
    const found = await restored.digest(project.id)
    if (isHalfRead(project.id)) throw new NotComparable()
    if (found.seq !== project.digest.seq)
      throw failed(copy, project, `it has the records up to ${found.seq}, the original had those up to ${project.digest.seq}`)
    const rows = new Map(found.rows.map((row) => [row.name, row]))
    for (const { name, count, hash } of project.digest.rows) {
      const row = rows.get(name)
      if (row?.count !== count) throw failed(copy, project, `${name}: ${row?.count ?? 'no'} rows, the original had ${count}`)
      if (row.hash !== hash) throw failed(copy, project, `${name}: ${count} rows, of which some differ from the original`)
      compared++
    }
    projects++
    events += rows.get('events')?.count ?? 0
    persons += rows.get('persons')?.count ?? 0
  }
  return { copy: copy.number, projects, events, persons, compared }
}

const failed = ({ number }: Copy, { id, name }: CopiedProject, what: string) =>
  new WaymarkError('command-failed', { message: `Copy ${number} does not restore project ${id} (${name}) as it was: ${what}.` })
