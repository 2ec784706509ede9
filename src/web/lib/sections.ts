// The parts of pages, for the pages themselves and for the commands. What they show is loaded with their page.

export interface Section {
  readonly name: string
  readonly title: string
}

export const dataSections = [
  { name: 'events', title: 'Events' },
  { name: 'properties', title: 'Properties' },
  { name: 'actions', title: 'Actions' },
  { name: 'warnings', title: 'Warnings' },
  { name: 'annotations', title: 'Annotations' },
] as const satisfies readonly Section[]

export const pipelineSections = [
  { name: 'plugins', title: 'Plugins' },
  { name: 'exports', title: 'Batch exports' },
] as const satisfies readonly Section[]

export const alertSections = [
  { name: 'all', title: 'Alerts' },
  { name: 'subscriptions', title: 'Subscriptions' },
] as const satisfies readonly Section[]

export const settingsGroups = [
  {
    title: 'Project',
    sections: [
      { name: 'project', title: 'General' },
      { name: 'access', title: 'Access' },
      { name: 'filters', title: 'Filters' },
      { name: 'install', title: 'Web page' },
      { name: 'viewers', title: 'Viewer keys' },
      { name: 'capture', title: 'Capture' },
      { name: 'watching', title: 'Watching' },
      { name: 'slow', title: 'Slow queries' },
    ],
  },
  {
    title: 'Organization',
    sections: [
      { name: 'organization', title: 'Name' },
      { name: 'members', title: 'Members' },
      { name: 'invites', title: 'Invitations' },
      { name: 'roles', title: 'Roles' },
      { name: 'domains', title: 'Domains' },
      { name: 'proxies', title: 'Proxies' },
      { name: 'activity', title: 'Activity log' },
      { name: 'backups', title: 'Backups' },
    ],
  },
  {
    title: 'You',
    sections: [
      { name: 'account', title: 'Account' },
      { name: 'keys', title: 'API keys' },
    ],
  },
] as const satisfies readonly { readonly title: string; readonly sections: readonly Section[] }[]

/** Each with the title of its group. */
export const settingsSections: readonly Section[] = settingsGroups.flatMap(({ title: group, sections }) =>
  sections.map(({ name, title }) => ({ name, title: `${group}, ${title}` })),
)
