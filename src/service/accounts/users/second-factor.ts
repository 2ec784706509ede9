import * as z from 'zod'
import { WaymarkError } from '../../../errors/errors.ts'
import type { AccountContext, From } from '../context.ts'
import { check, text } from '../fields.ts'
import type { AccountTables, User } from '../records.ts'
import { invalid } from '../refusals.ts'
import { sealedFor } from '../secrets/resealing.ts'
import { requiringOrganizations } from './enforcement.ts'
import { factorChange, logFactor, mailFactorChange } from './factor-log.ts'
import { assertionInput, type SignedChallenge, usePasskey, wrongPasskey } from './passkeys.ts'
import { replaceRecoveryCodes, useRecoveryCode } from './recovery-codes.ts'
import { removeFactor } from './remove-factor.ts'
import { endSessions } from './sessions.ts'
import { isTotpCode, newTotpSecret, totpStep, totpUri } from './totp.ts'
import { mustBeOwnAccount } from './users.ts'

// The second factor of an account: an authenticator app, passkeys, and recovery codes for users who have lost them.

/** How long setting one up may take. */
const setupMs = 3_600_000

/** A code of the app, or a recovery code. */
export const codeInput = z.object({ token: text({ max: 64 }) })
/** Or what a passkey has signed. */
export const factorInput = codeInput.partial().extend({ passkey: assertionInput.optional() })

/** What a caller shows: a code, or a signature that was verified. Null: it was not right. */
export type ShownFactor = { readonly code: string } | { readonly signed: SignedChallenge | null }

const wrongCode = () =>
  invalid(
    'This code is not valid. Codes change every 30 seconds and work once: wait for the next one. Is the clock of your device right?',
    'token',
    '2fa_invalid',
  )
export const isWrongCode = (error: unknown): boolean =>
  error instanceof WaymarkError && error.code === 'invalid-value' && (error as WaymarkError<'invalid-value'>).data.rule === '2fa_invalid'
const noFactor = () => invalid('This account has no second factor.', null, '2fa_not_enabled')

/** Takes the code of a user: the kind of code, which is used up now; null: it is wrong, or was used. */
async function takeCode(
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

/** The kind of what was shown, which is used up now; null: it is wrong, or was used. */
export const takeFactor = async (
  context: AccountContext,
  tables: AccountTables,
  user: User,
  shown: ShownFactor,
): Promise<'app' | 'recovery' | 'passkey' | null> => {
  if ('code' in shown) return takeCode(context, tables, user, shown.code)
  return shown.signed !== null && (await usePasskey(context, tables, user, shown.signed)) ? 'passkey' : null
}
export const wrongFactor = (shown: ShownFactor) => ('code' in shown ? wrongCode() : wrongPasskey())

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
  await logFactor(context, tables, user, 'second_factor_reset', from, { by, changes: factorChange(false) })
  return user
}

/** A change that takes the second factor: its transaction also keeps that a code is used up, or that it was wrong. */
const withFactor = async <T>(
  context: AccountContext,
  { id }: User,
  shown: ShownFactor,
  from: From,
  work: (tables: AccountTables, user: User) => Promise<T>,
): Promise<T> => {
  const done = await context.store.write(async (tables) => {
    const user = (await tables.users.first({ id }))!
    if (!user.has_second_factor) throw noFactor()
    if ((await takeFactor(context, tables, user, shown)) === null) {
      await logFactor(context, tables, user, 'second_factor_failed', from)
      return null
    }
    return { result: await work(tables, user) }
  })
  if (done === null) throw wrongFactor(shown)
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
        hasApp: factor !== undefined,
        passkeys: await store.read.passkeys.count({ user_id: user.id }),
        recoveryCodes: await store.read.recovery_codes.count({ user_id: user.id }),
        requiredBy: await requiringOrganizations(store.read, user),
      }
    },

    /** An app beside, or in place of, what there is takes the present factor. `shown` is null if there is none. */
    async begin(user: User, shown: ShownFactor | null, from: From): Promise<FactorSetup> {
      mustBeOwnAccount(user)
      if (shown) return withFactor(context, user, shown, from, insertSetup)
      return store.write(async (tables) => {
        const found = (await tables.users.first({ id: user.id }))!
        if (found.has_second_factor) throw wrongCode() // set up meanwhile
        return insertSetup(tables, found)
      })
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
        await logFactor(context, tables, user, 'second_factor_enabled', from, { changes: factorChange(true) })
        return replaceRecoveryCodes(context, tables, user)
      })
      void mailFactorChange(context, user, 'second_factor_enabled')
      return codes
    },

    async replaceRecoveryCodes(user: User, shown: ShownFactor, from: From): Promise<readonly string[]> {
      const codes = await withFactor(context, user, shown, from, async (tables, found) => {
        await logFactor(context, tables, found, 'recovery_codes_replaced', from)
        return replaceRecoveryCodes(context, tables, found)
      })
      void mailFactorChange(context, user, 'recovery_codes_replaced')
      return codes
    },

    /** The app, passkeys and recovery codes. Not while an organization of the user requires it. */
    async disable(user: User, shown: ShownFactor, from: From): Promise<void> {
      const requiring = await requiringOrganizations(store.read, user)
      if (requiring.length > 0)
        throw invalid(
          `${requiring.map(({ name }) => name).join(', ')} ${requiring.length === 1 ? 'requires' : 'require'} a second factor. You can set up another app instead.`,
          null,
          '2fa_enforced',
        )
      await withFactor(context, user, shown, from, async (tables, found) => {
        await removeFactor(tables, found)
        await logFactor(context, tables, found, 'second_factor_disabled', from, { changes: factorChange(false) })
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
