import { check } from '../../../service/accounts/fields.ts'
import { isWrongLink, mailedLinkInput, passwordLinkInput } from '../../../service/accounts/users/password-links.ts'
import { passwordSetSchema } from '../../answers/login.ts'
import { failures } from '../errors.ts'
import { defineResource, Reply, type Visit } from '../resource.ts'

/** Counts wrong links like wrong passwords. */
const tried = async <T>({ app, site, params }: Visit, work: () => Promise<T>): Promise<T> => {
  const takeBack = await app.attempts.begin({ email: `link ${params.uuid}`, address: site.client, device: null })
  try {
    const result = await work()
    await takeBack()
    return result
  } catch (error) {
    if (!isWrongLink(error)) await takeBack()
    throw error
  }
}

export const passwordLinks = defineResource({
  name: 'password_links',
  summary: 'A new password, with a link that works once: mailed to a user who forgot the old one, or printed by `waymark users link`',
  path: '/api/reset',
  reach: 'open',
  object: null,
  rows: (row) => [
    row({
      method: 'POST',
      path: '',
      name: 'mail',
      summary:
        'Mails a link to this address, if it has an account; the answer is the same if not. 400 `email_not_available`: the server has no mail server',
      body: mailedLinkInput,
      status: 204,
      handle: async ({ app, site, body }) => {
        const { email } = check(mailedLinkInput, body)
        await app.accounts.passwordLinks.mail(email, () => app.mailedLinks.begin({ email, address: site.client, device: null }))
      },
    }),
    row({
      method: 'GET',
      path: ':uuid',
      name: 'look',
      summary: 'Whether a link is valid: 204, or 400 `invalid_token`',
      queryParameters: { token: 'The secret of the link' },
      status: 204,
      handle: async (visit) => {
        const token = visit.query.get('token')
        if (!token) throw failures.required('token')
        await tried(visit, () => visit.app.accounts.passwordLinks.look(visit.params.uuid!, token))
      },
    }),
    row({
      method: 'POST',
      path: ':uuid',
      name: 'use',
      summary: 'Sets the password. All sessions of the account end; its personal API keys stay if its address was confirmed before',
      body: passwordLinkInput,
      answer: passwordSetSchema,
      handle: async (visit) => {
        const { email } = await tried(visit, () => visit.app.accounts.passwordLinks.use(visit.params.uuid!, visit.body))
        return new Reply(200, { success: true, email })
      },
    }),
  ],
})
