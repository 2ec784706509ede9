import { useState } from 'preact/hooks'
import type { MeAnswer } from '../../doors/answers/users.ts'
import { post } from '../lib/api.ts'
import { go } from '../lib/router.ts'
import { Card, useSending } from './sign-in.tsx'

/** `#/confirm/<secret>`, where links lead that prove an address. The user is signed in. */
export function ConfirmAddress({ secret, onDone }: { secret: string; onDone: () => void }) {
  const [waiting, setWaiting] = useState<MeAnswer | null>(null)
  const { onSubmit, isSending, elsewhere } = useSending(async () => {
    const me = await post<MeAnswer>('api/users/@me/confirm_email/', { token: secret })
    if (me.pending_email !== null) return setWaiting(me)
    go('#/', true)
    onDone()
  })
  if (waiting)
    return (
      <Card title="Confirm your address">
        <p role="status">
          Confirmed. Your address changes from {waiting.email} to {waiting.pending_email} when the link in the other mailbox is opened, too.
        </p>
        <p>
          <a href="#/">Go to the first page</a>
        </p>
      </Card>
    )
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
