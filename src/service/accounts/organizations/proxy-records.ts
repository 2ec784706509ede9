import { createHash } from 'node:crypto'
import * as z from 'zod'
import { type ActingMember, writeAs } from '../acting-member.ts'
import { type AccountContext, changesOf, entryAbout, log } from '../context.ts'
import { text, check as valid } from '../fields.ts'
import type { AccountTables, ProxyRecord, User } from '../records.ts'
import { invalid, mustFind } from '../refusals.ts'
import { domainName, notDomain } from './domains.ts'

export const proxyRecordInput = z.object({
  domain: text({ max: 64 }).refine((value) => domainName.test(value), { error: notDomain }),
})

/** A record with one of these states is deleted at once; others are marked first. */
const atRest = new Set(['waiting', 'erroring', 'timed_out'])
const retriable = new Set(['waiting', 'issuing', 'warning', 'erroring', 'timed_out'])

const minute = 60_000
/** Reading a record queries the name servers again if the last lookup is this old. */
const checkedFor = minute
/** How long a record waits for its CNAME. */
const patience = 3 * 24 * 60 * minute

interface Finding {
  readonly status: string
  readonly message: string | null
}
const bare = (name: string) => name.toLowerCase().replace(/\.$/, '')
const target = (context: AccountContext, organizationId: string, domain: string) =>
  `${createHash('sha256')
    .update(organizationId + domain)
    .digest('hex')
    .slice(0, 20)}.${context.settings().proxyBase}`
const note = (by: User | null, record: ProxyRecord, activity: string) => entryAbout('ProxyRecord', record, record.domain, by, activity)
const mustBeFree = async (tables: AccountTables, domain: string, own?: ProxyRecord) => {
  const other = await tables.proxy_records.first({ domain })
  if (other && other.id !== own?.id) throw invalid('proxy record with this domain already exists.', 'domain', 'unique')
}
const asItIs = (tables: AccountTables, id: string): Promise<ProxyRecord> => mustFind(tables.proxy_records.first({ id }))

/** The status that the CNAME record implies. The proxy in front of Waymark handles certificates, so correct DNS is enough to be valid. */
const findingFor = (context: AccountContext, record: ProxyRecord, pointsAt: string | null): Finding => {
  if (pointsAt !== null && bare(pointsAt) === bare(record.target_cname)) return { status: 'valid', message: null }
  if (pointsAt !== null)
    return { status: 'erroring', message: `${record.domain} points to ${bare(pointsAt)}, not to ${record.target_cname}.` }
  const missing = `${record.domain} has no CNAME record that points to ${record.target_cname}.`
  if (record.status === 'valid' || record.status === 'warning') return { status: 'warning', message: missing }
  const isLate = context.clock().getTime() - record.updated_at.getTime() > patience
  if (record.status === 'timed_out' || isLate) return { status: 'timed_out', message: missing }
  return { status: 'waiting', message: null }
}

const settle = async (context: AccountContext, record: ProxyRecord, change: Finding, by: User | null): Promise<ProxyRecord> => {
  if (change.status === record.status && change.message === record.message) return record
  const updated = { ...change, updated_at: context.clock() }
  return context.store.write(async (tables) => {
    const now = await tables.proxy_records.first({ id: record.id })
    if (!now || now.target_cname !== record.target_cname || now.status === 'deleting') return now ?? record
    await tables.proxy_records.update({ id: record.id }, updated)
    await log(context, tables, { ...note(by, now, 'updated'), changes: changesOf('ProxyRecord', now, { ...change }) })
    return { ...now, ...updated }
  })
}

