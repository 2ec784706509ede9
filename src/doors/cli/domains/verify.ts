import { type Command, wrongUsage } from '../command.ts'
import { directoryOptions, withDirectory } from '../directory.ts'

export const verifyDomain: Command = {
  takes: '[DOMAIN]',
  options: {
    ...directoryOptions,
    domain: { value: 'DOMAIN', summary: 'the domain, such as example.com' },
    organization: {
      value: 'ID',
      summary: 'the organization that owns it; default: the one that added it. Another one that added it without a proof loses it',
    },
    json: { summary: 'print one line of JSON' },
  },
  run: async (values, { out }) => {
    const [first, ...others] = values.rest
    const option = values.text('domain')
    if (others.length > 0 || (first !== undefined && option !== undefined && first !== option))
      throw wrongUsage('`waymark domains verify` takes one domain.')
    const domain = first ?? option ?? values.required('domain')
    const input = { domain, organization: values.text('organization') ?? null }
    const facts = await withDirectory(values, (directory) => directory.do('verify-domain', input))
    if (values.isOn('json')) return out(JSON.stringify(facts))
    out(`The domain ${facts.domain} belongs to the organization ${facts.organization_id}.`)
  },
}
