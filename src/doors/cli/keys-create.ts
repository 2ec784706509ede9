import type { Command } from './command.ts'
import { directoryOptions, withDirectory } from './directory.ts'

export const createKey: Command = {
  options: {
    ...directoryOptions,
    user: { value: 'EMAIL', summary: 'user of the key' },
    label: { value: 'L', summary: 'label of the key, up to 40 characters' },
    scopes: { value: 'a,b', summary: 'scopes of the key, such as query:read,project:write, or * for all' },
    json: { summary: 'print one line of JSON' },
  },
  run: async (values, { out }) => {
    const input = {
      user: values.required('user'),
      label: values.required('label'),
      scopes: values
        .required('scopes')
        .split(',')
        .map((one) => one.trim())
        .filter(Boolean),
    }
    const facts = await withDirectory(values, (directory) => directory.do('create-key', input))
    out(values.isOn('json') ? JSON.stringify(facts) : `Personal key     ${facts.personal_api_key}   (shown this once)`)
  },
}
