import type { Command } from '../command.ts'
import { directoryOptions, withDirectory } from '../directory.ts'

export const resetSecondFactor: Command = {
  options: {
    ...directoryOptions,
    email: { value: 'E', summary: 'the address of the user' },
    json: { summary: 'print one line of JSON' },
  },
  run: async (values, { out }) => {
    const facts = await withDirectory(values, (directory) => directory.do('reset-second-factor', { email: values.required('email') }))
    if (values.isOn('json')) return out(JSON.stringify(facts))
    out(`Reset            the second factor of ${facts.email} (${facts.user_id}), whose sessions have ended`)
  },
}
