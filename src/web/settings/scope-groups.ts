// What a key may do, in groups of what belongs together. Objects that the API knows for clients of other products, and that have nothing here, are not offered.

export interface ScopeGroup {
  readonly title: string
  readonly objects: readonly (readonly [object: string, label: string])[]
}

export const scopeGroups: readonly ScopeGroup[] = [
  { title: 'Questions', objects: [['query', 'Queries and their answers']] },
  {
    title: 'Saved things',
    objects: [
      ['insight', 'Insights and saved filters'],
      ['dashboard', 'Dashboards'],
      ['annotation', 'Annotations'],
      ['warehouse_view', 'Views of SQL'],
      ['alert', 'Alerts'],
      ['subscription', 'Subscriptions'],
      ['sharing_configuration', 'Public links'],
    ],
  },
  {
    title: 'People',
    objects: [
      ['person', 'Persons'],
      ['group', 'Groups'],
      ['cohort', 'Cohorts'],
    ],
  },
  {
    title: 'Definitions',
    objects: [
      ['action', 'Actions'],
      ['event_definition', 'Events'],
      ['property_definition', 'Properties'],
    ],
  },
  {
    title: 'Data in and out',
    objects: [
      ['batch_export', 'Batch exports'],
      ['plugin', 'Plugins'],
    ],
  },
  { title: 'Settings', objects: [['project', 'The project, with imports and data retention']] },
  {
    title: 'Organization',
    objects: [
      ['organization', 'The organization'],
      ['organization_member', 'Members'],
      ['activity_log', 'Activity log'],
      ['user', 'Your account'],
    ],
  },
]

export const offeredObjects: readonly string[] = scopeGroups.flatMap(({ objects }) => objects.map(([object]) => object))

export type Access = '' | 'read' | 'write'
export type Chosen = Readonly<Record<string, Access>>

const all = (access: Access, objects: readonly string[] = offeredObjects): Chosen =>
  Object.fromEntries(objects.map((object) => [object, access]))
/** As for an application that a user consents to (`scopesOfConsent`). */
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
]
const agentSaves = ['insight', 'dashboard', 'annotation', 'cohort']

interface Preset {
  readonly name: string
  readonly about: string
  /** Null: all that the owner of the key may do, also what comes later. */
  readonly chosen: Chosen | null
}
export const presets: readonly Preset[] = [
  { name: 'Read only', about: 'Sees everything and changes nothing.', chosen: all('read') },
  {
    name: 'Send historical events',
    about: 'Approves imports of past events, and changes the settings of the project. The events themselves are sent with the project key.',
    chosen: { project: 'write' },
  },
  { name: 'Agents (MCP): read', about: 'Asks questions, and reads what is saved.', chosen: all('read', agentObjects) },
  {
    name: 'Agents: read and save',
    about: 'And saves insights, dashboards, annotations and cohorts.',
    chosen: { ...all('read', agentObjects), ...all('write', agentSaves) },
  },
  { name: 'Everything', about: 'All that you may do, also what comes later.', chosen: null },
]

/** Writing includes reading. */
export const scopesOf = (chosen: Chosen): readonly string[] =>
  offeredObjects.flatMap((object) => (chosen[object] ? [`${object}:${chosen[object]}`] : []))
