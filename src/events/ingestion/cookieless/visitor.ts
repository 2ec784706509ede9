import { createHash, createHmac } from 'node:crypto'
import { isIP } from 'node:net'
import { day as dayMicros, zoneOf } from '../../../lib/time/zone.ts'
import { acceptedDays, type Salts } from './salts.ts'
import { siteOf } from './site.ts'

// Visitors of pages that set no cookies. All of them have the same distinct id, so each gets one made of a hash: of the day's salt, the project, the
// address, the site and the browser. Only the hash is stored.

/** The distinct id that clients send for every visitor without cookies. */
export const cookielessId = '$posthog_cookieless'
const prefix = 'cookieless_'
const hashBytes = 16

/** A visitor of one day, as the log stores it. */
export interface Visitor {
  readonly hash: string
  /** Days since 1970, in the project's time zone. */
  readonly day: number
  /** The event tells who the visitor is. */
  readonly isIdentifying: boolean
}

/** The distinct id of a visitor. `number`: how often the visitor was identified before. */
export const visitorId = (hash: string, number: number): string => prefix + (number === 0 ? hash : digest(`${hash} ${number}`))

/** Ids that only the server may assign. */
export const isVisitorId = (id: string): boolean => id === cookielessId || id.startsWith(prefix)

export const digest = (text: string): string => createHash('sha256').update(text).digest().subarray(0, hashBytes).toString('base64url')

export const isCookieless = (distinctId: string, properties: Readonly<Record<string, unknown>>): boolean =>
  distinctId === cookielessId || properties.$cookieless_mode === true

/** Who sent a request. */
export interface Sender {
  /** Null: unknown. */
  readonly address: string | null
  /** An address that the request names and that nobody confirms. */
  readonly claimedAddress?: string | null
  /** The address may be that of a proxy. */
  readonly isUnconfirmed?: boolean
  readonly userAgent: string | null
}

/** What turns an event into a visitor. */
export interface VisitorRules {
  readonly project: number
  readonly timezone: string
  readonly salts: Salts
  readonly sender: Sender
  /** Microseconds. */
  readonly receivedAt: number
}

/** What a visitor is hashed of, from an event before anything is removed from it. */
export interface VisitorFacts {
  readonly properties: Readonly<Record<string, unknown>>
  /** The address beside the properties. */
  readonly ip: unknown
  /** Microseconds. */
  readonly time: number
}

export type FoundVisitor =
  | { readonly hash: string; readonly day: number; readonly isUnconfirmed: boolean }
  | { readonly missing: 'address' | 'user agent' | 'day' }

const longestAgent = 1_000
const longestExtra = 100

const textOf = (value: unknown): string => (typeof value === 'string' ? value.trim() : '')

/** One spelling of each address. */
const addressOf = (value: unknown): string => {
  const text = textOf(value).toLowerCase()
  if (isIP(text) === 0) return ''
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(text)?.[1]
  if (mapped !== undefined) return mapped
  return isIP(text) === 6 && !text.includes('%') ? new URL(`http://[${text}]`).hostname.slice(1, -1) : text
}

/** Days since 1970 in a time zone. */
const dayIn = (timezone: string, time: number): number => Math.floor(zoneOf(timezone).toWall(time) / dayMicros)

/**
 * The visitor of an event. An address that the event names is hashed apart from one that was seen, so nobody can be taken for a visitor by naming that
 * visitor's address.
 */
export function findVisitor({ project, timezone, salts, sender, receivedAt }: VisitorRules, facts: VisitorFacts): FoundVisitor {
  const { properties, ip, time } = facts
  const given = addressOf(properties.$ip) || addressOf(ip)
  const seen = addressOf(sender.address)
  const claimed = given || seen ? '' : addressOf(sender.claimedAddress)
  const address = given || seen || claimed
  if (address === '') return { missing: 'address' }
  const agent = (textOf(properties.$raw_user_agent) || textOf(sender.userAgent)).slice(0, longestAgent)
  if (agent === '') return { missing: 'user agent' }
  const day = dayIn(timezone, time)
  const today = dayIn(timezone, receivedAt)
  if (day < today - acceptedDays.before || day > today + acceptedDays.after) return { missing: 'day' }
  const source = given ? 'given' : seen ? 'seen' : 'claimed'
  const extra = textOf(properties.$cookieless_extra).slice(0, longestExtra)
  const text = JSON.stringify([project, source, address, siteOf(properties), agent, extra])
  const hash = createHmac('sha256', salts.of(day)).update(text).digest().subarray(0, hashBytes).toString('base64url')
  return { hash, day, isUnconfirmed: claimed !== '' || (source === 'seen' && sender.isUnconfirmed === true) }
}

/** A visitor from the log; null if it is none. */
export function readVisitor(stored: unknown): Visitor | null {
  if (!Array.isArray(stored)) return null
  const [hash, day, identifying] = stored as unknown[]
  return typeof hash === 'string' && typeof day === 'number' ? { hash, day, isIdentifying: identifying === 1 } : null
}

/** For the log. */
export const storedVisitor = ({ hash, day, isIdentifying }: Visitor): readonly (string | number)[] => [
  hash,
  day,
  ...(isIdentifying ? [1] : []),
]
