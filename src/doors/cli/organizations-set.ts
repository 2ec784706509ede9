import { pluginAccess } from '../../service/plugins/access.ts'
import { type Command, wrongUsage } from './command.ts'
import { directoryOptions, withDirectory } from './directory.ts'

const levels = Object.entries(pluginAccess)
const shown = levels.map(([name, level]) => `${level} (${name})`).join(', ')

/** A number, or its name. */
const levelOf = (text: string): number => {
  const found = levels.find(([name, level]) => text === name || text === String(level))
  if (!found) throw wrongUsage(`--plugins-level must be one of ${shown}, but got ${text}.`)
  return found[1]
}

export const setOrganization: Command = {
  options: {
    ...directoryOptions,
    organization: { value: 'ID', summary: 'the organization; optional if there is only one' },
    'plugins-level': { value: 'N', summary: shown },
    json: { summary: 'print one line of JSON' },
  },
  run: async (values, { out }) => {
    const plugins_level = levelOf(values.required('plugins-level'))
    const input = { organization: values.text('organization') ?? null, plugins_level }
    const facts = await withDirectory(values, (directory) => directory.do('set-organization', input))
    if (values.isOn('json')) return out(JSON.stringify(facts))
    out(`The organization ${facts.name} (${facts.organization_id}) has plugin level ${facts.plugins_level}.`)
  },
}
