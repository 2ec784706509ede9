import type { BackendSettings } from '../../engine/backend/backend.ts'
import { retentionOf, settingsWithDefaults, viewsOf } from '../accounts/projects/project-fields.ts'
import type { ProjectRecord } from '../accounts/records.ts'

/** The settings of a project as its backend reads them. */
export function backendSettings(record: ProjectRecord): BackendSettings {
  const settings = settingsWithDefaults(record.settings)
  const list = <T>(name: string) => (settings[name] ?? []) as unknown as readonly T[]
  return {
    id: record.id,
    timezone: record.timezone,
    weekStartDay: record.week_start_day === 1 ? 1 : 0,
    baseCurrency: String(settings.base_currency),
    testAccountFilters: list<unknown>('test_account_filters'),
    personDisplayNameProperties: list<string>('person_display_name_properties'),
    pathCleaningFilters: list<{ regex: string; alias: string }>('path_cleaning_filters'),
    views: viewsOf(record.settings),
    anonymizeIps: settings.anonymize_ips === true,
    retention: retentionOf(record.settings),
    hadEvents: record.ingested_event,
  }
}
