import type { ListedCommand } from './command.ts'

/** The commands, in the order of the help. */
export const commands: readonly ListedCommand[] = [
  {
    name: 'serve',
    summary: 'Serves the HTTP API.',
    load: async () => (await import('./serve.ts')).serve,
  },
  {
    name: 'init',
    summary: 'Creates the first organization, owner, project and keys.',
    load: async () => (await import('./init.ts')).init,
  },
  {
    name: 'import',
    summary: 'Imports past events from files: exports, JSON lines, CSV, Parquet, access logs; plain, gzip or zstd.',
    load: async () => (await import('./import.ts')).importFiles,
  },
  {
    name: 'definitions import',
    summary: 'Copies insights, dashboards, cohorts, actions, flags and annotations from a project of PostHog or of another server.',
    load: async () => (await import('./definitions/import.ts')).importDefinitions,
  },
  {
    name: 'query',
    summary: 'Runs one query, given as SQL or as JSON of any query kind.',
    load: async () => (await import('./query.ts')).query,
  },
  {
    name: 'mcp',
    summary: 'Offers tools for agents over standard input and output (Model Context Protocol).',
    load: async () => (await import('./mcp.ts')).mcp,
  },
  {
    name: 'backup',
    summary: 'Takes a copy of the data directory while it is used: to a folder, a tar file, or S3.',
    load: async () => (await import('./backup.ts')).backup,
  },
  {
    name: 'restore',
    summary: 'Makes a data directory of a copy: the newest one, another one, or as it was at a moment.',
    load: async () => (await import('./restore.ts')).restoreDirectory,
  },
  {
    name: 'compact',
    summary: 'Gives the disk space of deleted events and persons back to the file system, while the directory is used.',
    load: async () => (await import('./compact.ts')).compact,
  },
  {
    name: 'move',
    summary: 'Moves a data directory into the PostgreSQL and ClickHouse of several servers, or back.',
    load: async () => (await import('./move/move.ts')).move,
  },
  {
    name: 'top',
    summary: 'Shows what a running server does: rates, lag, queries by project and kind, memory, disk, jobs.',
    load: async () => (await import('./top.ts')).top,
  },
  {
    name: 'projects list',
    summary: 'Lists the projects and their project API keys.',
    load: async () => (await import('./list.ts')).listProjects,
  },
  {
    name: 'projects limit',
    summary: 'Sets the daily limit of events that a project accepts from clients.',
    load: async () => (await import('./projects-limit.ts')).limitProject,
  },
  {
    name: 'users list',
    summary: 'Lists the users, their organizations and levels.',
    load: async () => (await import('./list.ts')).listUsers,
  },
  {
    name: 'users create',
    summary: 'Creates a user in an organization, and a personal API key for the user.',
    load: async () => (await import('./users/create.ts')).createUser,
  },
  {
    name: 'users link',
    summary: 'Prints a link to set a password. It works once, within 24 hours, and replaces earlier links of the user.',
    load: async () => (await import('./users/link.ts')).linkUser,
  },
  {
    name: 'organizations list',
    summary: 'Lists the organizations and their plugin levels.',
    load: async () => (await import('./list.ts')).listOrganizations,
  },
  {
    name: 'organizations set',
    summary: 'Sets the plugin level of an organization. New ones have 3 with `serve --hosted`, else 9.',
    load: async () => (await import('./organizations-set.ts')).setOrganization,
  },
  {
    name: 'domains list',
    summary: 'Lists the domains of organizations, and whether they are proven.',
    load: async () => (await import('./list.ts')).listDomains,
  },
  {
    name: 'domains verify',
    summary: 'Confirms that a domain belongs to an organization, like its TXT record. Only a proven domain gives rights.',
    load: async () => (await import('./domains/verify.ts')).verifyDomain,
  },
  {
    name: 'domains set',
    summary: 'Sets how users with addresses of a domain sign in. With none, somebody who is locked out comes in with a password.',
    load: async () => (await import('./domains/set.ts')).setDomain,
  },
  {
    name: 'users confirm',
    summary: 'Confirms the address of a user: the current one, or a new one that the user asked for. A mailed link does the same.',
    load: async () => (await import('./users/confirm.ts')).confirmUser,
  },
  {
    name: 'users reset-2fa',
    summary: 'Removes the second factor of a user who has lost it, and ends the sessions of the user.',
    load: async () => (await import('./users/reset-2fa.ts')).resetSecondFactor,
  },
  {
    name: 'users deactivate',
    summary: 'Lets a user in no longer: sessions and API keys end at once. What the user has made stays.',
    load: async () => (await import('./users/activation.ts')).deactivateUser,
  },
  {
    name: 'users activate',
    summary: 'Lets a deactivated user sign in again. Earlier API keys stay deleted.',
    load: async () => (await import('./users/activation.ts')).activateUser,
  },
  {
    name: 'users unlink',
    summary: 'Forgets which identities of providers mean a user: another one with the same address can sign in then.',
    load: async () => (await import('./users/unlink.ts')).unlinkUser,
  },
  {
    name: 'keys list',
    summary: 'Lists the personal API keys: user, label, scopes and last use, without the secrets.',
    load: async () => (await import('./list.ts')).listKeys,
  },
  {
    name: 'keys create',
    summary: 'Creates a personal API key for a user. The key is shown once.',
    load: async () => (await import('./keys-create.ts')).createKey,
  },
  {
    name: 'persons export',
    summary: 'Writes everything that is stored about a person, given by a uuid or a distinct id, as lines of JSON.',
    load: async () => (await import('./persons-export.ts')).exportPerson,
  },
  {
    name: 'properties list',
    summary: 'Lists the properties of a project: declared type, and the number of values received of each type.',
    load: async () => (await import('./properties.ts')).listProperties,
  },
  {
    name: 'properties define',
    summary: 'Declares the type of a property. Queries read it as this type.',
    load: async () => (await import('./properties.ts')).defineProperty,
  },
  {
    name: 'imports approve',
    summary: 'Approves the import of past events into a project beyond the usual limits.',
    load: async () => (await import('./imports-approve.ts')).approveImports,
  },
  {
    name: 'doctor',
    summary: 'Checks a data directory, its logs and its stores. Reports problems and what opening would do. Read-only.',
    load: async () => (await import('./doctor/doctor.ts')).doctor,
  },
  {
    name: 'trim',
    summary: 'Cuts rows of account data that are larger than docs/limits.md allows. The server must be stopped.',
    load: async () => (await import('./trim.ts')).trim,
  },
]
