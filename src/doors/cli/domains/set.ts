import { type Command, wrongUsage } from '../command.ts'
import { directoryOptions, withDirectory } from '../directory.ts'

export const setDomain: Command = {
  takes: '[DOMAIN]',
  options: {
    ...directoryOptions,
    domain: { value: 'DOMAIN', summary: 'the domain, such as example.com' },
    'sso-enforcement': {
      value: 'HOW',
      summary: 'how users with addresses of the domain sign in: none (any way), google-oauth2, github, gitlab, saml or oidc',
    },
    json: { summary: 'print one line of JSON' },
  },
  run: async (values, { out }) => {
    const [first, ...others] = values.rest
    const option = values.text('domain')
    if (others.length > 0 || (first !== undefined && option !== undefined && first !== option))
      throw wrongUsage('`waymark domains set` takes one domain.')
    const domain = first ?? option ?? values.required('domain')
    const how = values.required('sso-enforcement')
    const facts = await withDirectory(values, (directory) =>
      directory.do('set-domain', { domain, sso_enforcement: how === 'none' ? '' : how }),
    )
    if (values.isOn('json')) return out(JSON.stringify(facts))
    const ways = facts.sso_enforcement === '' ? 'in any way' : `with ${facts.sso_enforcement} only`
    out(`Users with addresses of ${facts.domain} sign in ${ways}.`)
  },
}
