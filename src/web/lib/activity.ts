import type { ActivityEntryAnswer } from '../../doors/answers/activity.ts'

// Entries of the activity log in words.

export type Change = NonNullable<ActivityEntryAnswer['detail']['changes']>[number]

const longestValue = 80
const short = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null)
  return text.length > longestValue ? `${text.slice(0, longestValue)}…` : text
}
const isEmpty = (value: unknown): boolean =>
  value == null || value === '' || (typeof value === 'object' && Object.keys(value as object).length === 0)
const orNone = (value: unknown): string => (isEmpty(value) ? 'none' : short(value))

/** The log has no values of secrets and of the code of plugins. */
export function changeText({ field, action, before, after }: Change): string {
  if (isEmpty(before) && isEmpty(after)) return `${field}: ${action}`
  return action === 'changed'
    ? `${field}: ${orNone(before)} → ${orNone(after)}`
    : `${field}: ${action} ${orNone(action === 'deleted' ? before : after)}`
}

/** Where pages use another word than the API. */
const pageWords: Readonly<Record<string, string>> = {
  AlertConfiguration: 'alert',
  DataWarehouseSavedQuery: 'view',
  HistoricalImport: 'import',
  OrganizationDomain: 'domain',
  OrganizationInvite: 'invitation',
  OrganizationMembership: 'member',
  PersonalAPIKey: 'personal API key',
  PluginConfig: 'plugin',
  Team: 'project',
}
/** What an entry is about. */
export const scopeWords = (scope: string): string => pageWords[scope] ?? wordsOf(scope)

/** `second_factor_enabled`, `OrganizationInvite`: names of the API as words. */
export const wordsOf = (name: string): string =>
  name
    .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .replaceAll('_', ' ')
    .toLowerCase()

/** Who it was; if no user did it, what did. */
export function actorOf({ user, detail: { trigger } }: ActivityEntryAnswer): string {
  if (user) return user.first_name || user.email
  const { job_type, domain } = (trigger ?? {}) as { readonly job_type?: unknown; readonly domain?: unknown }
  return job_type === 'scim' ? `Identity provider of ${String(domain)}` : 'The system'
}

/** What a change did to an insight or a dashboard. */
export function documentChangeText({ field, before, after }: Change): string {
  switch (field) {
    case 'name':
      return isEmpty(before)
        ? `named it “${short(after)}”`
        : isEmpty(after)
          ? `removed the name “${short(before)}”`
          : `renamed it from “${short(before)}” to “${short(after)}”`
    case 'description':
      return isEmpty(after) ? 'removed the description' : `wrote the description “${short(after)}”`
    case 'query':
      return 'changed the question'
    case 'favorited':
      return after === true ? 'made it a favorite' : 'made it no favorite'
    case 'pinned':
      return after === true ? 'pinned it' : 'unpinned it'
    case 'deleted':
      return after === true ? 'deleted it' : 'brought it back'
    case 'saved':
      return after === true ? 'listed it with the saved ones' : 'removed it from the saved ones'
    case 'tags':
      return isEmpty(after) ? 'removed all tags' : `tagged it ${(after as readonly unknown[]).map(String).join(', ')}`
    case 'dashboards':
      return isEmpty(after)
        ? 'removed it from all dashboards'
        : `put it on ${(after as readonly unknown[]).length === 1 ? 'a dashboard' : `${(after as readonly unknown[]).length} dashboards`}`
    case 'tiles':
      return 'changed the tiles'
    case 'filters':
      return isEmpty(after) ? 'removed the dates and filters' : 'changed the dates and filters'
    default:
      return `changed ${wordsOf(field)}`
  }
}
