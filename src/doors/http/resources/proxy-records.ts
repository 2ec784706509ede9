import { proxyRecordInput } from '../../../service/accounts/organizations/proxy-records.ts'
import type { ProxyRecord } from '../../../service/accounts/records.ts'
import { type ProxyRecordAnswer, proxyRecordSchema } from '../../answers/proxy-records.ts'
import { failures } from '../errors.ts'
import { time } from '../present.ts'
import { defineRecords } from '../records.ts'
import type { OrganizationVisit } from '../resource.ts'

const present = (record: ProxyRecord): ProxyRecordAnswer => ({
  id: record.id,
  domain: record.domain,
  target_cname: record.target_cname,
  status: record.status as ProxyRecordAnswer['status'],
  message: record.message,
  created_at: time(record.created_at),
  updated_at: time(record.updated_at),
  created_by: record.created_by_id,
})
const find = async ({ app, organization, params }: OrganizationVisit): Promise<ProxyRecord> => {
  const record = await app.accounts.proxyRecords.byId(organization.id, params.id!)
  if (!record) throw failures.notFound()
  return record
}

export const proxyRecords = defineRecords({
  name: 'proxy_records',
  summary:
    'Domains under which an organization takes events through a proxy of its own. `waiting` for a CNAME record that points at the target, `valid` when it does, `erroring` when it points elsewhere, `warning` when it was there and is gone, `timed_out` after three days, `deleting` for a minute. Name servers are queried when a record is read, at most once a minute. Waymark does not issue certificates: no record is ever `issuing`, and the proxy handles TLS for the domain',
  path: '/api/organizations/:organization_id/proxy_records',
  reach: 'organization',
  object: 'organization',
  write: 'admin',
  answer: proxyRecordSchema,
  present: (_visit, record: ProxyRecord) => present(record),
  rows: ({ list, create, retrieve, update, remove, one }) => [
    list({
      summary: 'Proxy records in order of creation',
      handle: async ({ app, organization }) => app.accounts.proxyRecords.list(organization.id),
    }),
    create({
      summary: 'Adds a domain; it waits until its DNS points at the target',
      needsRecentLogin: true,
      body: proxyRecordInput,
      handle: async ({ app, by, body }) => app.accounts.proxyRecords.create(by, body),
    }),
    retrieve({
      summary: 'One proxy record',
      handle: find,
    }),
    update({
      summary: 'Changes the domain, which is `waiting` again',
      needsRecentLogin: true,
      body: proxyRecordInput.partial(),
      handle: async (visit) => visit.app.accounts.proxyRecords.update(visit.by, await find(visit), visit.body),
    }),
    one({
      method: 'POST',
      path: ':id/retry',
      name: 'retry',
      summary: 'Asks the name servers at once whether the domain points at its target',
      handle: async ({ app, by, organization, params }) => {
        const { proxyRecords } = app.accounts
        const record = await proxyRecords.asSeen(organization.id, params.id!)
        if (!record) throw failures.notFound()
        return proxyRecords.retry(by, record)
      },
    }),
    remove({
      summary: 'Removes a proxy record. One that events may use is `deleting` for a minute first',
      needsRecentLogin: true,
      handle: async (visit) => visit.app.accounts.proxyRecords.remove(visit.by, await find(visit)),
    }),
  ],
})
