import type { ComponentChildren } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import type { InvitationAnswer, PrecheckAnswer, SetupAnswer, WayAnswer, WaysAnswer } from '../../doors/answers/login.ts'
import type { MeAnswer } from '../../doors/answers/users.ts'
import { ApiError, beginSession, get, needsCode, post, signOut } from '../lib/api.ts'
import { go } from '../lib/router.ts'
import { useFocus } from '../lib/use-focus.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { browserZone, knownZones } from '../lib/zones.ts'
import { ErrorBox, Field, Working } from '../ui/parts.tsx'

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
      <p class="brand">Waymark</p>
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
  return (
    <Card title="Second factor">
      <form onSubmit={onSubmit} ref={form}>
        <Field
          label="Code"
          error={elsewhere([])}
          hint="Six digits of your authenticator app. Without it: one of your recovery codes, each of which works once."
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
      <p class="note">Lost both? The owner of your organization can reset the second factor, and so can the operator of the server.</p>
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
function Required({
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
    void get<SetupAnswer>('api/setup/').then(
      ({ is_waiting }) => setWaiting(is_waiting),
      () => {},
    )
    void get<WaysAnswer>('api/login/').then(
      ({ providers }) => setOffered(providers),
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
      {!isRequired && <ProviderLinks ways={found?.providers ?? offered} more={more} />}
      <p>
        <a href="#/forgot">Forgot your password?</a>
      </p>
    </Card>
  )
}

export function Setup({ secret, onDone }: { secret: string; onDone: () => void }) {
  const fields = ['first_name', 'email', 'password', 'organization_name', 'timezone']
  const zones = useId()
  const { onSubmit, isSending, at, elsewhere } = useSending(async (form) => {
    const organization = value(form, 'organization_name').trim()
    await post('api/setup/', {
      secret,
      first_name: value(form, 'first_name'),
      email: value(form, 'email'),
      password: value(form, 'password'),
      timezone: value(form, 'timezone').trim() || browserZone(),
      ...(organization !== '' && { organization_name: organization }),
    })
    go('#/', true)
    onDone()
  })
  return (
    <Card title="Welcome">
      <p>You are the first one here: the owner. Choose how you sign in.</p>
      <form onSubmit={onSubmit}>
        <Field label="Your name" error={at('first_name')}>
          {(id) => <input id={id} name="first_name" autocomplete="given-name" required autofocus maxLength={128} />}
        </Field>
        <Field label="E-mail address" error={at('email')}>
          {(id) => <input id={id} name="email" type="email" autocomplete="username" required />}
        </Field>
        <Field label="Password" error={at('password')} hint="At least 8 characters">
          {(id) => <input id={id} name="password" type="password" autocomplete="new-password" required minLength={8} />}
        </Field>
        <Field label="Organization (optional)" error={at('organization_name')}>
          {(id) => <input id={id} name="organization_name" autocomplete="organization" maxLength={64} />}
        </Field>
        <Field label="Time zone" error={at('timezone')} hint="Days and weeks of all charts begin in it. Settings can change it.">
          {(id) => <input id={id} name="timezone" defaultValue={browserZone()} list={zones} autocomplete="off" required />}
        </Field>
        <datalist id={zones}>
          {knownZones.map((zone) => (
            <option key={zone} value={zone} />
          ))}
        </datalist>
        {elsewhere(fields) && (
          <p class="field-error" role="alert">
            {elsewhere(fields)}
          </p>
        )}
        <button type="submit" class="primary" disabled={isSending}>
          Begin
        </button>
      </form>
    </Card>
  )
}

/** `#/signup/<secret>`, where invitations lead. `user`: who is signed in already, and joins as that. */
export function Join({ secret, user, onDone }: { secret: string; user: MeAnswer | null; onDone: () => void }) {
  const path = `api/signup/${encodeURIComponent(secret)}/`
  const { value: invitation, error } = useLoaded((signal) => get<InvitationAnswer>(path, signal), [path])
  const { onSubmit, isSending, at, elsewhere } = useSending(async (form) => {
    await post(path, user ? {} : { first_name: value(form, 'first_name'), password: value(form, 'password') })
    go('#/', true)
    onDone()
  })
  // Who has an account signs in first; the address stays, so that this page comes back.
  if (error instanceof ApiError && error.code === 'account_exists') return <SignIn onDone={onDone} isJoining />
  if (error)
    return (
      <Card title="Invitation">
        <ErrorBox error={error} />
        {error instanceof ApiError && error.code === 'invalid_recipient' && (
          <p>
            You are signed in as {user?.email}.{' '}
            <button
              type="button"
              class="plain link"
              onClick={() =>
                void signOut()
                  .catch(() => undefined)
                  .then(beginSession)
                  .then(onDone)
              }
            >
              Sign out to accept it
            </button>
          </p>
        )}
        <p>
          <a href="#/">Go to the first page</a>
        </p>
      </Card>
    )
  if (!invitation)
    return (
      <Card title="Invitation">
        <Working what="Reading the invitation" />
      </Card>
    )
  const fields = ['first_name', 'password']
  if (!user && invitation.sso_enforcement !== null)
    return (
      <Card title={`Join ${invitation.organization_name}`}>
        <p>The invitation is for {invitation.target_email}.</p>
        <Required found={invitation} more={{ invite: secret }} />
      </Card>
    )
  return (
    <Card title={`Join ${invitation.organization_name}`}>
      <p>{user ? `You are signed in as ${user.email}.` : `The invitation is for ${invitation.target_email}.`}</p>
      {!user && <ProviderLinks ways={invitation.providers} more={{ invite: secret }} />}
      <form onSubmit={onSubmit}>
        {!user && (
          <>
            <Field label="Your name" error={at('first_name')}>
              {(id) => (
                <input
                  id={id}
                  name="first_name"
                  autocomplete="given-name"
                  required
                  autofocus
                  maxLength={128}
                  defaultValue={invitation.first_name}
                />
              )}
            </Field>
            <Field label="Password" error={at('password')} hint="At least 8 characters">
              {(id) => <input id={id} name="password" type="password" autocomplete="new-password" required minLength={8} />}
            </Field>
          </>
        )}
        {elsewhere(user ? [] : fields) && (
          <p class="field-error" role="alert">
            {elsewhere(user ? [] : fields)}
          </p>
        )}
        <button type="submit" class="primary" disabled={isSending}>
          Join
        </button>
      </form>
    </Card>
  )
}
