import { useState } from 'preact/hooks'
import type { RecoveryCodesAnswer, TwoFactorStatusAnswer } from '../../doors/answers/two-factor.ts'
import { get, post } from '../lib/api.ts'
import { momentText } from '../lib/format.ts'
import { useProject, useSession } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { Form, Refused, textOf } from '../ui/forms.tsx'
import { Working } from '../ui/parts.tsx'
import { PasskeyButton } from '../ui/passkey-button.tsx'
import { PasskeysSection, passkeysPath } from './passkeys.tsx'
import { CodeField, factorApi, RecoveryCodes, SecondFactorSetup } from './second-factor-setup.tsx'

type Doing = 'setup' | 'codes' | 'off'

const factorsText = ({ has_app, passkeys }: TwoFactorStatusAnswer): string => {
  if (!has_app) return 'a passkey'
  return passkeys === 0 ? 'a code of your authenticator app' : 'a code of your authenticator app, or a passkey'
}

/** The second factor of the own account. */
export function SecondFactorSection() {
  const { reload: reloadSession, requires2fa } = useSession()
  const { timezone } = useProject()
  const { value: status, error, reload } = useLoaded((signal) => get<TwoFactorStatusAnswer>(factorApi('status'), signal), [])
  const [doing, setDoing] = useState<Doing | null>(null)
  const [codes, setCodes] = useState<readonly string[] | null>(null)
  const done = async () => {
    setDoing(null)
    setCodes(null)
    reload()
    await reloadSession()
  }
  /** In place of a code. */
  const proof = (label: string, send: (passkey: object) => Promise<unknown>, isDanger = false) =>
    status &&
    status.passkeys > 0 && (
      <PasskeyButton
        label={label}
        isDanger={isDanger}
        refused={(error) => <Refused error={error} />}
        sign={async (passkeys) => void (await send(await passkeys.sign(`${passkeysPath}prove/`)))}
      />
    )
  const newCodes = async (body: object) => setCodes((await post<RecoveryCodesAnswer>(factorApi('recovery_codes'), body)).recovery_codes)
  const names = status?.required_by.map(({ name }) => name).join(', ')
  return (
    <>
      <section class="block" id="second-factor">
        <h2>Second factor</h2>
        {error && <Refused error={error} retry={reload} />}
        {!status && !error && <Working what="Reading the second factor" />}
        {status && (
          <>
            <p>
              {status.is_enabled ? <span class="state good">on</span> : <span class="state">off</span>}{' '}
              {status.is_enabled
                ? `Signing in takes ${factorsText(status)}${status.enabled_at ? `, since ${momentText(status.enabled_at, timezone)}` : ''}. ${status.recovery_codes_left} recovery codes are left.`
                : 'Beside your password, signing in can take a code that an app on your phone shows, or a passkey.'}
            </p>
            {requires2fa.length > 0 && (
              <p class="hint">{requires2fa.map(({ name }) => name).join(', ')} shows you nothing until you have set it up.</p>
            )}
            {codes && <RecoveryCodes codes={codes} onDone={() => void done()} />}
            {!codes && (!status.is_enabled || doing === 'setup') && (
              <SecondFactorSetup isAnother={status.is_enabled} hasPasskeys={status.passkeys > 0} onDone={() => void done()} />
            )}
            {!codes && doing === 'codes' && (
              <>
                {proof('Use a passkey for new recovery codes', (passkey) => newCodes({ passkey }))}
                <Form submit="Make new recovery codes" send={(form) => newCodes({ token: textOf(form, 'token') })}>
                  <p class="note">The present ones stop working.</p>
                  <CodeField isAny />
                </Form>
              </>
            )}
            {doing === 'off' && (
              <>
                {proof('Turn off with a passkey', (passkey) => post(factorApi('disable'), { passkey }).then(done), true)}
                <Form isDanger submit="Turn off" send={(form) => post(factorApi('disable'), { token: textOf(form, 'token') }).then(done)}>
                  <p class="note">Your password alone will be enough again. The app, your passkeys and recovery codes are removed.</p>
                  <CodeField isAny />
                </Form>
              </>
            )}
            {status.is_enabled && doing === null && (
              <div class="row">
                <button type="button" onClick={() => setDoing('codes')}>
                  New recovery codes
                </button>
                <button type="button" onClick={() => setDoing('setup')}>
                  {status.has_app ? 'Another app' : 'Set up an authenticator app, too'}
                </button>
                {status.required_by.length === 0 && (
                  <button type="button" class="danger-text" onClick={() => setDoing('off')}>
                    Turn off…
                  </button>
                )}
              </div>
            )}
            {doing !== null && !codes && (
              <button type="button" class="plain link" onClick={() => setDoing(null)}>
                Not now
              </button>
            )}
            {status.is_enabled && status.required_by.length > 0 && <p class="note">{names} requires it, so it cannot be turned off.</p>}
          </>
        )}
      </section>
      {status && <PasskeysSection key={String(status.is_enabled)} onChanged={() => void done()} />}
    </>
  )
}
