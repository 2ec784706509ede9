import * as z from 'zod'
import { fieldLimits } from '../../../limits/limits.ts'
import { type Inviter, inviteInput, type Sent } from '../../../service/accounts/organizations/invites.ts'
import type { Invite } from '../../../service/accounts/records.ts'
import { hasAllScopes } from '../../../service/accounts/users/personal-keys.ts'
import { type InviteAnswer, inviteSchema, type SentInviteAnswer, sentSchema } from '../../answers/invites.ts'
import { pageSchema } from '../../answers/pages.ts'
import type { App } from '../app.ts'
import { failures } from '../errors.ts'
import { presentAuthor, time } from '../present.ts'
import { defineResource, type OrganizationVisit } from '../resource.ts'

const present = async ({ accounts }: App, invite: Invite): Promise<InviteAnswer> => ({
  id: invite.id,
  target_email: invite.target_email,
  first_name: invite.first_name,
  emailing_attempt_made: invite.emailing_attempt_made,
  level: invite.level,
  is_expired: accounts.invites.isExpired(invite),
  created_by: await presentAuthor(accounts, invite.created_by_id),
  created_at: time(invite.created_at),
  updated_at: time(invite.updated_at),
  message: invite.message,
  private_project_access: invite.private_project_access as { id: number; level: string }[],
})

const presentSent = async (app: App, { invite, secret }: Sent): Promise<SentInviteAnswer> => ({
  ...(await present(app, invite)),
  secret,
})
/** A key for everything is as much as a login. */
const inviter = ({ by, caller }: OrganizationVisit): Inviter => ({
  ...by,
  hidesSecrets: caller.via === 'key' && !hasAllScopes(caller.key),
})
const find = async ({ app, organization, params }: OrganizationVisit): Promise<Invite> => {
  const invite = await app.accounts.invites.byId(organization.id, params.id!)
  if (!invite) throw failures.notFound()
  return invite
}

export const invites = defineResource({
  name: 'invites',
  summary: 'Invitations to an organization, valid for three days',
  path: '/api/organizations/:organization_id/invites',
  reach: 'organization',
  object: 'organization_member',
  rows: (row) => [
    row({
      method: 'GET',
      name: 'list',
      summary: 'Invitations, the newest first',
      answer: pageSchema(inviteSchema),
      isPaged: true,
      handle: async ({ app, organization }) =>
        Promise.all((await app.accounts.invites.list(organization.id)).map((one) => present(app, one))),
    }),
    row({
      method: 'POST',
      name: 'create',
      summary: 'Invites somebody by e-mail, with a level not above that of the caller',
      body: inviteInput,
      status: 201,
      answer: sentSchema,
      secrets: ['secret'],
      handle: async (visit) => {
        const { app, organization, body } = visit
        return presentSent(app, await app.accounts.invites.create(inviter(visit), organization, body))
      },
    }),
    row({
      method: 'POST',
      path: 'bulk',
      name: 'create_many',
      summary: 'Invites up to 20 people, all or none; returns the invitations in the order of the request',
      body: z.array(inviteInput).max(fieldLimits.list.most),
      isCreating: true,
      answer: z.array(sentSchema),
      secrets: ['secret'],
      handle: async (visit) => {
        const { app, organization, body } = visit
        return Promise.all((await app.accounts.invites.createMany(inviter(visit), organization, body)).map((one) => presentSent(app, one)))
      },
    }),
    row({
      method: 'DELETE',
      path: ':id',
      name: 'remove',
      summary: 'Withdraws an invitation',
      handle: async (visit) => visit.app.accounts.invites.remove(visit.by, await find(visit)),
    }),
    row({
      method: 'POST',
      path: ':id/resend',
      name: 'resend',
      summary: 'Sends an invitation again, valid for three days from now; earlier links stop working',
      answer: sentSchema,
      handle: async (visit) =>
        presentSent(visit.app, await visit.app.accounts.invites.resend(inviter(visit), visit.organization, await find(visit))),
    }),
  ],
})
