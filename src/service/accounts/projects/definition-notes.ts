import { runInSlices } from '../../../lib/flow/run-in-slices.ts'
import type { AccountContext } from '../context.ts'
import type { User } from '../records.ts'
import type { Json } from '../store.ts'

// What users write about the events, properties and group types of a project. Counts and types from the events themselves are stored with the events.

export interface Note {
  readonly description: string
  readonly fields: Readonly<Record<string, Json>>
  readonly updated_at: Date | null
  readonly updated_by_id: number | null
}
export const noNote: Note = { description: '', fields: {}, updated_at: null, updated_by_id: null }

interface Stored extends Omit<Note, 'fields'> {
  readonly id: string
  readonly fields: string | null
}
const readFields = (text: string | null | undefined) => JSON.parse(text || '{}') as Note['fields']

/** A project can have thousands of notes: other requests have their turn while they are read. */
const sliceMs = 10
function* notesOf(rows: readonly Stored[]): Generator<void, ReadonlyMap<string, Note>> {
  const notes = new Map<string, Note>()
  for (const { id, fields, ...rest } of rows) {
    notes.set(id, { ...rest, fields: readFields(fields) })
    yield
  }
  return notes
}

export const createDefinitionNotes = ({ store, clock }: AccountContext) => ({
  /** By the id of what they describe. */
  async of(projectId: number): Promise<ReadonlyMap<string, Note>> {
    const rows = await store.read.definition_notes.find({ project_id: projectId })
    return runInSlices(notesOf(rows), sliceMs)
  },

  /** Changes what is given. Fields that are null are removed. */
  write: (projectId: number, id: string, given: Partial<Pick<Note, 'description' | 'fields'>>, by: User): Promise<void> =>
    store.write(async (tables) => {
      const before = await tables.definition_notes.first({ project_id: projectId, id })
      const description = given.description ?? before?.description ?? ''
      const fields = Object.fromEntries(
        Object.entries({ ...readFields(before?.fields), ...given.fields }).filter(([, value]) => value !== null),
      )
      await tables.definition_notes.remove({ project_id: projectId, id })
      if (description === '' && Object.keys(fields).length === 0) return
      await tables.definition_notes.insert({
        id,
        project_id: projectId,
        description,
        fields: JSON.stringify(fields),
        updated_at: clock(),
        updated_by_id: by.id,
      })
    }),
})
