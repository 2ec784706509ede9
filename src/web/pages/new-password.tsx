import { useState } from 'preact/hooks'
import type { PasswordSetAnswer } from '../../doors/answers/login.ts'
import { get, needsCode, post } from '../lib/api.ts'
import { sendsMail } from '../lib/mail.ts'
import { go } from '../lib/router.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { ErrorBox, Field, Working } from '../ui/parts.tsx'
import { Card, CodeStep, useSending, value } from './sign-in.tsx'

const BackToSignIn = () => (
  <p>
    <a href="#/">Back to sign-in</a>
  </p>
)

/** `#/forgot`: asks for a link by mail. */
export function ForgotPassword() {
  const { value: hasMail, error } = useLoaded(sendsMail, [])
  const [sentTo, setSentTo] = useState<string | null>(null)
  const { onSubmit, isSending, elsewhere } = useSending(async (form) => {
    const email = value(form, 'email').trim()
    await post('api/reset/', { email })
    setSentTo(email)
  })
  return (
    <Card title="New password">
      {error && <ErrorBox error={error} />}
      {hasMail === null && !error && <Working />}
      {hasMail === false && (
        <p>
          This server sends no mail. Ask its operator for a link: <code>waymark users link --email YOU@EXAMPLE.COM</code> prints one.
        </p>
      )}
      {hasMail && sentTo === null && (
        <form onSubmit={onSubmit}>
          <Field label="E-mail address" error={elsewhere([])}>
            {(id) => <input id={id} name="email" type="email" autocomplete="username" required autofocus maxLength={254} />}
          </Field>
          <button type="submit" class="primary" disabled={isSending}>
            Send me a link
          </button>
        </form>
      )}
      {sentTo !== null && (
        <p role="status">
          If {sentTo} has an account here, a mail is on its way. Its link is valid for one hour. Nothing arrived? Look into the spam folder,
          and check the address.
        </p>
      )}
      <BackToSignIn />
    </Card>
  )
}

/** `#/reset/<user>/<secret>`, where links for a new password lead. */
export function NewPassword({ user, secret, onDone }: { user: string; secret: string; onDone: () => void }) {
  const path = `api/reset/${encodeURIComponent(user)}/`
  const { error, isLoading } = useLoaded(
    (signal) => get(`${path}?${new URLSearchParams({ token: secret })}`, signal).then(() => true),
    [path, secret],
  )
  const [hasPassword, setHasPassword] = useState(false)
  const leave = () => {
    go('#/', true)
    onDone()
  }
  const { onSubmit, isSending, at, elsewhere } = useSending(async (form) => {
    const password = value(form, 'password')
    const { email } = await post<PasswordSetAnswer>(path, { token: secret, password })
    // The link is used up: if this login fails, the next page asks for the password.
    const failure = await post('api/login/', { email, password }).catch((error: unknown) => error)
    if (needsCode(failure)) setHasPassword(true)
    else leave()
  })
  if (hasPassword) return <CodeStep onDone={leave} onAgain={leave} />
  if (error)
    return (
      <Card title="New password">
        <ErrorBox error={error} />
        <p>
          <a href="#/forgot">Get another link</a>
        </p>
        <BackToSignIn />
      </Card>
    )
  return (
    <Card title="New password">
      {isLoading ? (
        <Working what="Checking the link" />
      ) : (
        <form onSubmit={onSubmit}>
          <p>You will be signed out everywhere else. Personal API keys stay valid if your address was confirmed before.</p>
          <Field label="New password" error={at('password')} hint="At least 8 characters">
            {(id) => (
              <input
                id={id}
                name="password"
                type="password"
                autocomplete="new-password"
                required
                autofocus
                minLength={8}
                maxLength={1024}
              />
            )}
          </Field>
          {elsewhere(['password']) && (
            <p class="field-error" role="alert">
              {elsewhere(['password'])}
            </p>
          )}
          <button type="submit" class="primary" disabled={isSending}>
            Set the password
          </button>
        </form>
      )}
    </Card>
  )
}
