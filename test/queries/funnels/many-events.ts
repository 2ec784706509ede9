import { projectDatabase } from '../../../src/engine/storage/duckdb/instance.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'
import { fillStore, type StoreContent } from '../../harness/store.ts'

/** Microseconds of the first event. */
export const firstAt = Date.parse('2024-01-02T00:00:00Z') * 1000

/** A project with `count` generated events: `columns` computes each from its number `i`. `a` is event 1, `b` is 2. */
export async function openManyEvents(
  count: number,
  columns: Readonly<Record<'uuid' | 'event_id' | 'timestamp' | 'person_no' | 'properties', string> & Record<string, string>>,
  content: StoreContent = {},
): Promise<TestProject> {
  const project = await openTestProject({ now: new Date('2024-06-01T00:00:00Z') })
  const events = ['a', 'b'].map((event, i) => ({ event, person: 1, at: firstAt + i }))
  await fillStore(project, { ...content, events, isFresh: true })
  const row = {
    ...columns,
    distinct_id: "'d'",
    session_id: "''",
    created_at: `make_timestamp(${firstAt})`,
    log_seq: 'i + 3',
    person_mode: '0',
  }
  await project.instance.run(
    `INSERT INTO "${projectDatabase(project.settings.id)}".main.events (${Object.keys(row).join(', ')})
     SELECT ${Object.values(row).join(', ')} FROM range(${count}) t(i)`,
  )
  return project
}
