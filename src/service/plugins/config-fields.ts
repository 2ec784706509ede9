import { isObject } from '../../lib/is-object.ts'
import { own } from '../../lib/own.ts'
import { isWebAddress } from '../../lib/web/web-address.ts'
import type { Plugin, PluginConfig } from '../accounts/records.ts'
import { sealedFor } from '../accounts/secrets/resealing.ts'
import type { SecretBox } from '../accounts/secrets/secret-box.ts'
import type { Json } from '../accounts/store.ts'
import type { Reachable } from './ports.ts'

// The settings of a plugin: which fields are secret, and how they are stored and shown.

export interface SchemaField {
  readonly key: string
  readonly type: string
  readonly isSecret: boolean
  /** Its value is for the pages of a site. */
  readonly isForSite: boolean
  readonly fallback: Json
}

const fieldFrom = (key: unknown, field: unknown): SchemaField[] =>
  typeof key === 'string' && isObject(field)
    ? [
        {
          key,
          type: typeof field.type === 'string' ? field.type : 'string',
          isSecret: field.secret === true,
          isForSite: field.site === true,
          fallback: (field.default ?? null) as Json,
        },
      ]
    : []

export const fieldsOf = (schema: Json): readonly SchemaField[] =>
  Array.isArray(schema)
    ? schema.flatMap((field: Json) => fieldFrom(isObject(field) ? field.key : undefined, field))
    : Object.entries(schema as object).flatMap(([key, field]) => fieldFrom(key, field))

/** What is shown in place of a secret. Sent back, it leaves the secret unchanged. */
const mask = '****************'

type Settings = Readonly<Record<string, Json>>
export type StoredSettings = Pick<PluginConfig, 'config' | 'secrets'>

const secretsOf = ({ secrets }: Pick<PluginConfig, 'secrets'>) => secrets as Readonly<Record<string, string>>

/**
 * The settings as they are stored: secrets encrypted, except empty ones. A secret that is left out stays, all others are replaced. A value that was encrypted
 * once stays a secret even if the plugin no longer says so: its owner must not be able to read the secrets of other organizations that way.
 */
export function storedSettings(
  plugin: Plugin,
  configId: number,
  before: StoredSettings | null,
  given: Settings,
  box: SecretBox,
): StoredSettings {
  const fields = fieldsOf(plugin.config_schema)
  const secretKeys = new Set(fields.filter(({ isSecret }) => isSecret).map(({ key }) => key))
  const attachments = new Set(fields.filter(({ type }) => type === 'attachment').map(({ key }) => key))
  const old = before ? secretsOf(before) : {}
  const oldPlain = before ? (before.config as Settings) : {}
  const config: Record<string, Json> = {}
  const secrets: Record<string, string> = { ...old }
  const put = (key: string, value: Json) => {
    if (!secretKeys.has(key)) config[key] = value
    else if (value === '' || value === null) config[key] = value
    else secrets[key] = box.seal(JSON.stringify(value), sealedFor.pluginSetting(configId, key))
  }
  for (const [key, value] of Object.entries(given)) {
    if (attachments.has(key)) continue // files have a table of their own
    if (value === mask && (own(old, key) !== undefined || secretKeys.has(key))) {
      if (own(old, key) === undefined && own(oldPlain, key) !== undefined) put(key, oldPlain[key]!)
      continue
    }
    delete secrets[key]
    put(key, value)
  }
  for (const key of secretKeys) {
    if (own(given, key) !== undefined || own(secrets, key) !== undefined) continue
    const kept = own(oldPlain, key)
    if (kept !== undefined) put(key, kept)
  }
  return { config, secrets }
}

const placeWords =
  /^(host|hostname|hosts|url|urls|uri|endpoint|endpoints|server|servers|address|domain|subdomain|origin|site|region|account|bucket|broker|brokers|port|proxy|webhook|instance|tenant)$/i
const looksLikePlace = (value: Json | undefined): boolean =>
  typeof value === 'string' &&
  /^\s*([a-z][a-z0-9+.-]*:)?\/\/|^\s*(localhost|\[?[0-9a-f]*:[0-9a-f:.]+\]?|[\w-]+(\.[\w-]+)+)(:\d+)?(\/\S*)?\s*$/i.test(value)
