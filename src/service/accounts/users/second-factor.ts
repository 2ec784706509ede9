import * as z from 'zod'
import { WaymarkError } from '../../../errors/errors.ts'
import { type AccountContext, type Change, type From, log, post } from '../context.ts'
import { check, text } from '../fields.ts'
import type { AccountTables, User } from '../records.ts'
import { invalid } from '../refusals.ts'
import { sealedFor } from '../secrets/resealing.ts'
import { requiringOrganizations } from './enforcement.ts'
import { replaceRecoveryCodes, useRecoveryCode } from './recovery-codes.ts'
import { removeFactor } from './remove-factor.ts'
import { endSessions } from './sessions.ts'
import { isTotpCode, newTotpSecret, totpStep, totpUri } from './totp.ts'
import { mustBeOwnAccount } from './users.ts'

// The second factor of an account: an authenticator app, and recovery codes for who has lost it.

/** How long setting one up may take. */
const setupMs = 3_600_000

/** A code of the app, or a recovery code. */
export const codeInput = z.object({ token: text({ max: 64 }) })
export const maybeCodeInput = codeInput.partial()

export const wrongCode = () =>
  invalid(
    'This code is not valid. Codes change every 30 seconds and work once: wait for the next one. Is the clock of your device right?',
    'token',
    '2fa_invalid',
  )
export const isWrongCode = (error: unknown): boolean =>
  error instanceof WaymarkError && error.code === 'invalid-value' && (error as WaymarkError<'invalid-value'>).data.rule === '2fa_invalid'
const noFactor = () => invalid('This account has no second factor.', null, '2fa_not_enabled')

type Activity =
  | 'second_factor_enabled'
  | 'second_factor_disabled'
  | 'second_factor_reset'
  | 'second_factor_failed'
  | 'recovery_codes_replaced'
  | 'recovery_code_used'

/** In the log of each organization of the user. */
export async function logFactor(
  context: AccountContext,
  tables: AccountTables,
  user: User,
  activity: Activity,
  from: From | null,
  { by = user, changes }: { readonly by?: User | null; readonly changes?: readonly Change[] } = {},
): Promise<void> {
  const organizations = (await tables.memberships.find({ user_id: user.id })).map((one) => one.organization_id)
  for (const organization_id of organizations.length > 0 ? organizations : [null])
    await log(context, tables, {
      by,
      organization_id,
      scope: 'User',
      item_id: user.id,
      activity,
      name: user.email,
      from,
      ...(changes && { changes }),
    })
}
const changeTo = (after: boolean): Change[] => [{ type: 'User', action: 'changed', field: 'is_2fa_enabled', before: !after, after }]

const said: Readonly<Partial<Record<Activity, string>>> = {
  second_factor_enabled: 'A second factor was set up: signing in takes a code from now on.',
  second_factor_disabled: 'The second factor was turned off.',
  second_factor_reset: 'The second factor was reset, and all sessions were signed out. Set up another one in your account settings.',
  recovery_codes_replaced: 'New recovery codes were made. The earlier ones do not work any more.',
  recovery_code_used: 'Somebody signed in with a recovery code.',
}
/** Tells the user. */
export const mailFactorChange = (context: AccountContext, user: User, activity: Activity): Promise<void> =>
  post(context, user.current_organization_id ?? '', [
    {
      to: user.email,
      subject: 'The second factor of your Waymark account',
      text: [
        `${user.email} at ${context.settings().siteUrl}: ${said[activity]}`,
        '',
        'If this was not you, choose a new password with "Forgot your password?" on the sign-in page, and tell an administrator.',
      ].join('\n'),
    },
  ])

/** Takes the code of a user: the kind of code, which is used up now; null: it is wrong, or was used. */
export async function takeCode(
  { box, clock }: AccountContext,
  tables: AccountTables,
  user: User,
  given: string,
): Promise<'app' | 'recovery' | null> {
  const code = given.replace(/\s/g, '')
  if (!isTotpCode(code)) return (await useRecoveryCode(tables, user, given)) ? 'recovery' : null
  const factor = (await tables.second_factors.find({ user_id: user.id })).find(({ confirmed_at }) => confirmed_at !== null)
  if (!factor) return null
  const step = totpStep(box.open(factor.secret, sealedFor.secondFactor(factor.id)), code, clock(), factor.last_step)
  if (step === null) return null
  await tables.second_factors.update({ id: factor.id }, { last_step: step })
  return 'app'
}

/** Without a code: the caller has checked who may. All sessions end. */
export async function resetFactor(
  context: AccountContext,
  tables: AccountTables,
  { id }: User,
  by: User | null,
  from: From | null,
): Promise<User> {
  const user = (await tables.users.first({ id }))!
  if (!user.has_second_factor) throw noFactor()
  await removeFactor(tables, user)
  await endSessions(tables, user, null)
  await logFactor(context, tables, user, 'second_factor_reset', from, { by, changes: changeTo(false) })
  return user
}