/** The records as the name servers have them. */
const createChecks = (context: AccountContext) => {
  const { store } = context
  /** A record that was marked for deletion a minute ago is deleted at the next read. */
  const sweep = async (domain: string) => {
    const known = await store.read.proxy_records.first({ domain, status: 'deleting' })
    if (known) await current(known)
  }
  const checkedAt = new Map<string, number>()

  /** As the name servers have it now. If they cannot be reached it stays unchanged. */
  const check = async (record: ProxyRecord, by: User | null): Promise<ProxyRecord> => {
    checkedAt.set(record.id, context.clock().getTime())
    let pointsAt: string | null
    try {
      pointsAt = await context.outbound.names(record.organization_id, () => context.lookupCname(record.domain))
    } catch (error) {
      context.report('DNS lookup failed', error)
      return record
    }
    return settle(context, record, findingFor(context, record, pointsAt), by)
  }

  /** The current record; undefined if it was deleted. */
  const current = async (record: ProxyRecord): Promise<ProxyRecord | undefined> => {
    const now = context.clock().getTime()
    if (record.status === 'deleting') {
      if (now - record.updated_at.getTime() < checkedFor) return record
      await store.write((tables) => tables.proxy_records.remove({ id: record.id }))
      checkedAt.delete(record.id)
      return undefined
    }
    const last = checkedAt.get(record.id)
    return last === undefined || Math.abs(now - last) >= checkedFor ? check(record, null) : record
  }

  return { sweep, check, current }
}

export const createProxyRecords = (context: AccountContext) => {
  const { store } = context
  const { sweep, check, current } = createChecks(context)
  return {
    list: async (organizationId: string): Promise<ProxyRecord[]> => {
      const found = await Promise.all((await store.read.proxy_records.find({ organization_id: organizationId })).map(current))
      return found.filter((one) => one !== undefined)
    },
    byId: async (organizationId: string, id: string): Promise<ProxyRecord | undefined> => {
      const found = await store.read.proxy_records.first({ id, organization_id: organizationId })
      return found && current(found)
    },

    /** The record as of the last read, for callers that are about to refresh it. */
    asSeen: (organizationId: string, id: string) => store.read.proxy_records.first({ id, organization_id: organizationId }),

    /** Queries the name servers immediately, also for a record that has timed out. */
    retry: async ({ user: by }: ActingMember, record: ProxyRecord): Promise<ProxyRecord> => {
      if (!retriable.has(record.status)) throw invalid(`A record with the status ${record.status} cannot be retried.`)
      const anew = record.status === 'timed_out' ? await settle(context, record, { status: 'waiting', message: null }, by) : record
      return check(anew, by)
    },

    create: async (by: ActingMember, body: unknown): Promise<ProxyRecord> => {
      const { domain } = valid(proxyRecordInput, body)
      await sweep(domain)
      return writeAs(context, by, async (tables, { organization_id }) => {
        await mustBeFree(tables, domain)
        const now = context.clock()
        const record: ProxyRecord = {
          id: context.newId(),
          organization_id,
          domain,
          target_cname: target(context, organization_id, domain),
          status: 'waiting',
          message: null,
          created_by_id: by.user.id,
          created_at: now,
          updated_at: now,
        }
        await tables.proxy_records.insert(record)
        await log(context, tables, note(by.user, record, 'created'))
        return record
      })
    },

    update: async (by: ActingMember, asked: ProxyRecord, body: unknown): Promise<ProxyRecord> => {
      const change = valid(proxyRecordInput.partial(), body)
      const { domain } = change
      if (domain === undefined) return asked
      await sweep(domain)
      return writeAs(context, by, async (tables) => {
        const record = await asItIs(tables, asked.id)
        if (domain === record.domain) return record
        await mustBeFree(tables, domain, record)
        const updated = {
          domain,
          target_cname: target(context, record.organization_id, domain),
          status: 'waiting',
          message: null,
          updated_at: context.clock(),
        }
        await tables.proxy_records.update({ id: record.id }, updated)
        await log(context, tables, { ...note(by.user, record, 'updated'), changes: changesOf('ProxyRecord', record, change) })
        return { ...record, ...updated }
      })
    },

    /** A record that events may use is marked first and deleted a minute later. */
    remove: (by: ActingMember, { id }: ProxyRecord): Promise<void> =>
      writeAs(context, by, async (tables) => {
        const record = await asItIs(tables, id)
        if (atRest.has(record.status)) await tables.proxy_records.remove({ id: record.id })
        else await tables.proxy_records.update({ id: record.id }, { status: 'deleting', updated_at: context.clock() })
        await log(context, tables, note(by.user, record, 'deleted'))
      }),
  }
}
