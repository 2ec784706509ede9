import type { Unproven } from '../../../service/accounts/users/proof.ts'
import { type Command, type Values, wrongUsage } from '../command.ts'
import { directoryOptions, withDirectory } from '../directory.ts'

const publicUrlOf = (values: Values): string | null => {
  const url = values.text('public-url') ?? null
  if (url !== null && !(URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)))
    throw wrongUsage(`--public-url must be a URL such as https://analytics.example.com, but got ${url}.`)
  return url
}

const emailOf = (values: Values): string => {
  const [email, user] = [values.text('email'), values.text('user')]
  if (email !== undefined && user !== undefined && email !== user)
    throw wrongUsage('--email and --user name the same user: give one of them.')
  return email ?? user ?? values.required('email')
}

/** Nobody has proven the address: what the link ends. */
const endsText = ({ sessions, keys, invitations, second_factors, organizations }: Unproven): string => {
  const counts = [
    `${sessions} sessions`,
    `${keys} API keys`,
    `${invitations} invitations`,
    ...(second_factors > 0 ? ['the second factor'] : []),
  ]
  const places = organizations.map(({ name, level }) => `${name} (${level})`)
  const memberships = places.length === 0 ? '' : `, and the memberships in ${places.join(', ')}`
  return `Ends             ${counts.join(', ')}${memberships}: the address was never proven. If the link is for the person who uses the account, add --keep-access.`
}

export const linkUser: Command = {
  options: {
    ...directoryOptions,
    email: { value: 'E', summary: 'the address of the user' },
    user: { value: 'EMAIL', summary: 'the same as --email' },
    'public-url': {
      value: 'URL',
      summary: 'public URL of the server, for the link; default: that of the running server, else http://127.0.0.1:8000',
    },
    'keep-access': { summary: 'the link is for the person who has used the account so far: a first proof of the address ends nothing' },
    json: { summary: 'print one line of JSON' },
  },
  run: async (values, { out }) => {
    const input = { email: emailOf(values), public_url: publicUrlOf(values), keeps_access: values.isOn('keep-access') }
    const facts = await withDirectory(values, (directory) => directory.do('create-password-link', input))
    if (values.isOn('json')) return out(JSON.stringify(facts))
    out(`User             ${facts.email} (${facts.user_id})`)
    out(`Choose a password ${facts.url}`)
    if (facts.ends) out(endsText(facts.ends))
    if (facts.sso_enforcement !== null) {
      const domain = facts.email.slice(facts.email.lastIndexOf('@') + 1)
      out(
        `Required         ${facts.sso_enforcement}: addresses of ${domain} sign in through it only, and the link is refused as long as they do.`,
      )
      out(`                 To let them in with a password: waymark domains set ${domain} --sso-enforcement none`)
    }
    out(`Valid until      ${facts.expires_at}, once. Send it to nobody else.`)
  },
}
