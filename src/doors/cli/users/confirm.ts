import type { Command } from '../command.ts'
import { directoryOptions, withDirectory } from '../directory.ts'

export const confirmUser: Command = {
  options: {
    ...directoryOptions,
    email: { value: 'E', summary: 'the address' },
    json: { summary: 'print one line of JSON' },
  },
  run: async (values, { out }) => {
    const facts = await withDirectory(values, (directory) => directory.do('confirm-address', { email: values.required('email') }))
    out(values.isOn('json') ? JSON.stringify(facts) : `Confirmed        ${facts.email} (${facts.user_id})`)
  },
}
