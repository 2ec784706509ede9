import { resolve } from 'node:path'
import { checkOptionNames } from '../../errors/check-option-names.ts'
import { WaymarkError } from '../../errors/errors.ts'
import type { AttachedProperties } from '../../language/catalog/attached.ts'
import { tables } from '../../language/catalog/tables.ts'
import { own } from '../../lib/own.ts'

// What the operator attaches beside the events: nobody else names a folder or an address.

/** A folder of Parquet, CSV and JSON files, `s3://bucket/prefix` with such files, or `postgres://user:password@host/database`. */
export interface AttachedSource {
  readonly from: string
  /** The projects that may read it. Default: all, while there is one organization. */
  readonly projects?: readonly number[]
  /** Columns as properties: by `table.key`, the type of groups that the key names, or `person.` and the property of persons that it equals. */
  readonly properties?: Readonly<Record<string, string>>
}
/** By their names in statements: `billing` of `billing.plans`. */
export type AttachOptions = Readonly<Record<string, string | AttachedSource>>

export interface Attachment {
  readonly name: string
  readonly kind: 'folder' | 's3' | 'postgres'
  /** A path, or an address with its password. */
  readonly from: string
  readonly projects: readonly number[] | null
  readonly properties: readonly AttachedProperties[]
}

const mostAttachments = 50
/** What statements could take for something else. */
const taken = ['information_schema', 'system', 'pg_catalog', 'public', 'main', 'temp', 'person', 'poe', 'pdi', 'session', 'properties']
export const isTableName = (name: string): boolean => /^[A-Za-z_]\w{0,62}$/.test(name)

const invalid = (name: string, message: string) => new WaymarkError('validation-failed', { message, attr: `attach__${name}` })

const kindOf = (name: string, from: string): Attachment['kind'] => {
  if (/^s3:\/\/[^/?]+/.test(from)) return 's3'
  if (/^postgres(ql)?:\/\/./.test(from) && URL.canParse(from)) return 'postgres'
  if (/^[a-z][a-z\d+.-]{1,30}:\/\//i.test(from)) {
    const message = `The attached ${name} must be a folder, s3://BUCKET/PREFIX or postgres://USER:PASSWORD@HOST/DATABASE.`
    throw invalid(name, message)
  }
  return 'folder'
}

function propertiesOf(name: string, given: Readonly<Record<string, string>>): readonly AttachedProperties[] {
  return Object.entries(given).map(([place, owner]) => {
    const [table, key, ...more] = place.split('.')
    if (!table || !key || more.length > 0) {
      throw invalid(name, `The properties of the attached ${name} must be named TABLE.KEY, such as plans.company, but got ${place}.`)
    }
    const person = owner.startsWith('person.') ? owner.slice('person.'.length) : undefined
    if (owner === '' || person === '' || owner === 'person') {
      const message = `${name}.${place} must belong to a type of groups, such as company, or to a property of persons, such as person.email.`
      throw invalid(name, message)
    }
    return { table: `${name}.${table}`, key, ...(person === undefined ? { group: owner } : { person }) }
  })
}

/** Refuses wrong options. */
export function attachmentsOf(options: AttachOptions): readonly Attachment[] {
  const entries = Object.entries(options)
  if (entries.length > mostAttachments)
    throw invalid('*', `A server attaches at most ${mostAttachments} folders, buckets and databases, but got ${entries.length}.`)
  return entries.map(([name, given]) => {
    if (!isTableName(name) || own(tables, name) !== undefined || taken.includes(name.toLowerCase())) {
      const message = `${name} cannot be the name of attached tables: it must be letters, digits and underscores, and not the name of something else in statements.`
      throw invalid(name, message)
    }
    const source: AttachedSource = typeof given === 'string' ? { from: given } : given
    checkOptionNames(source ?? {}, ['from', 'projects', 'properties'], `attach.${name}`, ['attach', name])
    const { from, projects, properties = {} } = source
    if (typeof from !== 'string' || from === '') throw invalid(name, `The attached ${name} needs a folder or an address.`)
    if (projects !== undefined && !(Array.isArray(projects) && projects.every((id) => Number.isSafeInteger(id) && id > 0)))
      throw invalid(name, `The projects of the attached ${name} must be ids of projects, such as [1, 2].`)
    const kind = kindOf(name, from)
    return {
      name,
      kind,
      from: kind === 'folder' ? resolve(from) : from,
      projects: projects ?? null,
      properties: propertiesOf(name, properties),
    }
  })
}

/** Folders that the engine may read, besides the data directory. */
export const attachedFolders = (options: AttachOptions | undefined): readonly string[] =>
  attachmentsOf(options ?? {}).flatMap(({ kind, from }) => (kind === 'folder' ? [from] : []))
