import type { HistoryAsked, PersonVersion } from '../../../language/catalog/person-history.ts'
import { importKeyOf, readRanges } from '../../../language/catalog/removals.ts'
import type { ProjectStore } from './project-store.ts'
import { literal } from './sql.ts'

export async function countImportedEvents({ rows, project }: ProjectStore, id: string): Promise<number> {
  const stored = await rows<[string]>(
    `SELECT value FROM meta WHERE project_id = ${project} AND startsWith(key, ${literal(importKeyOf(id))})`,
  )
  const ranges = stored.flatMap(([value]) => readRanges(value))
  if (ranges.length === 0) return 0
  const isWithin = ranges.map(([first, last]) => `log_seq BETWEEN ${first} AND ${last}`).join(' OR ')
  const [[count] = [0]] = await rows<[number]>(`SELECT count() FROM events WHERE project_id = ${project} AND (${isWithin})`)
  return Number(count)
}

/** A step that is repeated after a lost connection may have written a row twice. */
export async function countRemovedEvents({ rows, project }: ProjectStore): Promise<number> {
  const [[count] = [0]] = await rows<[number]>(`SELECT uniqExact(log_seq) FROM removed_events WHERE project_id = ${project}`)
  return Number(count)
}

/** Versions of all numbers that were merged into the person, too. */
export async function readHistory({ rows, project }: ProjectStore, { person, after, limit }: HistoryAsked): Promise<PersonVersion[]> {
  const own = `SELECT person_no FROM persons WHERE project_id = ${project} AND uuid = toUUID(${literal(person)})`
  const merged = `SELECT merged FROM person_merges WHERE project_id = ${project} AND survivor IN (${own})`
  const later = after ? `AND (log_seq, person_no) > (${after.seq}, ${after.personNo})` : ''
  const page = await rows<[number, number, string]>(
    `SELECT log_seq, person_no, properties FROM person_versions
     WHERE project_id = ${project} AND (person_no IN (${own}) OR person_no IN (${merged})) ${later}
     ORDER BY log_seq, person_no LIMIT ${limit}`,
  )
  if (page.length === 0) return []
  const times = await rows<[number, number]>(
    `SELECT log_seq, toUnixTimestamp64Micro(created_at) FROM events
     WHERE project_id = ${project} AND log_seq IN (${page.map(([seq]) => seq).join(', ')})`,
  )
  const timeOf = new Map(times.map(([seq, micros]) => [Number(seq), Number(micros)]))
  return page.map(([seq, personNo, properties]) => {
    const micros = timeOf.get(Number(seq))
    return { seq: Number(seq), personNo, changedAt: micros === undefined ? null : new Date(micros / 1000), properties }
  })
}
