import { createHash } from 'node:crypto'
import { z } from 'zod'
import { type AccountContext, changesOf, log } from './context.ts'
import { check, text } from './fields.ts'
import type { ProxyRecord, User } from './records.ts'
import { invalid } from './refusals.ts'

export const proxyRecordInput = z.object({ domain: text({ max: 64 }) })

/** While one of these, nothing in the background works on the record. */
const atRest = new Set(['waiting', 'erroring', 'timed_out'])

export const createProxyRecords = (context: AccountContext) => {
  const { store } = context
  const target = (organizationId: string, domain: string) =>
    `${createHash('sha256')
      .update(organizationId + domain)
      .digest('hex')
      .slice(0, 20)}.${context.settings().proxyBase}`
  const note = (by: User, record: ProxyRecord, activity: string) => ({
    by,
    organization_id: record.organization_id,
    scope: 'ProxyRecord',
    item_id: record.id,
    activity,
    name: record.domain,
  })
  const mustBeFree = async (domain: string, own?: ProxyRecord) => {
    const other = await store.read.proxy_records.first({ domain })
    if (other && other.id !== own?.id) throw invalid('proxy record with this domain already exists.', 'domain', 'unique')
  }
  return {
    list: (organizationId: string) => store.read.proxy_records.find({ organization_id: organizationId }),
    byId: (organizationId: string, id: string) => store.read.proxy_records.first({ id, organization_id: organizationId }),

    create: async (by: User, organizationId: string, body: unknown): Promise<ProxyRecord> => {
      const { domain } = check(proxyRecordInput, body)
      await mustBeFree(domain)
      return store.write(async (tables) => {
        const now = context.clock()
        const record: ProxyRecord = {
          id: context.newId(),
          organization_id: organizationId,
          domain,
          target_cname: target(organizationId, domain),
          status: 'waiting',
          message: null,
          created_by_id: by.id,
          created_at: now,
          updated_at: now,
        }
        await tables.proxy_records.insert(record)
        await log(context, tables, note(by, record, 'created'))
        return record
      })
    },

    update: async (by: User, record: ProxyRecord, body: unknown): Promise<ProxyRecord> => {
      const change = check(proxyRecordInput.partial(), body)
      if (change.domain === undefined || change.domain === record.domain) return record
      await mustBeFree(change.domain, record)
      return store.write(async (tables) => {
        const updated = {
          domain: change.domain!,
          target_cname: target(record.organization_id, change.domain!),
          status: 'waiting',
          message: null,
          updated_at: context.clock(),
        }
        await tables.proxy_records.update({ id: record.id }, updated)
        await log(context, tables, { ...note(by, record, 'updated'), changes: changesOf('ProxyRecord', record, change) })
        return { ...record, ...updated }
      })
    },

    /** A record whose certificate is in work is only marked; whoever works on it removes it. */
    remove: (by: User, record: ProxyRecord): Promise<void> =>
      store.write(async (tables) => {
        if (atRest.has(record.status)) await tables.proxy_records.remove({ id: record.id })
        else await tables.proxy_records.update({ id: record.id }, { status: 'deleting', updated_at: context.clock() })
        await log(context, tables, note(by, record, 'deleted'))
      }),
  }
}
