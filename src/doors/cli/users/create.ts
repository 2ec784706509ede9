import { type LevelName, level } from '../../../service/accounts/records.ts'
import { type Command, wrongUsage } from '../command.ts'
import { directoryOptions, withDirectory } from '../directory.ts'

export const createUser: Command = {
  options: {
    ...directoryOptions,
    organization: { value: 'ID', summary: 'the organization of the user' },
    email: { value: 'E', summary: 'the address' },
    level: { value: 'LEVEL', summary: 'viewer, member, admin or owner', default: 'member' },
    json: { summary: 'print one line of JSON' },
  },
  run: async (values, { out }) => {
    const wanted = values.required('level')
    if (!Object.hasOwn(level, wanted)) throw wrongUsage(`--level must be viewer, member, admin or owner, but got ${wanted}.`)
    const [organization, email] = [values.required('organization'), values.required('email')]
    if (!/^[^\s@]+@[^\s@]+$/.test(email)) throw wrongUsage(`--email must be an e-mail address, but got ${email}.`)
    const facts = await withDirectory(values, (directory) =>
      directory.do('create-user', { organization, email, level: wanted as LevelName }),
    )
    if (values.isOn('json')) return out(JSON.stringify(facts))
    out(`User             ${facts.email} (${facts.user_id})`)
    out(`Personal key     ${facts.personal_api_key}   (shown this once)`)
  },
}
