import type { Removal, RemovalCounts } from '../../language/catalog/removals.ts'
import { Texts } from '../../lib/text/texts.ts'
import { readGroups, readPersons, readPropertyTypes } from './decoding/imports.ts'
import type { LogRecords } from './ports.ts'
import type { Content, GroupChange, GroupImport, PersonChange, RecordWrite } from './work.ts'

/** Rows that are not events, as records of the log. */
export const recordsOf = (kind: LogRecords['kind'], rows: readonly object[], intake: { newUuid(): string; now(): number }): LogRecords => {
  const payloads = Texts.of(rows.map((row) => JSON.stringify(row)))
  const uuids = rows.map(() => intake.newUuid())
  return { kind, receivedAt: intake.now(), sentAt: null, historical: false, ip: null, uuids, payloads }
}

/** Persons, groups, types and definitions as users change them: records of the log. */
export abstract class Changes {
  /** Resolves when the records are applied, with what became of each. */
  protected abstract write(kind: LogRecords['kind'], content: Content, rows: readonly object[]): Promise<readonly string[]>
  protected abstract now(): number
  protected abstract groupType(index: number): Promise<string | undefined>

  /** Creates persons with their distinct ids. Returns their uuids, in order, once they are stored. */
  async importPersons(rows: unknown): Promise<{ ids: readonly string[] }> {
    const persons = readPersons(rows, this.now() * 1000)
    return { ids: await this.write('persons', { kind: 'persons', persons }, persons) }
  }

  async importGroups(rows: unknown, options: { group_types?: unknown } = {}): Promise<void> {
    const groups = readGroups(rows, options.group_types, this.now() * 1000)
    await this.write('groups', { kind: 'groups', groups }, groups)
  }

  async definePropertyTypes(rows: unknown): Promise<void> {
    const types = readPropertyTypes(rows)
    await this.write('property_types', { kind: 'property_types', types }, types)
  }

  /** Definitions of actions and cohorts, and members of static cohorts. */
  async writeRecords(records: readonly RecordWrite[]): Promise<void> {
    await this.write('records', { kind: 'records', records }, records)
  }

  /** Changes persons by their uuids. Returns for each change whether its person exists, once it is stored. */
  async changePersons(changes: readonly PersonChange[]): Promise<readonly boolean[]> {
    const found = await this.write('person_changes', { kind: 'person_changes', changes }, changes)
    return found.map((uuid) => uuid !== '')
  }

  /** Returns for each person how many distinct ids it had, once it is deleted; null if there is no such person. */
  async deletePersons(persons: readonly string[], withEvents: boolean): Promise<readonly (number | null)[]> {
    const changes = persons.map((person) => ({ change: 'delete' as const, person, withEvents }))
    const found = await this.write('person_changes', { kind: 'person_changes', changes }, changes)
    return found.map((ids) => (ids === '' ? null : Number(ids)))
  }

  /** Returns what was changed or removed, once it is. */
  async remove(removal: Removal): Promise<RemovalCounts> {
    const [counts] = await this.write('removals', { kind: 'removals', removals: [removal] }, [removal])
    return JSON.parse(counts!) as RemovalCounts
  }

  async changeGroup({ group_type_index, group_key, set, unset }: GroupChange): Promise<void> {
    const type = await this.groupType(group_type_index)
    if (type === undefined) return
    const created_at = this.now() * 1000
    const groups: GroupImport[] = [{ group_type: type, group_type_index, group_key, properties: set, unset, created_at }]
    await this.write('groups', { kind: 'groups', groups }, groups)
  }
}
