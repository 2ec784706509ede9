import { nameUuid } from '../../../lib/ids/name-uuid.ts'

const hex = /^[0-9a-f]{32}$/

/** The canonical spelling of a UUID, or null when it is invalid. */
export function readUuid(value: unknown): string | null {
  if (typeof value !== 'string') return null
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(value)) return value
  const digits = value
    .trim()
    .toLowerCase()
    .replace(/^urn:uuid:/, '')
    .replace(/^\{(.*)\}$/, '$1')
  const bare = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(digits) ? digits.replaceAll('-', '') : digits
  return hex.test(bare) ? hyphenated(bare) : null
}

const hyphenated = (digits: string): string =>
  `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`

const personNamespace = '932979b4-65c3-4424-8467-0b66ec27bc22'

/** The uuid of the person of `distinctId`. It is the same whenever the person is created, so person-less events match it. */
export const personUuid = (projectId: number, distinctId: string): string => nameUuid(personNamespace, `${projectId}:${distinctId}`)
