import { useState } from 'preact/hooks'
import type { MemberAnswer } from '../../doors/answers/members.ts'
import type { ProjectMemberAnswer, ProjectRoleAnswer } from '../../doors/answers/project-members.ts'
import type { ProjectAnswer } from '../../doors/answers/projects.ts'
import type { RoleAnswer } from '../../doors/answers/roles.ts'
import { get, patch, post, remove } from '../lib/api.ts'
import { useProject, useSession } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { Ago } from '../ui/ago.tsx'
import { ChoiceField, ConfirmButton, Form, textOf, useAction } from '../ui/forms.tsx'
import { ListTable, useList } from '../ui/list-table.tsx'
import { ErrorBox, Select, Working } from '../ui/parts.tsx'
import { level, levels, personName, useOrganization } from './organization-of.ts'

const projectLevels = levels.filter(({ value }) => Number(value) >= level.member && Number(value) < level.owner)

/** Who may see the project. */
export function AccessSection() {
  const { api } = useProject()
  const { user, reload } = useSession()
  const own = useOrganization()
  const loaded = useLoaded((signal) => get<ProjectAnswer>(api(''), signal), [])
  const list = useList<ProjectMemberAnswer>(api('explicit_members/?limit=50'))
  const { act, failure } = useAction()
  const [changed, setChanged] = useState<ProjectAnswer | null>(null)
  const project = changed ?? loaded.value
  if (!project) return loaded.error ? <ErrorBox error={loaded.error} retry={loaded.reload} /> : <Working what="Reading the settings" />
  const isAdmin = (project.effective_membership_level ?? 0) >= level.admin
  const setPrivate = async (access_control: boolean) => {
    setChanged(await patch<ProjectAnswer>(api(''), { access_control }))
    void reload()
  }
  return (
    <>
      <section class="block">
        <h2>Who may see this project</h2>
        {project.access_control ? (
          <>
            <p>
              <span class="state warn">Private</span> Administrators of {own.name}, and the members and roles below.
            </p>
            {own.isAdmin && (
              <ConfirmButton label="Open it to all members…" title="Open the project" submit="Open it" action={() => setPrivate(false)}>
                <p>All members of {own.name} can see and change what is in it.</p>
              </ConfirmButton>
            )}
          </>
        ) : (
          <>
            <p>
              <span class="state good">Open</span> All members of {own.name}.
            </p>
            {own.isAdmin && (
              <ConfirmButton
                label="Make it private…"
                title="Make the project private"
                submit="Make it private"
                action={() => setPrivate(true)}
              >
                <p>
                  Only administrators of {own.name} and the members and roles listed here can see it from then on. Others, and their keys,
                  are refused.
                </p>
              </ConfirmButton>
            )}
          </>
        )}
        {!own.isAdmin && <p class="note">Only administrators of the organization can change this.</p>}
      </section>
      <section class="block">
        <h2>Members with access</h2>
        {!project.access_control && <p class="note">The list takes effect when the project is private.</p>}
        {failure}
        <ListTable
          list={list}
          what="members with access"
          head={['Name', 'E-mail', 'In this project', 'Since', null]}
          empty="Nobody besides the administrators of the organization."
          row={(one) => {
            const isSelf = one.user.uuid === user.uuid
            return (
              <tr key={one.id}>
                <td>
                  {personName(one.user)} {isSelf && <span class="state">you</span>}
                </td>
                <td class="clip">{one.user.email}</td>
                <td>
                  {isAdmin && !isSelf ? (
                    <Select
                      label={`Level of ${personName(one.user)} in this project`}
                      value={String(one.level)}
                      options={projectLevels}
                      onChange={(value) =>
                        act(() => patch(api(`explicit_members/${one.user.uuid}/`), { level: Number(value) }).then(list.reload))
                      }
                    />
                  ) : (
                    projectLevels.find(({ value }) => value === String(one.level))?.label
                  )}
                </td>
                <td>
                  <Ago of={one.joined_at} />
                </td>
                <td>
                  {(isAdmin || isSelf) && (
                    <ConfirmButton
                      isPlain
                      label={isSelf ? 'Give up…' : 'Take away…'}
                      title={isSelf ? 'Give up your access' : `Take the access from ${personName(one.user)}`}
                      submit={isSelf ? 'Give up' : 'Take away'}
                      action={async () => {
                        await remove(api(`explicit_members/${one.user.uuid}/`))
                        list.reload()
                        if (isSelf) await reload()
                      }}
                    >
                      <p>{isSelf ? 'You' : 'They'} cannot see the project any more while it is private.</p>
                    </ConfirmButton>
                  )}
                </td>
              </tr>
            )
          }}
        />
        {isAdmin && <NewAccess known={list.rows ?? []} onMade={list.reload} />}
      </section>
      <RolesWithAccess isAdmin={isAdmin} isPrivate={project.access_control} />
    </>
  )
}

