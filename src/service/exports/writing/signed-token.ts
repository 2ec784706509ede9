import { createSign } from 'node:crypto'
import { DestinationError } from '../destinations/destination.ts'

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A JSON Web Token, signed by RS256. `key`: PEM; `what`: names it in messages. */
export function signedToken(
  header: Readonly<Record<string, string>>,
  claims: Readonly<Record<string, string | number>>,
  key: Parameters<ReturnType<typeof createSign>['sign']>[0],
  what: string,
): string {
  const content = `${encoded({ alg: 'RS256', typ: 'JWT', ...header })}.${encoded(claims)}`
  try {
    return `${content}.${createSign('RSA-SHA256').update(content).sign(key).toString('base64url')}`
  } catch (cause) {
    const message = `${what} is not a private key in PEM form, or its passphrase is wrong. Copy it with its BEGIN and END lines.`
    throw new DestinationError(message, { isRetryable: false, cause })
  }
}

/** A PEM text whose line breaks were lost or written as \n. */
export const pemOf = (given: string): string => {
  const text = given.replaceAll('\\n', '\n').trim()
  const parts = /^(-----BEGIN [^-]+-----)([\s\S]*)(-----END [^-]+-----)$/.exec(text)
  if (!parts || parts[2]!.includes(':')) return text // an encrypted key of the old form has headers
  return [parts[1], ...(parts[2]!.replace(/\s+/g, '').match(/.{1,64}/g) ?? []), parts[3], ''].join('\n')
}
