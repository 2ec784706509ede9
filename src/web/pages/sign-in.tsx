import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { PrecheckAnswer, WayAnswer, WaysAnswer } from '../../doors/answers/login.ts'
import type { SecondStepAnswer } from '../../doors/answers/two-factor.ts'
import { ApiError, get, needsCode, post } from '../lib/api.ts'
import { useFocus } from '../lib/use-focus.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { Flag } from '../ui/icon.tsx'
import { Field } from '../ui/parts.tsx'
import { PasskeyButton } from '../ui/passkey-button.tsx'

export const value = (form: HTMLFormElement, name: string) => String(new FormData(form).get(name) ?? '')

/** Sends a form and shows what the API refuses at its field. */
export function useSending(send: (form: HTMLFormElement) => Promise<void>) {
  const [error, setError] = useState<Error | null>(null)
  const [isSending, setSending] = useState(false)
  const onSubmit = async (event: SubmitEvent) => {
    event.preventDefault()
    setSending(true)
    setError(null)
    await send(event.currentTarget as HTMLFormElement).catch(setError)
    setSending(false)
  }
  const at = (field: string) => (error instanceof ApiError && error.attr === field ? error.message : null)
  const elsewhere = (fields: readonly string[]) =>
    error && !(error instanceof ApiError && fields.includes(error.attr ?? '')) ? error.message : null
  return { onSubmit: (event: SubmitEvent) => void onSubmit(event), isSending, at, elsewhere }
}

export function Card({ title, children }: { title: string; children: ComponentChildren }) {
  useEffect(() => {
    document.title = `${title} · Waymark`
  }, [])
  return (
    <main class="card">
      <p class="brand">
        <Flag />
        Waymark
      </p>
      <h1>{title}</h1>
      {children}
    </main>
  )
}

/** The second step of signing in. `onAgain`: back to the password. */
export function CodeStep({ onDone, onAgain }: { onDone: () => void; onAgain: () => void }) {
  const { onSubmit, isSending, elsewhere } = useSending(async (form) => {
    await post('api/login/token/', { token: value(form, 'token') })
    onDone()
  })
  const form = useFocus<HTMLFormElement>()
  const { value: ways } = useLoaded((signal) => get<SecondStepAnswer>('api/login/token/', signal), [])
  const hasPasskey = ways !== null && ways.passkeys > 0
  return (
    <Card title="Second factor">
      {hasPasskey && (
        <PasskeyButton
          label="Use a passkey"
          sign={async (passkeys) => {
            const passkey = await passkeys.sign('api/login/token/passkey/')
            await post('api/login/token/', { passkey })
            onDone()
          }}
        />
      )}
      <form onSubmit={onSubmit} ref={form}>
        <Field
          label="Code"
          error={elsewhere([])}
          hint={
            ways?.app === false
              ? 'One of your recovery codes, each of which works once.'
              : 'Six digits of your authenticator app. Without it: one of your recovery codes, each of which works once.'
          }
        >
          {(id) => (
            <input id={id} name="token" autocomplete="one-time-code" autocapitalize="none" spellcheck={false} required maxLength={64} />
          )}
        </Field>
        <button type="submit" class="primary" disabled={isSending}>
          Sign in
        </button>
      </form>
      <p>
        <button type="button" class="plain link" onClick={onAgain}>
          Back to the password
        </button>
      </p>
      <p class="note">
        Lost everything? The owner of your organization can reset the second factor, and so can the operator of the server.
      </p>
    </Card>
  )
}

