import { useState } from 'preact/hooks'
import type { OrganizationAnswer } from '../../doors/answers/organizations.ts'
import type { KeyAnswer } from '../../doors/answers/personal-keys.ts'
import { get, patch, post, remove } from '../lib/api.ts'
import { counted, momentText } from '../lib/format.ts'
import { sendsMail } from '../lib/mail.ts'
import { go } from '../lib/router.ts'
import { useProject, useSession } from '../lib/session.ts'
import { applyTheme, storedTheme, type Theme } from '../lib/theme.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { browserZone } from '../lib/zones.ts'
import { CheckField, ConfirmButton, Form, isChecked, Refused, TextField, textOf, useAction, ZoneField } from '../ui/forms.tsx'
import { CopyButton, Empty, Select, Working } from '../ui/parts.tsx'
import { NewKey } from './new-key.tsx'
import { useOrganization } from './organization-of.ts'
import { SignInSections } from './password.tsx'
import { SecondFactorSection } from './second-factor.tsx'

const themes = [
  { value: 'system', label: 'As the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
]

export function AccountSection() {
  const { user } = useSession()
  const [theme, setTheme] = useState<Theme>(storedTheme())
  return (
    <>
      {user.issuer === null ? <OwnAccount /> : <HostAccount issuer={user.issuer} />}
      <section class="block">
        <h2>Appearance</h2>
        <Select
          label="Colours"
          isHidden={false}
          value={theme}
          options={themes}
          onChange={(value) => {
            setTheme(value as Theme)
            applyTheme(value as Theme)
          }}
        />
      </section>
    </>
  )
}

/** Name, address and sign-in are in the hands of the application. */
function HostAccount({ issuer }: { issuer: string }) {
  const { user } = useSession()
  return (
    <section class="block">
      <h2>Your account</h2>
      <p>
        {user.first_name} {user.email.endsWith('.invalid') ? '' : user.email}
      </p>
      <p class="note">{issuer} signs you in and out, and sets your name, your address and your level.</p>
    </section>
  )
}

function OwnAccount() {
  const { user, reload } = useSession()
  return (
    <>
      <section class="block">
        <h2>Your account</h2>
        <Form
          submit="Save"
          done="Saved"
          send={async (form) => {
            const email = textOf(form, 'email')
            const current_password = new FormData(form).get('own_password')
            await patch('api/users/@me/', {
              first_name: textOf(form, 'first_name'),
              last_name: textOf(form, 'last_name'),
              email,
              ...(email !== user.email && current_password ? { current_password } : {}),
            })
            await reload()
          }}
        >
          <TextField name="first_name" label="First name" value={user.first_name} maxLength={150} autocomplete="given-name" />
          <TextField name="last_name" label="Last name" value={user.last_name} maxLength={150} autocomplete="family-name" />
          <TextField name="email" type="email" label="E-mail address" value={user.email} required autocomplete="email" />
          {user.has_password && (
            <TextField
              name="own_password"
              of="current_password"
              type="password"
              label="Your password, to change the address"
              autocomplete="current-password"
              maxLength={1024}
            />
          )}
        </Form>
        <AddressState />
      </section>
      <SecondFactorSection />
      <SignInSections />
    </>
  )
}

/** Whether the address is confirmed, and which one replaces it. */
function AddressState() {
  const { user } = useSession()
  const { act, failure } = useAction()
  const [isAsked, setAsked] = useState(false)
  const { value: hasMail } = useLoaded(sendsMail, [])
  const byOperator = (address: string) => (
    <>
      The operator of the server confirms it: <code>waymark users confirm --email {address}</code>
    </>
  )
  if (user.pending_email !== null)
    return (
      <p class="note" role="status">
        {user.pending_email} becomes your address when it is confirmed.{' '}
        {hasMail === false
          ? byOperator(user.pending_email)
          : user.is_email_verified
            ? `Links were mailed to it and to ${user.email}: open both.`
            : 'A link was mailed to it.'}
      </p>
    )
  if (user.is_email_verified) return null
  return (
    <div class="note">
      <p>
        Your address is not confirmed. When a link for a new password confirms it first, your API keys, memberships and invitations end.{' '}
        {hasMail === false && byOperator(user.email)}
      </p>
      {hasMail && !isAsked && (
        <button type="button" onClick={() => act(() => post('api/users/@me/ask_confirmation/').then(() => setAsked(true)))}>
          Mail me a link
        </button>
      )}
      {isAsked && <p role="status">A link was mailed to {user.email}.</p>}
      {failure}
    </div>
  )
}

export function KeysSection() {
  const { timezone } = useProject()
  const { projects, user } = useSession()
  const { value: keys, error, reload } = useLoaded((signal) => get<readonly KeyAnswer[]>('api/personal_api_keys/', signal), [])
  const [made, setMade] = useState<KeyAnswer | null>(null)
  const { act, failure } = useAction()
  const show = (key: KeyAnswer) => {
    setMade(key)
    reload()
  }
  const reachOf = (key: KeyAnswer): string => {
    const names = [
      ...key.scoped_teams.map((id) => projects.find((one) => one.id === id)?.name ?? `Project ${id}`),
      ...key.scoped_organizations.map((id) => user.organizations.find((one) => one.id === id)?.name ?? id),
    ]
    return names.length === 0 ? 'All your projects' : names.join(', ')
  }
  return (
    <>
      <section class="block">
        <h2>Personal API keys</h2>
        <p class="note">Scripts and tools use them to act as you, as far as their scopes allow.</p>
        {error && <Refused error={error} onRenewed={reload} retry={reload} />}
        {failure}
        {made?.value && (
          <div class="once" role="status">
            <p>
              The key <b>{made.label}</b>. Copy it now: it is not shown again.
            </p>
            <div class="row">
              <code>{made.value}</code>
              <CopyButton text={made.value} />
            </div>
          </div>
        )}
        {!keys && !error && <Working what="Reading keys" />}
        {keys?.length === 0 && <p class="note">You have none.</p>}
        {keys && keys.length > 0 && (
          <div class="scroll" tabIndex={0} role="region" aria-label="Personal API keys">
            <table class="rows">
              <thead>
                <tr>
                  <th>Name</th>
                  <th>Key</th>
                  <th>Scopes</th>
                  <th>Reaches</th>
                  <th>Last used</th>
                  <th>
                    <span class="hidden">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {keys.map((key) => (
                  <tr key={key.id}>
                    <td>{key.label}</td>
                    <td>
                      <code>{key.mask_value}</code>
                    </td>
                    <td title={key.scopes.join(', ')}>
                      {key.scopes.includes('*')
                        ? 'Everything'
                        : key.scopes.length > 3
                          ? `${key.scopes.length} scopes`
                          : key.scopes.join(', ')}
                    </td>
                    <td>{reachOf(key)}</td>
                    <td>{key.last_used_at ? momentText(key.last_used_at, timezone) : 'Never'}</td>
                    <td>
                      <div class="row">
                        <ConfirmButton
                          isPlain
                          label="Rotate…"
                          title={`Rotate ${key.label}`}
                          submit="Give it a new value"
                          action={async () => show(await post<KeyAnswer>(`api/personal_api_keys/${key.id}/roll/`))}
                        >
                          <p>The old value stops at once. Scopes and limits stay.</p>
                        </ConfirmButton>
                        <ConfirmButton
                          isPlain
                          label="Delete…"
                          title={`Delete ${key.label}`}
                          submit="Delete"
                          action={async () => {
                            await remove(`api/personal_api_keys/${key.id}/`)
                            setMade(null)
                            reload()
                          }}
                        >
                          <p>What uses this key stops working at once.</p>
                        </ConfirmButton>
                      </div>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </section>
      {keys && <NewKey onMade={(key) => act(async () => show(key))} />}
    </>
  )
}

export function OrganizationSection() {
  const { reload, user } = useSession()
  const own = useOrganization()
  const { value, error, reload: again } = useLoaded((signal) => get<OrganizationAnswer>(own.api(''), signal), [])
  if (error) return <Refused error={error} onRenewed={again} retry={again} />
  if (!value) return <Working what="Reading the organization" />
  return (
    <>
      <section class="block">
        <h2>Organization</h2>
        {own.isAdmin ? (
          <Form
            submit="Save"
            done="Saved"
            send={async (form) => {
              await patch(own.api(''), {
                name: textOf(form, 'name'),
                is_member_join_email_enabled: isChecked(form, 'is_member_join_email_enabled'),
                enforce_2fa: isChecked(form, 'enforce_2fa'),
              })
              await reload()
            }}
          >
            <TextField name="name" label="Name" value={value.name} required maxLength={64} />
            <CheckField
              name="is_member_join_email_enabled"
              label="Mail to members when somebody joins"
              value={value.is_member_join_email_enabled}
            />
            <CheckField
              name="enforce_2fa"
              label="Members must have a second factor"
              value={value.enforce_2fa === true}
              hint={`Members without one see only the page that sets it up, and their API keys are refused. Events from your sites still arrive.${
                !user.is_2fa_enabled && user.issuer === null ? ' You have none yet, so you would see that page first.' : ''
              }`}
            />
          </Form>
        ) : (
          <p>
            {value.name}, {counted(value.member_count, 'member')}. <span class="note">Only administrators can change it.</span>
          </p>
        )}
      </section>
      <section class="block">
        <h2>Another organization</h2>
        <p class="note">It has its own members and projects. You own it, and work in it from then on.</p>
        <Form
          submit="Create"
          send={async (form) => {
            await post('api/organizations/', { name: textOf(form, 'name'), timezone: textOf(form, 'timezone') })
            go('#/', true)
            await reload()
          }}
        >
          <TextField name="name" label="Name" required maxLength={64} />
          <ZoneField name="timezone" label="Time zone of its first project" value={browserZone()} />
        </Form>
      </section>
      <section class="block">
        <h2>Delete this organization</h2>
        {own.isOwner ? (
          <ConfirmButton
            label="Delete…"
            title={`Delete ${value.name}`}
            submit="Delete the organization"
            typed={value.name}
            action={async () => {
              await remove(own.api(''))
              go('#/', true)
              await reload()
            }}
          >
            <p>All its projects with their events are deleted. This cannot be undone.</p>
          </ConfirmButton>
        ) : (
          <p class="note">Only the owner can delete it.</p>
        )}
      </section>
    </>
  )
}

export const NoSection = () => <Empty title="There are no such settings" />
