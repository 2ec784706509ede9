import * as z from 'zod'
import { WaymarkError } from '../../../errors/errors.ts'
import { withoutTrailingSlashes } from '../../../lib/text/without-trailing-slashes.ts'
import { tokenLength } from '../../../limits/bounds.ts'
import { type AccountContext, log, post } from '../context.ts'
import { check, newPassword, text } from '../fields.ts'
import type { AccountTables, PasswordLink, User } from '../records.ts'
import { invalid, notFound } from '../refusals.ts'
import { hashKey, longestSecret, randomToken } from '../secrets/secrets.ts'
import { enforcingDomain, mustSatisfyDomain } from '../single-sign-on/enforcing-domain.ts'
import { isProven, proveAddress, type Unproven, unprovenOf } from './proof.ts'
import { mailPasswordChange, setPassword } from './set-password.ts'
import { findUserByEmail } from './users.ts'

// Links with which users choose a password: made by the operator, or mailed to users who forgot theirs. A link works once.

const hour = 3_600_000
const linkLifetime = { operator: 24 * hour, mail: hour }
/** Valid mailed links of one user. Nobody can fill the mailbox of another. */
const mostMailedLinks = 5

export const mailedLinkInput = z.object({ email: text({ max: 254 }) })
export const passwordLinkInput = z.object({
  token: z.string({ error: 'Not a valid string.' }).min(1).max(tokenLength),
  password: newPassword(),
})

export interface MadePasswordLink {
  readonly user: User
  readonly url: string
  readonly expires_at: Date
  /** What ends when the link is used, because nobody has proven the address so far. */
  readonly ends: Unproven | null
  /** What the domain of the address requires: the password does not sign in as long as it does. Null: nothing. */
  readonly sso_enforcement: string | null
}

const notUsable = () =>
  invalid(
    'This link is not valid: it was used, has expired, or was replaced by another one. Ask for a new one on the sign-in page, or ask the operator of this server.',
    'token',
    'invalid_token',
  )
export const isWrongLink = (error: unknown): boolean =>
  error instanceof WaymarkError && error.code === 'invalid-value' && error.attr === 'token'
export const noMailServer = () =>
  invalid(
    'This server sends no mail. Ask its operator for a link: `waymark users link --email ADDRESS` prints one.',
    null,
    'email_not_available',
  )

/** Null: the user has the most mailed links already. */
const insert = async (
  context: AccountContext,
  tables: AccountTables,
  user: User,
  kind: keyof typeof linkLifetime,
  keeps_access = false,
) => {
  const now = context.clock()
  const is_mailed = kind === 'mail'
  const expired = (await tables.password_links.find({})).filter((one) => one.expires_at <= now)
  if (expired.length > 0) await tables.password_links.remove({ hash: expired.map(({ hash }) => hash) })
  if (!is_mailed) await tables.password_links.remove({ user_id: user.id })
  else if ((await tables.password_links.count({ user_id: user.id, is_mailed })) >= mostMailedLinks) return null
  const secret = randomToken()
  const link: PasswordLink = {
    hash: hashKey(secret),
    user_id: user.id,
    is_mailed,
    keeps_access,
    created_at: now,
    expires_at: new Date(now.getTime() + linkLifetime[kind]),
  }
  await tables.password_links.insert(link)
  await log(context, tables, {
    by: null,
    organization_id: user.current_organization_id,
    scope: 'User',
    item_id: user.id,
    activity: is_mailed ? 'password_link_mailed' : 'password_link_created',
    name: user.email,
  })
  return { secret, link }
}

const urlOf = (context: AccountContext, user: User, secret: string, base = context.settings().siteUrl) =>
  `${withoutTrailingSlashes(base)}/#/reset/${user.uuid}/${secret}`

const usable = async (context: AccountContext, tables: AccountContext['store']['read'], uuid: string, token: string): Promise<User> => {
  const link = token.length > longestSecret ? undefined : await tables.password_links.first({ hash: hashKey(token) })
  const user = link && link.expires_at > context.clock() ? await tables.users.first({ id: link.user_id }) : undefined
  if (!user?.is_active || user.uuid !== uuid.toLowerCase()) throw notUsable()
  return user
}

const mail = async (context: AccountContext, address: string): Promise<void> => {
  const made = await context.store.write(async (tables) => {
    const user = await findUserByEmail(tables, address)
    const found = user?.is_active ? await insert(context, tables, user, 'mail') : null
    return user && found ? { user, secret: found.secret } : null
  })
  if (made === null) return
  const { user, secret } = made
  const lines = [
    `Somebody asked for a new password of ${user.email} at ${context.settings().siteUrl}.`,
    '',
    `Choose one: ${urlOf(context, user, secret)}`,
    'The link works once, for one hour.',
    '',
    'If this was not you, ignore this mail: your password stays as it is.',
  ]
  await post(context, user.current_organization_id ?? '', [
    { to: user.email, subject: 'Choose a new Waymark password', text: lines.join('\n') },
  ])
}

export const createPasswordLinks = (context: AccountContext) => {
  const { store } = context

  return {
    /** For the operator. Earlier links of the user end. `base`: the public URL of the server. `keeps`: as for `proveAddress`. */
    create: (email: string, base?: string, keeps = false): Promise<MadePasswordLink> =>
      store.write(async (tables) => {
        const user = await findUserByEmail(tables, email)
        if (!user) throw notFound(`There is no user ${email}. \`waymark users list\` shows them.`)
        if (!user.is_active) throw notFound(`The user ${email} is deactivated.`)
        const { secret, link } = (await insert(context, tables, user, 'operator', keeps))!
        const ends = keeps || isProven(user) ? null : await unprovenOf(tables, user)
        const domain = await enforcingDomain(context, tables, user.email)
        const url = urlOf(context, user, secret, base)
        return { user, url, expires_at: link.expires_at, ends, sso_enforcement: domain?.sso_enforcement ?? null }
      }),

    /**
     * Mails a link after the answer was sent: neither the answer nor its time tells whether the address has an account.
     * `mayAsk` throws if the caller asks too often.
     */
    async mail(email: string, mayAsk: () => Promise<unknown> = async () => undefined): Promise<void> {
      if (context.mailer() === null) throw noMailServer()
      await mayAsk()
      await mustSatisfyDomain(context, store.read, email, null)
      void mail(context, email).catch((error: unknown) => context.report('failed to mail a link for a new password', error))
    },

    /** Whether a link is still valid. */
    look: (uuid: string, token: string): Promise<User> => usable(context, store.read, uuid, token),

    async use(uuid: string, body: unknown): Promise<User> {
      const { token, password } = check(passwordLinkInput, body)
      const { id, email } = await usable(context, store.read, uuid, token)
      await mustSatisfyDomain(context, store.read, email, null)
      const password_hash = await context.passwords.hash(password, email, `password link ${id}`)
      const user = await store.write(async (tables) => {
        const link = await tables.password_links.first({ hash: hashKey(token) })
        const found = await usable(context, tables, uuid, token)
        await mustSatisfyDomain(context, tables, found.email, null)
        await proveAddress(context, tables, found, link!.keeps_access === true)
        await setPassword(context, tables, found, password_hash)
        return found
      })
      void mailPasswordChange(context, user)
      return user
    },
  }
}
