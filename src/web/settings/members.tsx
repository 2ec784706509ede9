import { useState } from 'preact/hooks'
import type { InviteAnswer, SentInviteAnswer } from '../../doors/answers/invites.ts'
import type { MemberAnswer } from '../../doors/answers/members.ts'
import { ApiError, patch, post, remove } from '../lib/api.ts'
import { FieldError } from '../lib/error-fields.ts'
import { useSession } from '../lib/session.ts'
import { Ago } from '../ui/ago.tsx'
import { ChoiceField, ConfirmButton, Form, TextField, textOf, useAction } from '../ui/forms.tsx'
import { ListTable, useList } from '../ui/list-table.tsx'
import { NoMail } from '../ui/no-mail.tsx'
import { CopyButton, Select } from '../ui/parts.tsx'
import { level, levelName, levels, personName, useOrganization } from './organization-of.ts'

export function MembersSection() {
  const { user, reload } = useSession()
  const own = useOrganization()
  const list = useList<MemberAnswer>(own.api('members/?limit=50'))
  const { act, failure } = useAction()
  const setLevel = (member: MemberAnswer, value: string) =>
    act(async () => {
      await patch(own.api(`members/${member.user.uuid}/`), { level: Number(value) })
      list.reload()
      await reload()
    })
  const reset = async ({ user: { uuid } }: MemberAnswer) => {
    await post(own.api(`members/${uuid}/reset_two_factor/`))
    list.reload()
  }
  const drop = async ({ user: { uuid } }: MemberAnswer) => {
    await remove(own.api(`members/${uuid}/`))
    if (uuid === user.uuid) location.hash = ''
    list.reload()
    await reload()
  }
  return (
    <section class="block">
      <h2>Members</h2>
      {!own.isAdmin && <p class="note">Only administrators can change levels and remove others.</p>}
      {own.level === level.viewer && <p class="note">You are a viewer here: you see and ask, and what you would change is refused.</p>}
      {failure}
      <ListTable
        list={list}
        what="members"
        head={[
          { title: 'Name', by: ({ user: one }) => personName(one) },
          { title: 'E-mail', by: ({ user: one }) => one.email },
          { title: 'Level', by: ({ level: one }) => one },
          { title: 'Joined', by: ({ joined_at }) => joined_at },
          null,
        ]}
        empty="Nobody."
        row={(member) => {
          const isSelf = member.user.uuid === user.uuid
          const mayEdit = own.isAdmin && !isSelf && member.level <= own.level
          return (
            <tr key={member.id}>
              <td>
                {personName(member.user)} {isSelf && <span class="state">you</span>}{' '}
                {member.is_2fa_enabled && <span class="state good">second factor</span>}
              </td>
              <td class="clip">{member.user.email}</td>
              <td>
                {mayEdit ? (
                  <Select
                    label={`Level of ${personName(member.user)}`}
                    value={String(member.level)}
                    options={levels.filter(({ value }) => Number(value) <= own.level)}
                    onChange={(value) => setLevel(member, value)}
                  />
                ) : (
                  levelName(member.level)
                )}
              </td>
              <td class="when">
                <Ago of={member.joined_at} />
              </td>
              <td>
                {own.isOwner && !isSelf && member.is_2fa_enabled && (
                  <ConfirmButton
                    isPlain
                    label="Reset second factor…"
                    title={`Reset the second factor of ${personName(member.user)}`}
                    submit="Reset"
                    action={() => reset(member)}
                  >
                    <p>
                      For somebody who has lost phone and recovery codes. All sessions of {personName(member.user)} end, and the password
                      alone is enough until another app is set up. Make sure that it is really them who ask.
                    </p>
                  </ConfirmButton>
                )}
                {(isSelf || mayEdit) && (
                  <ConfirmButton
                    isPlain
                    label={isSelf ? 'Leave…' : 'Remove…'}
                    title={isSelf ? `Leave ${own.name}` : `Remove ${personName(member.user)}`}
                    submit={isSelf ? 'Leave' : 'Remove'}
                    action={() => drop(member)}
                  >
                    <p>
                      {isSelf ? 'You' : 'They'} cannot see the projects of {own.name} any more. Their work stays.
                    </p>
                  </ConfirmButton>
                )}
              </td>
            </tr>
          )
        }}
      />
    </section>
  )
}

