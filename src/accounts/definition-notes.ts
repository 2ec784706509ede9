import type { AccountContext } from './context.ts'
import type { User } from './records.ts'

// What users write about the events and properties of a project. Counts and types from the events themselves are stored with the events.

export const createDefinitionNotes = ({ store, clock }: AccountContext) => ({
  /** Descriptions by the id of what they describe. */
  async of(projectId: number): Promise<ReadonlyMap<string, string>> {
    return new Map((await store.read.definition_notes.find({ project_id: projectId })).map(({ id, description }) => [id, description]))
  },

  describe: (projectId: number, id: string, description: string, by: User): Promise<void> =>
    store.write(async (tables) => {
      await tables.definition_notes.remove({ project_id: projectId, id })
      if (description === '') return
      await tables.definition_notes.insert({ id, project_id: projectId, description, updated_at: clock(), updated_by_id: by.id })
    }),
})
