import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { refusalInWords } from '../lib/refusal-words.ts'
import { ErrorBox } from './parts.tsx'

/** Passkeys are bound to names, and to pages that nobody on the way can change. */
export const hasPasskeys = (): boolean => window.isSecureContext && 'PublicKeyCredential' in window && !/^[\d.]+$|:/.test(location.hostname)

type Passkeys = typeof import('../settings/passkey-calls.ts')

/** Asks the authenticator when it is pressed; where there are no passkeys there is no button. */
export function PasskeyButton({
  label,
  sign,
  isDanger = false,
  refused = (error) => <ErrorBox error={error} text={refusalInWords(error)} isReply />,
}: {
  label: string
  isDanger?: boolean
  refused?: (error: Error) => VNode
  sign: (passkeys: Passkeys) => Promise<void>
}) {
  const [error, setError] = useState<Error | null>(null)
  const [isBusy, setBusy] = useState(false)
  if (!hasPasskeys()) return null
  const press = async () => {
    setBusy(true)
    setError(null)
    await import('../settings/passkey-calls.ts').then(sign).catch(setError)
    setBusy(false)
  }
  return (
    <>
      <p>
        <button type="button" class={isDanger ? 'danger' : undefined} disabled={isBusy} onClick={() => void press()}>
          {label}
        </button>
      </p>
      {error && refused(error)}
    </>
  )
}