const acceptLink = (secret: string) => `${new URL('.', document.baseURI).href}#/signup/${secret}`

export function InvitesSection() {
  const own = useOrganization()
  const list = useList<InviteAnswer>(own.api('invites/?limit=50'))
  const [sent, setSent] = useState<SentInviteAnswer | null>(null)
  const { act, isBusy, failure } = useAction()
  const create = async (form: HTMLFormElement) => {
    const made = await post<SentInviteAnswer>(own.api('invites/'), {
      target_email: textOf(form, 'target_email'),
      first_name: textOf(form, 'first_name'),
      level: Number(textOf(form, 'level')),
      message: textOf(form, 'message') || null,
    }).catch((error: Error) => {
      // Of a member: the API names no field.
      throw error instanceof ApiError && error.attr === null && error.code === 'invalid_input'
        ? new FieldError('target_email', error.message)
        : error
    })
    form.reset()
    setSent(made)
    list.reload()
  }
  const again = (invite: InviteAnswer) =>
    act(async () => {
      setSent(await post<SentInviteAnswer>(own.api(`invites/${invite.id}/resend/`)))
      list.reload()
    })
  return (
    <>
      <section class="block">
        <h2>Invite somebody</h2>
        {own.level < level.member ? (
          <p class="note">Viewers cannot invite others.</p>
        ) : (
          <>
            <NoMail instead="You get a link to pass on." />
            <Form submit="Invite" send={create}>
              <TextField name="target_email" type="email" label="E-mail address" required />
              <TextField name="first_name" label="Name (optional)" maxLength={30} />
              <ChoiceField name="level" label="Level" value="1" options={levels.filter(({ value }) => Number(value) <= own.level)} />
              <TextField name="message" label="A few words (optional)" rows={2} />
            </Form>
          </>
        )}
        {sent && (
          <div class="once" role="status">
            {sent.secret ? (
              <>
                <p>No mail was sent. Give this link to {sent.target_email}: it is shown only once, and valid for three days.</p>
                <div class="row">
                  <code>{acceptLink(sent.secret)}</code>
                  <CopyButton text={acceptLink(sent.secret)} label="Copy link" />
                </div>
              </>
            ) : (
              <p>A mail is on its way to {sent.target_email}. It has a link that is valid for three days.</p>
            )}
          </div>
        )}
      </section>
      <section class="block">
        <h2>Open invitations</h2>
        {failure}
        <ListTable
          list={list}
          what="invitations"
          head={[
            { title: 'For', by: ({ target_email }) => target_email },
            { title: 'Level', by: (invite) => invite.level },
            { title: 'Sent', by: ({ created_at }) => created_at },
            null,
          ]}
          empty="None is open."
          row={(invite) => (
            <tr key={invite.id}>
              <td>
                {invite.target_email} {invite.is_expired && <span class="state warn">expired</span>}
              </td>
              <td>{levelName(invite.level)}</td>
              <td class="when">
                <Ago of={invite.created_at} />
              </td>
              <td>
                {own.level >= level.member && (
                  <>
                    <button type="button" class="plain" disabled={isBusy} onClick={() => again(invite)}>
                      {invite.emailing_attempt_made ? 'Send again' : 'New link'}
                    </button>
                    <ConfirmButton
                      isPlain
                      label="Withdraw…"
                      title="Withdraw the invitation"
                      submit="Withdraw"
                      action={async () => {
                        await remove(own.api(`invites/${invite.id}/`))
                        setSent(null)
                        list.reload()
                      }}
                    >
                      <p>The link that {invite.target_email} has does not work any more.</p>
                    </ConfirmButton>
                  </>
                )}
              </td>
            </tr>
          )}
        />
      </section>
    </>
  )
}
