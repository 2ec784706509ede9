/** What an agent asks and reads: no members, no settings, no exports. */
const agentObjects = [
  'query',
  'insight',
  'dashboard',
  'annotation',
  'warehouse_view',
  'cohort',
  'action',
  'event_definition',
  'property_definition',
  'group',
  'project',
] as const
/** What it may also save. */
const agentSaves = ['insight', 'dashboard', 'annotation', 'cohort'] as const

/** What an application asks for that signs its user in here: `write` includes `read`. */
export const consentScopes = ['read', 'write'] as const
export type ConsentScope = (typeof consentScopes)[number]

export const scopesOfConsent = (asked: ConsentScope): readonly string[] =>
  agentObjects.map((object) => `${object}:${asked === 'write' && (agentSaves as readonly string[]).includes(object) ? 'write' : 'read'}`)
