import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

// An authenticator in software, by the WebAuthn specification, which a test can make lie.

type Bytes = Uint8Array
const encoded = (bytes: Bytes | string) => Buffer.from(bytes).toString('base64url')
const sha256 = (text: string | Bytes) => createHash('sha256').update(text).digest()

/** CBOR, as far as keys and attestations need it. */
const head = (major: number, length: number): Buffer => {
  if (length < 24) return Buffer.from([(major << 5) | length])
  if (length < 256) return Buffer.from([(major << 5) | 24, length])
  return Buffer.from([(major << 5) | 25, length >> 8, length & 255])
}
type Cbor = number | string | Bytes | readonly (readonly [number | string, Cbor])[]
const cbor = (value: Cbor): Buffer => {
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value])
  return Buffer.concat([head(5, value.length), ...value.flatMap(([key, one]) => [cbor(key), cbor(one)])])
}

const flagBits = { up: 1, uv: 4, be: 8, bs: 16, at: 64 } as const

/** What an honest browser and authenticator would not do. */
export interface Lies {
  readonly origin?: string
  readonly rpId?: string
  readonly challenge?: string
  readonly type?: string
  readonly counter?: number
  readonly hasVerified?: boolean
  readonly isPresent?: boolean
  readonly isBackedUp?: boolean
  readonly isBackupEligible?: boolean
  readonly userHandle?: string | null
  /** Signed by another key. */
  readonly isForged?: boolean
  readonly attestation?: { readonly format: string; readonly statement: Cbor }
}
interface Credential {
  readonly id: string
  readonly key: KeyObject
  readonly rpId: string
  readonly userHandle: string
  counter: number
}
interface Options {
  readonly challenge: string
  readonly rpId?: string
  readonly rp?: { readonly id: string }
  readonly user?: { readonly id: string }
  readonly allowCredentials?: readonly { readonly id: string }[]
  readonly excludeCredentials?: readonly { readonly id: string }[]
}

export class Authenticator {
  readonly credentials: Credential[] = []
  /** `counts`: false of passkeys that are on several devices. */
  constructor(
    readonly origin = 'http://localhost',
    readonly counts = true,
  ) {}

  private clientData(type: string, options: Options, lies: Lies): Buffer {
    const { challenge = options.challenge, origin = this.origin } = lies
    return Buffer.from(JSON.stringify({ type: lies.type ?? type, challenge, origin, crossOrigin: false }))
  }

  private authenticatorData(rpId: string, counter: number, lies: Lies, more: Bytes = new Uint8Array()): Buffer {
    const isSynchronized = lies.isBackupEligible ?? !this.counts
    const flags =
      (lies.isPresent === false ? 0 : flagBits.up) |
      (lies.hasVerified === false ? 0 : flagBits.uv) |
      (isSynchronized ? flagBits.be : 0) |
      ((lies.isBackedUp ?? isSynchronized) ? flagBits.bs : 0) |
      (more.length > 0 ? flagBits.at : 0)
    const rest = Buffer.alloc(5)
    rest[0] = flags
    rest.writeUInt32BE(counter, 1)
    return Buffer.concat([sha256(lies.rpId ?? rpId), rest, more])
  }

  create(options: Options, lies: Lies = {}) {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const { x, y } = publicKey.export({ format: 'jwk' })
    const id = randomBytes(32)
    const bytes = (part: string | undefined) => new Uint8Array(Buffer.from(part!, 'base64url'))
    const cose = cbor([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, bytes(x)],
      [-3, bytes(y)],
    ])
    const rpId = options.rp!.id
    const made = { id: encoded(id), key: privateKey, rpId, userHandle: options.user!.id, counter: this.counts ? 1 : 0 }
    this.credentials.push(made)
    const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, cose])
    const authData = this.authenticatorData(rpId, lies.counter ?? made.counter, lies, attested)
    const { format, statement } = lies.attestation ?? { format: 'none', statement: [] }
    const attestationObject = cbor([
      ['fmt', format],
      ['attStmt', statement],
      ['authData', new Uint8Array(authData)],
    ])
    return {
      id: made.id,
      rawId: made.id,
      type: 'public-key' as const,
      response: {
        clientDataJSON: encoded(this.clientData('webauthn.create', options, lies)),
        attestationObject: encoded(attestationObject),
        transports: ['internal'],
      },
    }
  }

  /** With the first credential that the options allow. */
  get(options: Options, lies: Lies = {}) {
    const allowed = options.allowCredentials ?? []
    const found = this.credentials.find(({ id }) => allowed.length === 0 || allowed.some((one) => one.id === id))
    if (!found) throw new Error('The authenticator has no credential for this.')
    if (this.counts && lies.counter === undefined) found.counter++
    const data = this.authenticatorData(options.rpId ?? found.rpId, lies.counter ?? found.counter, lies)
    const clientData = this.clientData('webauthn.get', options, lies)
    const key = lies.isForged ? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey : found.key
    return {
      id: found.id,
      rawId: found.id,
      type: 'public-key' as const,
      response: {
        clientDataJSON: encoded(clientData),
        authenticatorData: encoded(data),
        signature: encoded(sign('sha256', Buffer.concat([data, sha256(clientData)]), key)),
        userHandle: lies.userHandle === undefined ? found.userHandle : lies.userHandle,
      },
    }
  }
}
