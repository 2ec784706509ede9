import crypto from 'node:crypto'

/** From Node 20.12 on, and several times faster: the other way makes a stream. */
const { hash }: { readonly hash?: typeof crypto.hash } = crypto
const hashed = (bytes: Uint8Array): string => hash?.('sha1', bytes, 'hex') ?? crypto.createHash('sha1').update(bytes).digest('hex')

const bytesOfUuid = 16
let text = Buffer.allocUnsafeSlow(1_024)

/** UUIDv5: the same namespace and name give the same id. */
export function nameUuid(namespace: string, name: string): string {
  const longest = bytesOfUuid + 3 * name.length
  if (text.length < longest) text = Buffer.allocUnsafeSlow(longest)
  text.write(namespace.replaceAll('-', ''), 'hex')
  const hex = hashed(text.subarray(0, bytesOfUuid + text.write(name, bytesOfUuid)))
  const version = `5${hex.slice(13, 16)}`
  const variant = ((Number.parseInt(hex[16]!, 16) & 0x3) | 0x8).toString(16) + hex.slice(17, 20)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${version}-${variant}-${hex.slice(20, 32)}`
}