function NewAccess({ known, onMade }: { known: readonly ProjectMemberAnswer[]; onMade: () => void }) {
  const { api } = useProject()
  const { user } = useSession()
  const own = useOrganization()
  const { rows } = useList<MemberAnswer>(own.api('members/?limit=1000'))
  const others = (rows ?? []).filter((one) => one.user.uuid !== user.uuid && !known.some((held) => held.user.uuid === one.user.uuid))
  if (others.length === 0) return <p class="note">Invite members to {own.name} first; then give them access here.</p>
  return (
    <Form
      submit="Give access"
      send={async (form) => {
        await post(api('explicit_members/'), { user_uuid: textOf(form, 'user_uuid'), level: Number(textOf(form, 'level')) })
        onMade()
      }}
    >
      <ChoiceField
        name="user_uuid"
        label="Member"
        value={others[0]!.user.uuid}
        options={others.map((one) => ({ value: one.user.uuid, label: `${personName(one.user)} (${one.user.email})` }))}
      />
      <ChoiceField name="level" label="Level in this project" value="1" options={projectLevels} />
    </Form>
  )
}

/** Members of these roles have their level. */
function RolesWithAccess({ isAdmin, isPrivate }: { isAdmin: boolean; isPrivate: boolean }) {
  const { api } = useProject()
  const own = useOrganization()
  const list = useList<ProjectRoleAnswer>(api('role_access/?limit=50'))
  const { rows: roles } = useList<RoleAnswer>(own.api('roles/?limit=1000'))
  const { act, failure } = useAction()
  const others = (roles ?? []).filter(({ id }) => !list.rows?.some(({ role_id }) => role_id === id))
  return (
    <section class="block">
      <h2>Roles with access</h2>
      {!isPrivate && <p class="note">The list takes effect when the project is private.</p>}
      {failure}
      <ListTable
        list={list}
        what="roles with access"
        head={['Role', 'In this project', 'Since', null]}
        empty="No role."
        row={(one) => (
          <tr key={one.id}>
            <td>{one.name}</td>
            <td>
              {isAdmin ? (
                <Select
                  label={`Level of the role ${one.name} in this project`}
                  value={String(one.level)}
                  options={projectLevels}
                  onChange={(value) => act(() => patch(api(`role_access/${one.role_id}/`), { level: Number(value) }).then(list.reload))}
                />
              ) : (
                projectLevels.find(({ value }) => value === String(one.level))?.label
              )}
            </td>
            <td>
              <Ago of={one.created_at} />
            </td>
            <td>
              {isAdmin && (
                <ConfirmButton
                  isPlain
                  label="Take away…"
                  title={`Take the access from the role ${one.name}`}
                  submit="Take away"
                  action={() => remove(api(`role_access/${one.role_id}/`)).then(list.reload)}
                >
                  <p>Its members cannot see the project any more while it is private, unless they have access otherwise.</p>
                </ConfirmButton>
              )}
            </td>
          </tr>
        )}
      />
      {isAdmin && roles?.length === 0 && <p class="note">There is no role yet: Settings → Roles makes one.</p>}
      {isAdmin && others.length > 0 && (
        <Form
          submit="Give the role access"
          send={async (form) => {
            await post(api('role_access/'), { role_id: textOf(form, 'role_id'), level: Number(textOf(form, 'role_level')) })
            list.reload()
          }}
        >
          <ChoiceField
            key={others[0]!.id}
            name="role_id"
            label="Role"
            value={others[0]!.id}
            options={others.map(({ id, name }) => ({ value: id, label: name }))}
          />
          <ChoiceField name="role_level" of="level" label="Level of its members in this project" value="1" options={projectLevels} />
        </Form>
      )}
    </section>
  )
}
