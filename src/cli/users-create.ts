import { type LevelName, level } from '../accounts/records.ts'
import { type Command, wrongUsage } from './command.ts'
import { dataOption, withAccounts } from './directory.ts'

export const createUser: Command = {
  name: 'users create',
  summary: 'Makes a user in an organization, and a personal key for it.',
  options: {
    data: dataOption,
    organization: { value: 'ID', summary: 'the organization to belong to' },
    email: { value: 'E', summary: 'the address' },
    level: { value: 'LEVEL', summary: 'member, admin or owner', default: 'member' },
    json: { summary: 'print one line of JSON' },
  },
  run: async (values, { out }) => {
    const wanted = values.required('level')
    if (!Object.hasOwn(level, wanted)) throw wrongUsage(`--level is member, admin or owner, not ${wanted}.`)
    const [organization, email] = [values.required('organization'), values.required('email')]
    if (!/^[^\s@]+@[^\s@]+$/.test(email)) throw wrongUsage(`--email takes an address, not ${email}.`)
    const { user, value } = await withAccounts(values.required('data'), async (accounts) => {
      const made = await accounts.createUser(organization, { email }, wanted as LevelName)
      const key = await accounts.personalKeys.create(made, { label: 'First key', scopes: ['*'] })
      return { user: made, value: key.value }
    })
    const facts = { user_id: user.id, user_uuid: user.uuid, email: user.email, level: level[wanted as LevelName], personal_api_key: value }
    if (values.isOn('json')) return out(JSON.stringify(facts))
    out(`User             ${facts.email} (${facts.user_id})`)
    out(`Personal key     ${value}   (shown this once)`)
  },
}
