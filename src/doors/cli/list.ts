import type { DirectoryCommandName } from '../http/commands/directory-commands.ts'
import type { Command } from './command.ts'
import { directoryOptions, withDirectory } from './directory.ts'
import { tableText } from './table-text.ts'

type ListName = Extract<DirectoryCommandName, `list-${string}`>

/** Prints a list of records as a table or as JSON. */
const listing = (things: 'projects' | 'users' | 'keys' | 'organizations' | 'domains', name: ListName): Command => ({
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

export const listProjects = listing('projects', 'list-projects')
export const listUsers = listing('users', 'list-users')
export const listOrganizations = listing('organizations', 'list-organizations')
export const listDomains = listing('domains', 'list-domains')
export const listKeys = listing('keys', 'list-keys')
