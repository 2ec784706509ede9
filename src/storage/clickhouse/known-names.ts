import type { KnownEvent, KnownProperty } from '../../catalog/known-names.ts'
import type { ProjectStore } from './project-store.ts'

const dateOf = (micros: number): Date => new Date(micros / 1000)
const seen = 'toUnixTimestamp64Micro(first_seen), toUnixTimestamp64Micro(last_seen)'

export async function readEvents({ rows, project }: ProjectStore): Promise<KnownEvent[]> {
  const found = await rows<[string, number, number, number]>(
    `SELECT name, count, ${seen} FROM event_names WHERE project_id = ${project} ORDER BY count DESC, name`,
  )
  return found.map(([name, count, first, last]) => ({ name, count, first_seen: dateOf(first), last_seen: dateOf(last) }))
}

type PropertyRow = [string, string, KnownProperty['property_type'], number, number, number, number, number, number, number, number]

export async function readProperties({ rows, project }: ProjectStore): Promise<KnownProperty[]> {
  const found = await rows<PropertyRow>(
    `SELECT scope, name, property_type, count_numeric, count_numeric_string, count_string, count_boolean, count_datetime, count_other, ${seen}
     FROM property_keys WHERE project_id = ${project}
     ORDER BY count_numeric + count_numeric_string + count_string + count_boolean + count_datetime + count_other DESC, scope, name`,
  )
  return found.map(([scope, name, property_type, numeric, numeric_text, text, boolean, time, other, first, last]) => ({
    scope,
    name,
    property_type,
    counts: { numeric, numeric_text, text, boolean, time, other },
    first_seen: dateOf(first),
    last_seen: dateOf(last),
  }))
}
