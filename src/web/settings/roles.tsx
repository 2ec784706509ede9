import type { MemberAnswer } from '../../doors/answers/members.ts'
import type { RoleAnswer } from '../../doors/answers/roles.ts'
import { patch, post, remove } from '../lib/api.ts'
import { ConfirmButton, DialogButton, Form, TextField, textOf, useAction } from '../ui/forms.tsx'
import { ListTable, useList } from '../ui/list-table.tsx'
import { Addition, OnlyAdmins } from './access.tsx'
import { personName, useOrganization } from './organization-of.ts'

/** More members than these are counted. */
const mostShown = 30

export function RolesSection() {
  const { isAdmin, api } = useOrganization()
  const list = useList<RoleAnswer>(api('roles/?limit=50'))
  const { rows: members } = useList<MemberAnswer>(api('members/?limit=1000'))
  const { act, failure } = useAction()
  const change = (action: () => Promise<unknown>) => act(() => action().then(list.reload))
  const membersOf = (role: RoleAnswer) => {
    const others = (members ?? []).filter(({ user }) => !role.members.some((one) => one.user?.uuid === user.uuid))
    return (
      <div class="row">
        {role.members.length === 0 && <span class="note">Nobody</span>}
        {role.members.slice(0, mostShown).map((one) => (
          <span class="state" key={one.id}>
            {one.user ? personName(one.user) : 'Somebody who left'}
            {isAdmin && (
              <button
                type="button"
                class="plain"
                aria-label={`Take ${role.name} from ${one.user ? personName(one.user) : 'this member'}`}
                onClick={() => change(() => remove(api(`roles/${role.id}/role_memberships/${one.id}/`)))}
              >
                ✕
              </button>
            )}
          </span>
        ))}
        {role.members.length > mostShown && <span class="note">and {role.members.length - mostShown} more</span>}
        {isAdmin && others.length > 0 && (
          <select
            aria-label={`Give ${role.name} to`}
            value=""
            onChange={(event) => {
              const user_uuid = event.currentTarget.value
              event.currentTarget.value = ''
              change(() => post(api(`roles/${role.id}/role_memberships/`), { user_uuid }))
            }}
          >
            <option value="">Add a member</option>
            {others.map(({ user }) => (
              <option key={user.uuid} value={user.uuid}>
                {personName(user)}
              </option>
            ))}
          </select>
        )}
      </div>
    )
  }
  return (
    <>
      <section class="block">
        <h2>Roles</h2>
        <p class="note">
          A role is a group of members that private projects can be opened to: in the settings of a project, under Access. An identity
          provider can make roles and choose their members: see Domains.
        </p>
        {!isAdmin && <OnlyAdmins of="roles" />}
        {failure}
        <ListTable
          list={list}
          what="roles"
          head={[{ title: 'Role', by: ({ name }) => name }, 'Members', null]}
          empty="No role yet."
          row={(role) => (
            <tr key={role.id}>
              <td>
                {role.name} {role.from_domain && <span class="state">from {role.from_domain}</span>}
              </td>
              <td>{membersOf(role)}</td>
              <td>
                {isAdmin && (
                  <div class="row">
                    <DialogButton label="Rename…" title={`Rename the role ${role.name}`}>
                      {(close) => (
                        <Form
                          submit="Rename"
                          send={async (form) => {
                            await patch(api(`roles/${role.id}/`), { name: textOf(form, 'name') })
                            list.reload()
                            close()
                          }}
                        >
                          <TextField name="name" label="Name" value={role.name} required maxLength={200} autofocus />
                        </Form>
                      )}
                    </DialogButton>
                    <ConfirmButton
                      label="Delete…"
                      title={`Delete the role ${role.name}`}
                      submit="Delete"
                      action={() => remove(api(`roles/${role.id}/`)).then(list.reload)}
                    >
                      <p>Its members stay in the organization, and lose the access to projects that the role gives.</p>
                      {role.from_domain && (
                        <p>The identity provider of {role.from_domain} made it. It may make it again, without access.</p>
                      )}
                    </ConfirmButton>
                  </div>
                )}
              </td>
            </tr>
          )}
        />
      </section>
      {isAdmin && (
        <Addition title="New role" submit="Create" path={api('roles/')} field={['name', 'Name']} maxLength={200} onAdded={list.reload} />
      )}
    </>
  )
}
