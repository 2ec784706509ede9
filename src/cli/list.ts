import type { DirectoryCommandName } from '../http/directory-commands.ts'
import type { Command } from './command.ts'
import { directoryOptions, withDirectory } from './directory.ts'
import { tableText } from './table-text.ts'

type ListName = Extract<DirectoryCommandName, `list-${string}`>

/** Prints a list of records as a table or as JSON. */
const listing = (things: 'projects' | 'users' | 'keys' | 'organizations' | 'domains', summary: string, name: ListName): Command => ({
  name: `${things} list`,
  summary,
  options: { ...directoryOptions, json: { summary: 'print one line of JSON' } },
  run: async (values, { out }) => {
    const rows = (await withDirectory(values, (directory) => directory.do(name, {}))) as readonly Readonly<Record<string, unknown>>[]
    if (values.isOn('json')) return out(JSON.stringify(rows))
    if (rows.length === 0) return out(`There are no ${things}.`)
    const columns = Object.keys(rows[0]!)
    out(
      tableText(
        columns,
        rows.map((row) => columns.map((column) => row[column])),
      ),
    )
  },
})

export const listProjects = listing('projects', 'Lists the projects and their project API keys.', 'list-projects')
export const listUsers = listing('users', 'Lists the users, their organizations and levels.', 'list-users')
export const listOrganizations = listing(
  'organizations',
  'Lists the organizations and what they may do with plugins.',
  'list-organizations',
)
export const listDomains = listing('domains', 'Lists the domains of organizations, and whether they are proven.', 'list-domains')
export const listKeys = listing('keys', 'Lists the personal API keys: user, label, scopes and last use, without the secrets.', 'list-keys')
