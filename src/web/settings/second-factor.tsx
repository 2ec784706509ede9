import { useState } from 'preact/hooks'
import type { RecoveryCodesAnswer, TwoFactorStatusAnswer } from '../../doors/answers/two-factor.ts'
import { get, post } from '../lib/api.ts'
import { momentText } from '../lib/format.ts'
import { useProject, useSession } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { Form, Refused, textOf } from '../ui/forms.tsx'
import { Working } from '../ui/parts.tsx'
import { CodeField, factorApi, RecoveryCodes, SecondFactorSetup } from './second-factor-setup.tsx'

type Doing = 'setup' | 'codes' | 'off'

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
  const names = status?.required_by.map(({ name }) => name).join(', ')
  return (
    <section class="block" id="second-factor">
      <h2>Second factor</h2>
      {error && <Refused error={error} retry={reload} />}
      {!status && !error && <Working what="Reading the second factor" />}
      {status && (
        <>
          <p>
            {status.is_enabled ? <span class="state good">on</span> : <span class="state">off</span>}{' '}
            {status.is_enabled
              ? `Signing in takes a code of your authenticator app${status.enabled_at ? `, since ${momentText(status.enabled_at, timezone)}` : ''}. ${status.recovery_codes_left} recovery codes are left.`
              : 'Beside your password, signing in can take a code that an app on your phone shows.'}
          </p>
          {requires2fa.length > 0 && (
            <p class="hint">{requires2fa.map(({ name }) => name).join(', ')} shows you nothing until you have set it up.</p>
          )}
          {codes && <RecoveryCodes codes={codes} onDone={() => void done()} />}
          {!codes && (!status.is_enabled || doing === 'setup') && (
            <SecondFactorSetup isAnother={status.is_enabled} onDone={() => void done()} />
          )}
          {!codes && doing === 'codes' && (
            <Form
              submit="Make new recovery codes"
              send={async (form) =>
                setCodes((await post<RecoveryCodesAnswer>(factorApi('recovery_codes'), { token: textOf(form, 'token') })).recovery_codes)
              }
            >
              <p class="note">The present ones stop working.</p>
              <CodeField isAny />
            </Form>
          )}
          {doing === 'off' && (
            <Form isDanger submit="Turn off" send={(form) => post(factorApi('disable'), { token: textOf(form, 'token') }).then(done)}>
              <p class="note">Your password alone will be enough again.</p>
              <CodeField isAny />
            </Form>
          )}
          {status.is_enabled && doing === null && (
            <div class="row">
              <button type="button" onClick={() => setDoing('codes')}>
                New recovery codes
              </button>
              <button type="button" onClick={() => setDoing('setup')}>
                Another app
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
  )
}
