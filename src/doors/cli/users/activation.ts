import type { Command } from '../command.ts'
import { directoryOptions, withDirectory } from '../directory.ts'

const options = {
  ...directoryOptions,
  email: { value: 'E', summary: 'the address of the user' },
  json: { summary: 'print one line of JSON' },
}

export const deactivateUser: Command = {
  options,
  run: async (values, { out }) => {
    const facts = await withDirectory(values, (directory) => directory.do('deactivate-user', { email: values.required('email') }))
    if (values.isOn('json')) return out(JSON.stringify(facts))
    out(`Deactivated      ${facts.email} (${facts.user_id}): ${facts.sessions} sessions and ${facts.keys} API keys have ended`)
  },
}

export const activateUser: Command = {
  options,
  run: async (values, { out }) => {
    const facts = await withDirectory(values, (directory) => directory.do('activate-user', { email: values.required('email') }))
    if (values.isOn('json')) return out(JSON.stringify(facts))
    out(`Activated        ${facts.email} (${facts.user_id}), who signs in again. Earlier API keys stay deleted`)
  },
}
