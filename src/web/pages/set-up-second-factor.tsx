import type { MeAnswer, SessionAnswer } from '../../doors/answers/users.ts'
import { beginSession, signOut } from '../lib/api.ts'
import { UserProvider } from '../lib/session.ts'
import { AddPasskey } from '../settings/passkeys.tsx'
import { SecondFactorSetup } from '../settings/second-factor-setup.tsx'
import { Card } from './sign-in.tsx'

/** What a user sees whose organizations all require a second factor, until there is one. */
export function SetUpSecondFactor({
  user,
  requiredBy,
  onDone,
}: {
  user: MeAnswer
  requiredBy: SessionAnswer['requires_2fa']
  onDone: () => void
}) {
  const leave = () =>
    signOut()
      .catch(() => undefined)
      .then(beginSession)
      .then(onDone)
  return (
    <Card title="Set up a second factor">
      <p>
        {requiredBy.map(({ name }) => name).join(', ')} {requiredBy.length === 1 ? 'requires' : 'require'} a second factor: beside your
        password, signing in takes a code that an app on your phone shows, or a passkey. Until then nothing else is open, and your API keys
        are refused.
      </p>
      <UserProvider value={user}>
        <SecondFactorSetup onDone={onDone} />
        <h2>Or a passkey</h2>
        <AddPasskey onDone={onDone} />
      </UserProvider>
      <p>
        You are signed in as {user.email}.{' '}
        <button type="button" class="plain link" onClick={() => void leave()}>
          Sign out
        </button>
      </p>
    </Card>
  )
}
