import type { Section } from '../lib/sections.ts'

/** The documents for users, by the names of their files, and the reference of the API. */
export const docGroups: readonly { readonly title: string; readonly docs: readonly Section[] }[] = [
  {
    title: 'Begin',
    docs: [
      { name: 'quickstart', title: 'Quick start' },
      { name: 'first-questions', title: 'First questions' },
      { name: 'interface', title: 'The pages' },
      { name: 'glossary', title: 'Words' },
    ],
  },
  {
    title: 'Questions',
    docs: [
      { name: 'queries', title: 'Queries' },
      { name: 'trends', title: 'Trends' },
      { name: 'funnels', title: 'Funnels' },
      { name: 'correlation', title: 'Correlation' },
      { name: 'retention', title: 'Retention' },
      { name: 'paths', title: 'Paths' },
      { name: 'web', title: 'Web analytics' },
      { name: 'sql', title: 'SQL' },
      { name: 'functions', title: 'Functions of SQL' },
      { name: 'properties', title: 'Properties' },
      { name: 'currencies', title: 'Currencies' },
      { name: 'own-data', title: 'Own data' },
    ],
  },
  {
    title: 'Records',
    docs: [
      { name: 'saved', title: 'Insights, dashboards, views' },
      { name: 'cohorts', title: 'Cohorts' },
      { name: 'records', title: 'Persons, events, definitions' },
      { name: 'sharing', title: 'Links, alerts, subscriptions' },
    ],
  },
  {
    title: 'Data in and out',
    docs: [
      { name: 'events', title: 'Sending events' },
      { name: 'posthog-js', title: 'Web pages' },
      { name: 'cookieless', title: 'Without cookies' },
      { name: 'clients', title: 'Other clients' },
      { name: 'import', title: 'Import' },
      { name: 'coming-from', title: 'Coming from another system' },
      { name: 'ingestion', title: 'Rules of ingestion' },
      { name: 'plugins', title: 'Plugins' },
      { name: 'batch-exports', title: 'Batch exports' },
    ],
  },
  {
    title: 'Programs and servers',
    docs: [
      { name: 'api', title: 'API reference' },
      { name: 'http', title: 'HTTP API' },
      { name: 'embedding', title: 'The library' },
      { name: 'viewers', title: 'Charts in your application' },
      { name: 'flags', title: 'Feature flags' },
      { name: 'agents', title: 'Agents' },
      { name: 'postgres', title: 'BI tools' },
      { name: 'sign-in', title: 'Signing in' },
      { name: 'operations', title: 'Operating a server' },
      { name: 'security', title: 'Security' },
      { name: 'limits', title: 'Limits' },
      { name: 'errors', title: 'Errors' },
    ],
  },
]
export const docSections: readonly Section[] = docGroups.flatMap(({ docs }) => docs)