const hasWord = (key: string, words: RegExp): boolean => key.split(/[^a-zA-Z0-9]+|(?<=[a-z0-9])(?=[A-Z])/).some((word) => words.test(word))
const isPlace = (key: string, ...values: readonly (Json | undefined)[]): boolean => hasWord(key, placeWords) || values.some(looksLikePlace)

const addressWords = /^(url|uri|endpoint|webhook|host|hostname|server|proxy)$/i
/** A setting about addresses, such as `ignoredHost`, and not one that requests go to. */
const aboutWords = /^(ignored?|excluded?|skip|allowed?|blocked?|filter|match|referrer)$/i
const isAddress = (key: string): boolean => hasWord(key, addressWords) && !hasWord(key, aboutWords)

/** Without spaces around addresses, as they were pasted. */
export const tidySettings = (given: Settings): Settings =>
  Object.fromEntries(Object.entries(given).map(([key, value]) => [key, typeof value === 'string' && isAddress(key) ? value.trim() : value]))

/** Why a request of a plugin to this setting would be refused, as far as is known without a lookup. Null: it would be sent, or it is no address. */
export function addressRefusal(key: string, value: Json, network: Pick<Reachable, 'mustBeAllowed'>): string | null {
  if (typeof value !== 'string' || value === mask || !isAddress(key)) return null
  const isOfWeb = /^https?:/i.test(value)
  if (isOfWeb ? !isWebAddress(value) : /^[a-z][a-z0-9+.-]*:\/\//i.test(value))
    return 'Expected an http or https address such as https://example.com/hook, without spaces and line breaks.'
  const bare = /^(\[[0-9a-f:.]+\]|[\w-]+(?:\.[\w-]+)+\.?|localhost)(?::\d+)?(?:\/\S*)?$/i
  const host = isOfWeb ? new URL(value).hostname : bare.exec(value)?.[1]
  try {
    if (host !== undefined) network.mustBeAllowed(host)
    return null
  } catch (error) {
    return (error as Error).message
  }
}

/**
 * Settings that were changed and say where a plugin sends what it has: by their names, or because their values are addresses. A member who changes one could have the stored secrets sent to a server
 * of their own, so the secrets must be entered again.
 */
export function changedPlaces(before: StoredSettings, after: StoredSettings, given: Settings): readonly string[] {
  const [old, now] = [before.config as Settings, after.config as Settings]
  const plain = [...new Set([...Object.keys(old), ...Object.keys(now)])].filter(
    (key) => JSON.stringify(own(old, key)) !== JSON.stringify(own(now, key)) && isPlace(key, own(old, key), own(now, key)),
  )
  const replaced = Object.keys(secretsOf(after)).filter(
    (key) => own(secretsOf(before), key) !== own(secretsOf(after), key) && own(old, key) === undefined && isPlace(key, own(given, key)),
  )
  return [...plain, ...replaced]
}

/** Secrets that are as they were before. */
export const keptSecrets = (before: StoredSettings, after: StoredSettings): readonly string[] =>
  Object.entries(secretsOf(before)).flatMap(([key, sealed]) => (own(secretsOf(after), key) === sealed ? [key] : []))

/** For the runtime only. */
export function openSettings({ id, config, secrets }: PluginConfig, box: SecretBox): Settings {
  const opened = Object.entries(secrets as Readonly<Record<string, string>>).map(
    ([key, sealed]) => [key, JSON.parse(box.open(sealed, sealedFor.pluginSetting(id, key))) as Json] as const,
  )
  return { ...(config as Settings), ...Object.fromEntries(opened) }
}

/** The settings with a mask in place of each secret. */
export function shownSettings(plugin: Plugin, stored: StoredSettings): Record<string, Json> {
  const shown: Record<string, Json> = { ...(stored.config as Settings) }
  // A field may have become a secret after its value was stored.
  for (const { key, isSecret } of fieldsOf(plugin.config_schema))
    if (isSecret && own(shown, key) !== undefined && shown[key] !== '' && shown[key] !== null) shown[key] = mask
  for (const key of Object.keys(secretsOf(stored))) shown[key] = mask
  return shown
}
