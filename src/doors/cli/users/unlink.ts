import type { Command } from '../command.ts'
import { directoryOptions, withDirectory } from '../directory.ts'

export const unlinkUser: Command = {
  options: {
    ...directoryOptions,
    email: { value: 'E', summary: 'the address of the user' },
    json: { summary: 'print one line of JSON' },
  },
  run: async (values, { out }) => {
    const facts = await withDirectory(values, (directory) => directory.do('unlink-identities', { email: values.required('email') }))
    if (values.isOn('json')) return out(JSON.stringify(facts))
    out(
      `Unlinked         ${facts.identities} identities of ${facts.email} (${facts.user_id}). The next login through a provider links one again`,
    )
  },
}
