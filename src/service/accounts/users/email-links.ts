import * as z from 'zod'
import { withoutTrailingSlashes } from '../../../lib/text/without-trailing-slashes.ts'
import { tokenLength } from '../../../limits/bounds.ts'
import { type AccountContext, type Mail, post } from '../context.ts'
import { check } from '../fields.ts'
import type { AccountTables, EmailLink, User } from '../records.ts'
import { invalid, notFound } from '../refusals.ts'
import { hashKey, longestSecret, randomToken } from '../secrets/secrets.ts'
import { enforcingDomain } from '../single-sign-on/enforcing-domain.ts'
import { isProven, provenAddress } from './proof.ts'
import { changesOfUser, logOwnChanges } from './user-log.ts'
import { findUserByEmail, mustBeOwnAccount, normalEmail, sameEmail } from './users.ts'

// Proofs of an address by the signed-in user: of the present one, or of the one that replaces it. The link is mailed to the address; without a mail server the operator confirms it.
// A present address that is proven must confirm that another one replaces it: a session and a password are not enough to take an account away from its mailbox.
// A user has one at a time, and an address that belongs to another account is answered like any other: only its mailbox is told.

const day = 86_400_000
const emailLinkLifetime = { mail: day, operator: 7 * day }
export const emailLinkInput = z.object({ token: z.string({ error: 'Not a valid string.' }).min(1).max(tokenLength) })

const notUsable = () =>
  invalid(
    'This link is not valid: it was used, has expired, or belongs to another account. Ask for a new one in your settings.',
    'token',
    'invalid_token',
  )
const taken = () => invalid('There is already an account with this email address.', 'email', 'unique')
const site = (context: AccountContext) => withoutTrailingSlashes(context.settings().siteUrl)

const mailFor = (context: AccountContext, user: User, address: string, secret: string, isTaken: boolean): Mail => {
  if (isTaken)
    return {
      to: address,
      subject: 'You have a Waymark account already',
      text: [
        `Somebody who is signed in at ${site(context)} asked to use ${address} for their account.`,
        'There is an account with this address already, and nothing was changed.',
        '',
        `If this was you, sign in with it, or choose a new password: ${site(context)}/#/forgot`,
      ].join('\n'),
    }
  return {
    to: address,
    subject: 'Confirm your address for Waymark',
    text: [
      `Somebody who is signed in at ${site(context)} as ${user.email} says that ${address} is their address.`,
      '',
      `Confirm: ${site(context)}/#/confirm/${secret}`,
      'The link works once, for 24 hours, where you are signed in to this account.',
      '',
      'If this was not you, ignore this mail.',
    ].join('\n'),
  }
}
const doneNotice = (context: AccountContext, user: User, address: string): Mail => ({
  to: user.email,
  subject: 'The address of your Waymark account was changed',
  text: [
    `The address of the account at ${site(context)} was changed from ${user.email} to ${address}.`,
    '',
    'If this was not you, tell an administrator of your organization, or the operator of the server.',
  ].join('\n'),
})
/** `secret`: with which the present address confirms; null: it need not. */
const askedNotice = (context: AccountContext, user: User, address: string, secret: string | null): Mail => ({
  to: user.email,
  subject: 'A new address for your Waymark account',
  text: [
    `Somebody who is signed in at ${site(context)} as ${user.email} asked to change the address to ${address}. ${
      secret === null ? 'It changes when that address is confirmed.' : 'It changes when both addresses are confirmed.'
    }`,
    ...(secret === null
      ? []
      : [
          '',
          `If this was you, confirm that this address gives way: ${site(context)}/#/confirm/${secret}`,
          'The link works once, for 24 hours, where you are signed in to this account.',
        ]),
    '',
    'If this was not you, change your password, and sign out everywhere else.',
  ].join('\n'),
})

const pending = async (context: AccountContext, user: User): Promise<EmailLink | undefined> => {
  const link = await context.store.read.email_links.first({ user_id: user.id })
  return link && link.expires_at > context.clock() && !sameEmail(link.email, user.email) ? link : undefined
}

