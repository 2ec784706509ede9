import { paging } from '../requests/pages.ts'

// What differs from the API that Waymark follows, on purpose. `docs/http.md` prints the rows, and `test/doors/http/reference/differences.test.ts` has a proof for each.

export interface Difference {
  /** Also the name of its proof. */
  readonly id: string
  readonly where: string
  readonly asked: string
  readonly here: string
  readonly reason: string
}

export const differences: readonly Difference[] = [
  {
    id: 'invites-bulk',
    where: '`POST invites/bulk/`',
    asked: 'four fields in the body, and one invite in the answer',
    here: 'an array in the body, else 400, and an array in the answer, in the order of the request',
    reason: 'It invites several people, and clients send and read arrays',
  },
  {
    id: 'draft-sql',
    where: '`GET query/draft_sql/`',
    asked: '200 without a body',
    here: '`{"sql"}` for a `prompt`, which is required: 400 without it',
    reason: 'The statement is what is asked for, and there is none without a prompt',
  },
  {
    id: 'metadata',
    where: '`metadata` of an organization',
    asked: 'a text',
    here: 'an object, `{"instance_tag"}`',
    reason: 'Clients read an object',
  },
  { id: 'member-count', where: '`member_count` of an organization', asked: 'a text', here: 'a whole number', reason: 'It is a count' },
  {
    id: 'customer-id',
    where: '`customer_id` of an organization',
    asked: 'a text',
    here: 'always null',
    reason: 'Nothing is sold here, so there are no customers',
  },
  {
    id: 'mascot-config',
    where: '`mascot_config` of a user',
    asked: 'an object',
    here: 'always null',
    reason: 'There are no mascots here',
  },
  {
    id: 'labels',
    where: '`labels` of `query_status`',
    asked: 'free-form or null',
    here: 'always null',
    reason: 'Queries have no labels here',
  },
  {
    id: 'source',
    where: '`GET …/:id/source/` and `PATCH …/:id/update_source/` of plugins and pipeline families',
    asked: 'a pipeline component',
    here: 'the texts of its files by name',
    reason: 'The record is at `GET …/:id/`; clients read the files',
  },
  {
    id: 'check-for-updates',
    where: '`GET …/:id/check_for_updates/`',
    asked: 'a pipeline component',
    here: 'the component, and the same again as `plugin`',
    reason: 'Clients read `plugin`',
  },
  {
    id: 'activity',
    where: '`GET …/activity/` of plugins and pipeline families',
    asked: 'one pipeline component',
    here: 'a page of the activity log: `results`, `next`, `previous`, `total_count`',
    reason: 'It is the history of all components, not a component',
  },
  {
    id: 'local-component',
    where: '`POST` to a pipeline family with `plugin_type` only',
    asked: 'a component of the type `local`',
    here: 'a component whose code is edited in place and starts as the minimal code of the family; other types need a `url`',
    reason: 'A component without code would be in no family',
  },
  {
    id: 'batch-export-actions',
    where: '`POST batch_exports/:id/pause/`, `unpause/` and `backfill/`',
    asked: 'a batch export',
    here: 'a batch export, with `paused` or `backfill_id` as clients read them',
    reason: 'It satisfies readers of both',
  },
  {
    id: 'organization-batch-exports',
    where: '`POST /api/organizations/:organization_id/batch_exports/`',
    asked: 'no project in the request',
    here: 'the project that the caller works in',
    reason: 'An export belongs to a project',
  },
  {
    id: 'domain-pending',
    where: '`jit_provisioning_enabled` and `sso_enforcement` of a new domain',
    asked: 'accepted',
    here: 'kept in `pending` until the domain is proven; a change of an unproven domain is refused with `verification_required`',
    reason: 'An organization that adds a domain does not own it yet',
  },
  {
    id: 'domain-proof',
    where: '`is_verified` of a domain',
    asked: 'set by verifying',
    here: 'by the TXT record `_waymark-challenge.<domain>`, or by `waymark domains verify`; without `--hosted`, `verified_at` is set when the domain is added, and proves nothing',
    reason: 'Clients of self-hosted installations expect the time; rights need the proof',
  },
  {
    id: 'not-enforced',
    where: '`sso_enforcement`, `jit_provisioning_enabled`, SAML',
    asked: 'settings',
    here: 'in effect for a proven domain; of another one, `not_enforced` of the record names those that are set. `oidc` is one more way that a domain can require',
    reason: 'A stored setting must not pass for a protection',
  },
  {
    id: 'rate-limit',
    where: '120 queries an hour',
    asked: 'a limit of the query endpoint',
    here: 'only with `--hosted`, or as the operator sets it (`--queries-per-hour`)',
    reason: 'The operator decides about the load of the server',
  },
  {
    id: 'import-limit',
    where: 'Approval of historical imports',
    asked: 'from 20 million events, or 10,000 a minute',
    here: 'only with `--hosted`; elsewhere imports are approved and have no limit',
    reason: 'Elsewhere, users run the server themselves and have nobody to ask',
  },
  {
    id: 'plugins-level',
    where: '`plugins_access_level` of an organization',
    asked: 'a whole number',
    here: '3 with `--hosted`, else 9; changed by `waymark organizations set` only',
    reason: 'The operator decides which code runs on the server',
  },
  {
    id: 'unknown-parameters',
    where: 'Parameters of URLs that a route does not have',
    asked: 'not described',
    here: '400 with the name and the likely one',
    reason: 'If a filter is ignored, the answer looks as if it had been applied',
  },
  {
    id: 'page-size',
    where: `\`limit\`: ${paging.limit.toLowerCase()}`,
    asked: 'a whole number',
    here: 'at most 1,000; larger ones are reduced, and `next` continues',
    reason: 'A page is held in memory',
  },
]
