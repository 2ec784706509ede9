import { post } from '../lib/api.ts'
import { go } from '../lib/router.ts'
import { Card, useSending } from './sign-in.tsx'

/** `#/confirm/<secret>`, where links lead that prove an address. The user is signed in. */
export function ConfirmAddress({ secret, onDone }: { secret: string; onDone: () => void }) {
  const { onSubmit, isSending, elsewhere } = useSending(async () => {
    await post('api/users/@me/confirm_email/', { token: secret })
    go('#/', true)
    onDone()
  })
  return (
    <Card title="Confirm your address">
      <form onSubmit={onSubmit}>
        {elsewhere([]) && (
          <p class="field-error" role="alert">
            {elsewhere([])}
          </p>
        )}
        <button type="submit" class="primary" disabled={isSending}>
          Confirm
        </button>
      </form>
      <p>
        <a href="#/">Not now</a>
      </p>
    </Card>
  )
}
