import { isObject } from '../../../lib/is-object.ts'
import { type ProjectApi, RecordRefused, type Row } from './api.ts'

// What people wrote about events and properties: they exist on the other side once their events do.

const notedFields = ['description', 'tags', 'verified', 'hidden'] as const

const notesOf = (row: Row): object | null => {
  const notes = Object.fromEntries(notedFields.filter((name) => isNote(row[name])).map((name) => [name, row[name]]))
  return Object.keys(notes).length > 0 ? notes : null
}
const isNote = (value: unknown): boolean =>
  value === true || (typeof value === 'string' && value !== '') || (Array.isArray(value) && value.length > 0)

export interface MovedNotes {
  readonly made: number
  /** Names that the other project has not seen. */
  readonly unseen: readonly string[]
}

export async function moveNotes(source: ProjectApi, target: ProjectApi | null): Promise<MovedNotes> {
  let made = 0
  const unseen: string[] = []
  for (const path of ['event_definitions/', 'property_definitions/?type=event', 'property_definitions/?type=person']) {
    const [list, query] = path.split('?') as [string, string | undefined]
    for await (const row of source.rows(path)) {
      const notes = notesOf(row)
      if (!notes || typeof row.name !== 'string') continue
      const known = target === null ? row : await find(target, list, query, row.name)
      if (!known) {
        unseen.push(row.name)
        continue
      }
      if (target) await target.change(`${list}${encodeURIComponent(String(known.id))}/`, notes)
      made++
    }
  }
  return { made, unseen }
}

async function find(target: ProjectApi, list: string, query: string | undefined, name: string): Promise<Row | null> {
  try {
    const { results } = await target.get(`${list}?${query ? `${query}&` : ''}search=${encodeURIComponent(name)}&limit=100`)
    const rows: readonly unknown[] = Array.isArray(results) ? results : []
    return rows.find((row): row is Row => isObject(row) && row.name === name) ?? null
  } catch (error) {
    if (error instanceof RecordRefused) return null
    throw error
  }
}