/** A change that takes a code: its transaction also keeps that the code is used up, or that it was wrong. */
const withCode = async <T>(
  context: AccountContext,
  { id }: User,
  body: unknown,
  from: From,
  work: (tables: AccountTables, user: User) => Promise<T>,
): Promise<T> => {
  const { token } = check(codeInput, body)
  const done = await context.store.write(async (tables) => {
    const user = (await tables.users.first({ id }))!
    if (!user.has_second_factor) throw noFactor()
    if ((await takeCode(context, tables, user, token)) === null) {
      await logFactor(context, tables, user, 'second_factor_failed', from)
      return null
    }
    return { result: await work(tables, user) }
  })
  if (done === null) throw wrongCode()
  return done.result
}

export interface FactorSetup {
  readonly secret: string
  readonly uri: string
}

export const createSecondFactors = (context: AccountContext) => {
  const { store, box, clock } = context

  /** A secret that waits for its first code. The present factor, if there is one, counts until then. */
  const insertSetup = async (tables: AccountTables, user: User): Promise<FactorSetup> => {
    const secret = newTotpSecret()
    const id = context.newId()
    const waiting = (await tables.second_factors.find({ user_id: user.id })).filter(({ confirmed_at }) => confirmed_at === null)
    for (const one of waiting) await tables.second_factors.remove({ id: one.id })
    await tables.second_factors.insert({
      id,
      user_id: user.id,
      secret: box.seal(secret, sealedFor.secondFactor(id)),
      confirmed_at: null,
      last_step: null,
      created_at: clock(),
    })
    const { host } = new URL(context.settings().siteUrl)
    return { secret, uri: totpUri(secret, user.email, `Waymark ${host}`) }
  }

  return {
    status: async (user: User) => {
      const factor = (await store.read.second_factors.find({ user_id: user.id })).find(({ confirmed_at }) => confirmed_at !== null)
      return {
        enabledAt: user.has_second_factor ? (factor?.confirmed_at ?? null) : null,
        recoveryCodes: await store.read.recovery_codes.count({ user_id: user.id }),
        requiredBy: await requiringOrganizations(store.read, user),
      }
    },

    /** Another app takes a code of the present one. */
    async begin(user: User, body: unknown, from: From): Promise<FactorSetup> {
      mustBeOwnAccount(user)
      if (user.has_second_factor) return withCode(context, user, body, from, insertSetup)
      return store.write((tables) => insertSetup(tables, user))
    },

    /** Ends all sessions but `kept`, the hash of one: they began without it. Returns recovery codes. */
    async confirm(user: User, body: unknown, from: From, kept: string): Promise<readonly string[]> {
      mustBeOwnAccount(user)
      const { token } = check(codeInput, body)
      const codes = await store.write(async (tables) => {
        const all = await tables.second_factors.find({ user_id: user.id })
        const waiting = all.find(({ confirmed_at }) => confirmed_at === null)
        const now = clock()
        if (!waiting || now.getTime() - waiting.created_at.getTime() > setupMs)
          throw invalid('Setting up the second factor took too long, or was not begun. Begin again.', null, '2fa_expired')
        const secret = box.open(waiting.secret, sealedFor.secondFactor(waiting.id))
        const last_step = totpStep(secret, token.replace(/\s/g, ''), now, null)
        if (last_step === null) throw wrongCode()
        for (const one of all) if (one !== waiting) await tables.second_factors.remove({ id: one.id })
        await tables.second_factors.update({ id: waiting.id }, { confirmed_at: now, last_step })
        await tables.users.update({ id: user.id }, { has_second_factor: true })
        await endSessions(tables, user, kept)
        await logFactor(context, tables, user, 'second_factor_enabled', from, { changes: changeTo(true) })
        return replaceRecoveryCodes(context, tables, user)
      })
      void mailFactorChange(context, user, 'second_factor_enabled')
      return codes
    },

    async replaceRecoveryCodes(user: User, body: unknown, from: From): Promise<readonly string[]> {
      const codes = await withCode(context, user, body, from, async (tables, found) => {
        await logFactor(context, tables, found, 'recovery_codes_replaced', from)
        return replaceRecoveryCodes(context, tables, found)
      })
      void mailFactorChange(context, user, 'recovery_codes_replaced')
      return codes
    },

    /** Not while an organization of the user requires it. */
    async disable(user: User, body: unknown, from: From): Promise<void> {
      const requiring = await requiringOrganizations(store.read, user)
      if (requiring.length > 0)
        throw invalid(
          `${requiring.map(({ name }) => name).join(', ')} ${requiring.length === 1 ? 'requires' : 'require'} a second factor. You can set up another app instead.`,
          null,
          '2fa_enforced',
        )
      await withCode(context, user, body, from, async (tables, found) => {
        await removeFactor(tables, found)
        await logFactor(context, tables, found, 'second_factor_disabled', from, { changes: changeTo(false) })
      })
      void mailFactorChange(context, user, 'second_factor_disabled')
    },

    /** By the operator, who vouches for the user. */
    async resetByOperator(user: User): Promise<User> {
      const found = await store.write((tables) => resetFactor(context, tables, user, null, null))
      void mailFactorChange(context, found, 'second_factor_reset')
      return found
    },
  }
}