/** Leads to identity providers. `more`: what they pass on. */
export function ProviderLinks({ ways, more = {} }: { ways: readonly WayAnswer[]; more?: Readonly<Record<string, string>> }) {
  const search = Object.keys(more).length > 0 ? `?${new URLSearchParams(more)}` : ''
  return (
    <>
      {ways.map(({ id, name, path }) => (
        <p key={id}>
          <a class="provider" href={path + search}>
            Continue with {name}
          </a>
        </p>
      ))}
    </>
  )
}
const methodNames: Readonly<Record<string, string>> = { 'google-oauth2': 'Google', github: 'GitHub', gitlab: 'GitLab', saml: 'SAML' }
/** The domain of the address requires a provider. */
export function Required({
  found,
  more,
}: {
  found: Pick<PrecheckAnswer, 'sso_enforcement' | 'providers'>
  more: Readonly<Record<string, string>>
}) {
  const method = methodNames[found.sso_enforcement ?? ''] ?? 'an identity provider'
  return (
    <div role="status">
      <p>Your organization requires that you sign in with {method}.</p>
      <ProviderLinks ways={found.providers} more={more} />
      {found.providers.length === 0 && (
        <p class="note">It is not set up on this server yet. Ask an administrator of your organization, or the operator of the server.</p>
      )}
    </div>
  )
}

const isEnforced = (error: unknown) => error instanceof ApiError && error.code === 'sso_enforced'
/** The page that somebody wanted to see. */
const nextPage = (): Record<string, string> => {
  const page = location.hash.slice(1)
  return /^\/(?:project|signup)\//.test(page) ? { next: page } : {}
}

export function SignIn({ onDone, isJoining = false }: { onDone: () => void; isJoining?: boolean }) {
  const [isWaiting, setWaiting] = useState(false)
  const [hasPassword, setHasPassword] = useState(false)
  const [offered, setOffered] = useState<readonly WayAnswer[]>([])
  const [email, setEmail] = useState('')
  const [found, setFound] = useState<PrecheckAnswer | null>(null)
  useEffect(() => {
    void get<WaysAnswer>('api/login/').then(
      ({ is_waiting, providers }) => {
        setWaiting(is_waiting)
        setOffered(providers)
      },
      () => {},
    )
  }, [])
  const look = async (address: string) => {
    setEmail(address)
    setFound(address.includes('@') ? await post<PrecheckAnswer>('api/login/precheck/', { email: address }) : null)
  }
  const { onSubmit, isSending, elsewhere } = useSending(async (form) => {
    if (found?.sso_enforcement != null) return look(value(form, 'email'))
    try {
      await post('api/login/', { email: value(form, 'email'), password: value(form, 'password') })
    } catch (error) {
      if (isEnforced(error)) return look(value(form, 'email'))
      if (!needsCode(error)) throw error
      return setHasPassword(true)
    }
    onDone()
  })
  if (hasPassword) return <CodeStep onDone={onDone} onAgain={() => setHasPassword(false)} />
  const isRequired = found !== null && found.sso_enforcement !== null
  const more = { ...nextPage(), ...(email !== '' && { email }) }
  return (
    <Card title="Sign in">
      {isWaiting && (
        <p class="hint">
          This server is new: nobody has a password yet. Open the link that the terminal shows beside <b>Choose a password</b>.
        </p>
      )}
      {isJoining && <p class="hint">The address of the invitation has an account. Sign in with it to join.</p>}
      <form onSubmit={onSubmit}>
        <Field label="E-mail address">
          {(id) => (
            <input
              id={id}
              name="email"
              type="email"
              autocomplete="username"
              required
              autofocus
              onChange={(event) => void look(event.currentTarget.value.trim()).catch(() => setFound(null))}
            />
          )}
        </Field>
        {isRequired ? (
          <Required found={found} more={more} />
        ) : (
          <>
            <Field label="Password" error={elsewhere([])}>
              {(id) => <input id={id} name="password" type="password" autocomplete="current-password" required />}
            </Field>
            <button type="submit" class="primary" disabled={isSending}>
              Sign in
            </button>
          </>
        )}
      </form>
      {!isRequired && (
        <PasskeyButton
          label="Sign in with a passkey"
          sign={async (passkeys) => {
            const passkey = await passkeys.sign('api/login/passkey/begin/')
            await post('api/login/passkey/', { passkey })
            onDone()
          }}
        />
      )}
      {!isRequired && <ProviderLinks ways={found?.providers ?? offered} more={more} />}
      <p>
        <a href="#/forgot">Forgot your password?</a>
      </p>
    </Card>
  )
}
