import { WaymarkError } from '../errors/errors.ts'
import type { Command } from './command.ts'
import { dataOption, withAccounts } from './directory.ts'

export const createKey: Command = {
  name: 'keys create',
  summary: 'Makes a personal key for a user; it is shown once.',
  options: {
    data: dataOption,
    user: { value: 'EMAIL', summary: 'whose key' },
    label: { value: 'L', summary: 'what it is for, up to 40 characters' },
    scopes: { value: 'a,b', summary: 'what it may do, such as query:read,project:write, or *' },
    json: { summary: 'print one line of JSON' },
  },
  run: async (values, { out }) => {
    const email = values.required('user')
    const input = {
      label: values.required('label'),
      scopes: values
        .required('scopes')
        .split(',')
        .map((one) => one.trim())
        .filter(Boolean),
    }
    const { key, value } = await withAccounts(values.required('data'), async (accounts) => {
      const user = await accounts.users.byEmail(email)
      if (!user) throw new WaymarkError('no-record', { message: `There is no user ${email}.` })
      return accounts.personalKeys.create(user, input)
    })
    const facts = { id: key.id, label: key.label, scopes: key.scopes, personal_api_key: value }
    out(values.isOn('json') ? JSON.stringify(facts) : `Personal key     ${value}   (shown this once)`)
  },
}
