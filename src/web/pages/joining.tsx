import type { InvitationAnswer } from '../../doors/answers/login.ts'
import type { MeAnswer } from '../../doors/answers/users.ts'
import { ApiError, beginSession, get, post, signOut } from '../lib/api.ts'
import { go } from '../lib/router.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { browserZone } from '../lib/zones.ts'
import { ErrorBox, Field, Working } from '../ui/parts.tsx'
import { ZoneInput } from '../ui/zone-input.tsx'
import { Card, ProviderLinks, Required, SignIn, useSending, value } from './sign-in.tsx'

// Pages that somebody opens once: the first owner, and who is invited.

export function Setup({ secret, onDone }: { secret: string; onDone: () => void }) {
  const fields = ['first_name', 'email', 'password', 'organization_name', 'timezone']
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
          {(id) => <ZoneInput id={id} name="timezone" label="Time zone" value={browserZone()} />}
        </Field>
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
