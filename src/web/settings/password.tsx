import type { SignInAnswer } from '../../doors/answers/users.ts'
import { patch, remove } from '../lib/api.ts'
import { momentText } from '../lib/format.ts'
import { useProject, useSession } from '../lib/session.ts'
import { Ago } from '../ui/ago.tsx'
import { ConfirmButton, Form, TextField } from '../ui/forms.tsx'
import { ListTable, useList } from '../ui/list-table.tsx'
import { deviceName } from './device-name.ts'

/** The own password, and where one is signed in. */
export function SignInSections() {
  const { timezone } = useProject()
  const { user } = useSession()
  const list = useList<SignInAnswer>('api/users/@me/sessions/?limit=50')
  const change = async (form: HTMLFormElement) => {
    const given = new FormData(form)
    // As typed: spaces count.
    await patch('api/users/@me/', { current_password: given.get('current_password'), password: given.get('password') })
    form.reset()
    list.reload()
  }
  const others = list.rows?.filter(({ is_current }) => !is_current) ?? []
  return (
    <>
      <section class="block">
        <h2>Password</h2>
        <Form submit="Change password" done="Changed. You were signed out everywhere else." send={change}>
          <input type="email" name="username" autocomplete="username" value={user.email} hidden readOnly />
          <TextField
            name="current_password"
            type="password"
            label="Current password"
            required
            autocomplete="current-password"
            maxLength={1024}
          />
          <TextField
            name="password"
            type="password"
            label="New password"
            hint="At least 8 characters, and none that is guessed first. Personal API keys stay valid."
            required
            autocomplete="new-password"
            maxLength={1024}
          />
        </Form>
        <p class="note">
          Forgot it? <a href="#/forgot">Get a link for a new one</a>
        </p>
      </section>
      <section class="block">
        <h2>Where you are signed in</h2>
        <ListTable
          list={list}
          what="sessions"
          head={['Browser', 'From', 'Signed in', 'Until', null]}
          empty="Nowhere."
          row={(session) => (
            <tr key={session.id}>
              <td class="clip" title={session.user_agent ?? ''}>
                {session.is_current && <span class="state good">this one</span>} {deviceName(session.user_agent)}
              </td>
              <td>{session.address ?? 'Unknown'}</td>
              <td>
                <Ago of={session.created_at} />
              </td>
              <td>{momentText(session.expires_at, timezone)}</td>
              <td>
                {!session.is_current && (
                  <ConfirmButton
                    isPlain
                    label="Sign out…"
                    title="Sign out there"
                    submit="Sign out"
                    action={() => remove(`api/users/@me/sessions/${session.id}/`).then(list.reload)}
                  >
                    <p>That browser asks for the password again.</p>
                  </ConfirmButton>
                )}
              </td>
            </tr>
          )}
        />
        {others.length > 0 && (
          <ConfirmButton
            label="Sign out everywhere else…"
            title="Sign out everywhere else"
            submit="Sign out everywhere else"
            action={() => remove('api/users/@me/sessions/').then(list.reload)}
          >
            <p>
              Only this browser stays signed in. Did somebody else use your account? Change your password too, and delete your API keys.
            </p>
          </ConfirmButton>
        )}
      </section>
    </>
  )
}
