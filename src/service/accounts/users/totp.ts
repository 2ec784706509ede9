import { generateSecret, generateURI, verifySync } from 'otplib'

// Codes of authenticator apps, by RFC 6238: six digits, a step of 30 seconds, SHA-1, which all apps know.

const stepSeconds = 30
/** One step of difference between the clocks, either way. */
const drift = stepSeconds

/** 160 random bits in base32. */
export const newTotpSecret = (): string => generateSecret()

/** For the QR picture. */
export const totpUri = (secret: string, account: string, issuer: string): string => generateURI({ secret, label: account, issuer })

export const isTotpCode = (code: string): boolean => /^\d{6}$/.test(code)

/** The step of the code; null: it is wrong, or not newer than `after`. */
export function totpStep(secret: string, token: string, now: Date, after: number | null): number | null {
  if (!isTotpCode(token)) return null
  const result = verifySync({ secret, token, epoch: now.getTime() / 1000, epochTolerance: drift })
  if (!result.valid || !('timeStep' in result)) return null
  return after !== null && result.timeStep <= after ? null : result.timeStep
}
