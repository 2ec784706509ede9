import type { PropertyTypeInput } from '../../events/ingestion/decoding/inputs.ts'
import { type Command, wrongUsage } from './command.ts'
import { directoryOptions, projectId, projectOption, withDirectory } from './directory.ts'
import { tableText } from './table-text.ts'

const types = ['Numeric', 'String', 'Boolean', 'DateTime']

export const listProperties: Command = {
  options: { ...directoryOptions, project: projectOption, json: { summary: 'print one line of JSON' } },
  run: async (values, { out }) => {
    const project = projectId(values)
    const rows = await withDirectory(values, (directory) => directory.do('list-properties', { project }))
    if (values.isOn('json')) return out(JSON.stringify(rows))
    const columns = ['of', 'name', 'declared', 'numeric', 'numeric text', 'text', 'boolean', 'time', 'other']
    out(
      tableText(
        columns,
        rows.map(({ scope, name, property_type, counts }) => [
          scope,
          name,
          property_type ?? '',
          counts.numeric,
          counts.numeric_text,
          counts.text,
          counts.boolean,
          counts.time,
          counts.other,
        ]),
      ),
    )
  },
}

export const defineProperty: Command = {
  takes: 'NAME',
  options: {
    ...directoryOptions,
    project: projectOption,
    of: { value: 'SCOPE', summary: 'event, person, or group_0 to group_4', default: 'event' },
    type: { value: 'TYPE', summary: types.join(', ') },
  },
  run: async (values, { out }) => {
    const project = projectId(values)
    const [name, ...others] = values.rest
    if (name === undefined || others.length > 0) throw wrongUsage('properties define expects the name of one property.')
    const [of, property_type] = [values.required('of'), values.required('type')]
    const group = /^group_([0-4])$/.exec(of)
    if (!group && of !== 'event' && of !== 'person') throw wrongUsage(`--of must be event, person, or group_0 to group_4, but got ${of}.`)
    if (!types.includes(property_type)) throw wrongUsage(`--type must be one of ${types.join(', ')}, but got ${property_type}.`)
    const row = { name, property_type, ...(group ? { type: 'group', group_type_index: Number(group[1]) } : { type: of }) }
    await withDirectory(values, (directory) => directory.do('define-property', { project, row: row as PropertyTypeInput }))
    out(`${of} property ${name} is read as ${property_type}.`)
  },
}
