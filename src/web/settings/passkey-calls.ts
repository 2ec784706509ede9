import type { PasskeyOptionsAnswer } from '../../doors/answers/two-factor.ts'
import { post } from '../lib/api.ts'

// What authenticators take and give, as the API has it: bytes are texts in base64url there.

const bytes = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0))
const text = (buffer: ArrayBuffer): string =>
  btoa(Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join(''))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

interface Named {
  readonly id: string
  readonly transports?: AuthenticatorTransport[]
}
const credentials = (list: unknown): PublicKeyCredentialDescriptor[] =>
  ((list ?? []) as readonly Named[]).map(({ id, transports }) => ({ id: bytes(id), type: 'public-key', ...(transports && { transports }) }))

/** What browsers say when nothing was made or signed, in words. */
const said = (error: unknown): Error => {
  const { name } = error as Error
  if (name === 'NotAllowedError' || name === 'AbortError') return new Error('No passkey was used: it was cancelled, or took too long.')
  if (name === 'InvalidStateError') return new Error('This device has a passkey of your account already.')
  if (name === 'SecurityError') return new Error('Passkeys do not work at this address: they are bound to the name of the server.')
  return error as Error
}

/** Makes a passkey on this device, or on another one: what the API takes. */
export async function makePasskey(): Promise<object> {
  const options = await post<PasskeyOptionsAnswer & Record<string, unknown>>('api/users/@me/passkeys/begin/')
  const user = options.user as PublicKeyCredentialUserEntityJSON
  const made = (await navigator.credentials
    .create({
      publicKey: {
        ...(options as unknown as PublicKeyCredentialCreationOptions),
        challenge: bytes(options.challenge),
        user: { ...user, id: bytes(user.id) },
        excludeCredentials: credentials(options.excludeCredentials),
      },
    })
    .catch((error: unknown) => {
      throw said(error)
    })) as PublicKeyCredential
  const response = made.response as AuthenticatorAttestationResponse
  return {
    id: made.id,
    rawId: text(made.rawId),
    type: made.type,
    response: {
      clientDataJSON: text(response.clientDataJSON),
      attestationObject: text(response.attestationObject),
      transports: response.getTransports?.() ?? [],
    },
  }
}

/** Signs the challenge that the API gives at this path: what the API takes. */
export async function sign(path: string): Promise<object> {
  const options = await post<PasskeyOptionsAnswer & Record<string, unknown>>(path)
  const signed = (await navigator.credentials
    .get({
      publicKey: {
        ...(options as unknown as PublicKeyCredentialRequestOptions),
        challenge: bytes(options.challenge),
        allowCredentials: credentials(options.allowCredentials),
      },
    })
    .catch((error: unknown) => {
      throw said(error)
    })) as PublicKeyCredential
  const response = signed.response as AuthenticatorAssertionResponse
  return {
    id: signed.id,
    rawId: text(signed.rawId),
    type: signed.type,
    response: {
      clientDataJSON: text(response.clientDataJSON),
      authenticatorData: text(response.authenticatorData),
      signature: text(response.signature),
      userHandle: response.userHandle && text(response.userHandle),
    },
  }
}