const move = async (context: AccountContext, tables: AccountTables, user: User, address: string): Promise<User> => {
  const other = await findUserByEmail(tables, address)
  if (other && other.id !== user.id) throw taken()
  const change = { ...(!sameEmail(address, user.email) && { email: address }), ...provenAddress }
  await tables.users.update({ id: user.id }, change)
  await tables.email_links.remove({ user_id: user.id })
  // Mailed links prove access to the old mailbox only.
  if (change.email !== undefined) await tables.password_links.remove({ user_id: user.id, is_mailed: true })
  const { unproven_since: _, ...shown } = change
  await logOwnChanges(context, tables, user, changesOfUser(user, shown))
  return { ...user, ...change }
}
/** Who signs in through a provider is found by the address, and cannot leave its rules by another one. */
const mayChange = async (context: AccountContext, user: User, address: string): Promise<void> => {
  if (sameEmail(address, user.email)) return
  const domain = await enforcingDomain(context, context.store.read, user.email)
  if (domain)
    throw invalid(
      `Addresses of ${domain.domain} sign in through an identity provider, so this one cannot be changed here. An administrator of the domain can.`,
      'email',
      'sso_enforced',
    )
}
const tellOld = (context: AccountContext, before: User, after: User) => {
  if (before.email !== after.email) void post(context, before.current_organization_id ?? '', [doneNotice(context, before, after.email)])
}

export const createEmailLinks = (context: AccountContext) => {
  const { store } = context

  return {
    /** The address that replaces the present one as soon as it is confirmed. */
    pending: async (user: User): Promise<string | null> => (await pending(context, user))?.email ?? null,

    /** Asks for a proof of an address. Earlier links end. The mails are sent after the answer. */
    async ask(user: User, given: string): Promise<void> {
      mustBeOwnAccount(user)
      const address = normalEmail(given)
      await mayChange(context, user, address)
      const hasMail = context.mailer() !== null
      const secret = randomToken()
      // Without a mail server the operator confirms, who knows both.
      const present = hasMail && isProven(user) && !sameEmail(address, user.email) ? randomToken() : null
      const isTaken = await store.write(async (tables) => {
        const now = context.clock()
        const other = await findUserByEmail(tables, address)
        await tables.email_links.remove({ user_id: user.id })
        await tables.email_links.insert({
          hash: hashKey(secret),
          user_id: user.id,
          email: address,
          created_at: now,
          expires_at: new Date(now.getTime() + emailLinkLifetime[hasMail ? 'mail' : 'operator']),
          present_hash: present === null ? null : hashKey(present),
          confirmed_at: null,
          present_confirmed_at: null,
        })
        return other !== undefined && other.id !== user.id
      })
      const mails = [mailFor(context, user, address, secret, isTaken)]
      if (!sameEmail(address, user.email)) mails.push(askedNotice(context, user, address, present))
      void post(context, user.current_organization_id ?? '', mails)
    },

    /** The holder of the mailed secret is signed in to the account. So it is the same person, and nothing ends. A change of address waits for both secrets. */
    async confirm(user: User, body: unknown): Promise<User> {
      mustBeOwnAccount(user)
      const { token } = check(emailLinkInput, body)
      if (token.length > longestSecret) throw notUsable()
      const [before, after] = await store.write(async (tables) => {
        const [hash, now] = [hashKey(token), context.clock()]
        const isNew = (await tables.email_links.first({ hash })) !== undefined
        const link = await tables.email_links.first(isNew ? { hash } : { present_hash: hash })
        const found = await tables.users.first({ id: user.id })
        if (!found || link?.user_id !== user.id || link.expires_at <= now) throw notUsable()
        await mayChange(context, found, link.email)
        const after = { ...link, ...(isNew ? { confirmed_at: now } : { present_confirmed_at: now }) }
        if (after.confirmed_at !== null && (after.present_hash === null || after.present_confirmed_at !== null))
          return [found, await move(context, tables, found, link.email)]
        await tables.email_links.update(
          { hash: link.hash },
          { confirmed_at: after.confirmed_at, present_confirmed_at: after.present_confirmed_at },
        )
        return [found, found]
      })
      tellOld(context, before, after)
      return after
    },

    /** The operator vouches: for the new address that a user asked for, or for the present one. */
    async confirmFor(given: string): Promise<User> {
      const [before, after] = await store.write(async (tables) => {
        const now = context.clock()
        const own = await findUserByEmail(tables, given)
        const asked = (await tables.email_links.find({})).filter((one) => sameEmail(one.email, given) && one.expires_at > now)
        if (!own && asked.length > 1)
          throw invalid(
            `${asked.length} users have asked for ${given}. Those who should not have it must ask for another address first.`,
            'email',
          )
        const user = own ?? (asked[0] && (await tables.users.first({ id: asked[0].user_id })))
        if (!user)
          throw notFound(`There is no user ${given}, and nobody has asked for this address. \`waymark users list\` shows all users.`)
        return [user, await move(context, tables, user, own?.email ?? asked[0]!.email)]
      })
      tellOld(context, before, after)
      return after
    },
  }
}
