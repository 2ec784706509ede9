import { useState } from 'preact/hooks'
import type { RecoveryCodesAnswer, TwoFactorSetupAnswer } from '../../doors/answers/two-factor.ts'
import { post } from '../lib/api.ts'
import { useFocus } from '../lib/use-focus.ts'
import { Form, Refused, TextField, textOf } from '../ui/forms.tsx'
import { CopyButton } from '../ui/parts.tsx'
import { PasskeyButton } from '../ui/passkey-button.tsx'
import { QrPicture } from './qr-picture.tsx'

// Setting up an authenticator app, in Settings and on the page of those who must.

export const factorApi = (what: string) => `api/users/@me/two_factor_${what}/`

/** The field for a code of the app; `isAny`: or a recovery code. */
export function CodeField({ label = 'Code', isAny = false }: { label?: string; isAny?: boolean }) {
  const ref = useFocus<HTMLDivElement>()
  return (
    <div ref={ref}>
      <TextField
        name="token"
        label={label}
        hint={isAny ? 'Six digits of your authenticator app, or a recovery code.' : 'Six digits of your authenticator app.'}
        required
        autocomplete="one-time-code"
        maxLength={64}
      />
    </div>
  )
}

/** Recovery codes, which are shown once. */
export function RecoveryCodes({ codes, onDone }: { codes: readonly string[]; onDone: () => void }) {
  const text = codes.join('\n')
  const save = () => {
    const url = URL.createObjectURL(new Blob([`Recovery codes for Waymark at ${location.host}. Each works once.\n\n${text}\n`]))
    Object.assign(document.createElement('a'), { href: url, download: 'waymark-recovery-codes.txt' }).click()
    URL.revokeObjectURL(url)
  }
  return (
    <div class="once" role="status">
      <p>
        Signing in takes your second factor from now on. These recovery codes do the same without it, each of them once. Keep them where you
        find them without your phone: they are not shown again.
      </p>
      <ul class="codes" aria-label="Recovery codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div class="row">
        <CopyButton text={text} label="Copy codes" />
        <button type="button" onClick={save}>
          Download
        </button>
        <button type="button" class="primary" onClick={onDone}>
          I have saved them
        </button>
      </div>
    </div>
  )
}

/** `isAnother`: there is a second factor already, which is needed first. */
export function SecondFactorSetup({
  isAnother = false,
  hasPasskeys = false,
  onDone,
}: {
  isAnother?: boolean
  hasPasskeys?: boolean
  onDone: () => void
}) {
  const [setup, setSetup] = useState<TwoFactorSetupAnswer | null>(null)
  const [codes, setCodes] = useState<readonly string[] | null>(null)
  const begin = async (body: object) => setSetup(await post<TwoFactorSetupAnswer>(factorApi('start_setup'), body))
  if (codes) return <RecoveryCodes codes={codes} onDone={onDone} />
  if (!setup)
    return (
      <>
        {hasPasskeys && (
          <PasskeyButton
            label="Continue with a passkey"
            refused={(error) => <Refused error={error} />}
            sign={async (passkeys) => begin({ passkey: await passkeys.sign('api/users/@me/passkeys/prove/') })}
          />
        )}
        <Form
          key="begin"
          submit={isAnother ? 'Continue' : 'Set up an authenticator app'}
          send={(form) => begin(isAnother ? { token: textOf(form, 'token') } : {})}
        >
          {isAnother && <CodeField label="Code of the present app, or a recovery code" isAny />}
        </Form>
      </>
    )
  return (
    <>
      <p>Scan this picture with an authenticator app, or type the key into it. Then enter the code that it shows.</p>
      <QrPicture text={setup.uri} label="QR picture for the authenticator app" />
      <p>The key, for apps without a camera:</p>
      <div class="row">
        <code class="secret">{setup.secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
        <CopyButton text={setup.secret} label="Copy key" />
      </div>
      <Form
        key="confirm"
        submit="Confirm"
        send={async (form) =>
          setCodes((await post<RecoveryCodesAnswer>(factorApi('validate'), { token: textOf(form, 'token') })).recovery_codes)
        }
      >
        <CodeField />
      </Form>
    </>
  )
}
