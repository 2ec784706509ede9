import * as z from 'zod'
import { WaymarkError } from '../../errors/errors.ts'
import { withoutWord } from '../../lib/text/without-word.ts'
import { check } from '../accounts/fields.ts'
import type { BatchExport } from '../accounts/records.ts'
import { invalid } from '../accounts/refusals.ts'
import { sealedFor } from '../accounts/secrets/resealing.ts'
import type { SecretBox } from '../accounts/secrets/secret-box.ts'
import type { Json } from '../accounts/store.ts'
import { type Destination, DestinationError, type Outside } from './destinations/destination.ts'
import { destinations } from './destinations/registry.ts'

// The settings of a destination: what is stored, what is shown, and what the destination gets.

type Settings = Readonly<Record<string, Json>>

export interface StoredSettings {
  readonly config: Json
  readonly secrets: string | null
}

export const destinationOf = (type: string): Destination => {
  const found = destinations.get(type)
  if (!found)
    throw invalid(`"${type}" is not a valid choice.`, 'destination__type', 'invalid_choice', { allowed: [...destinations.keys()] })
  return found
}

const names = z.array(z.string({ error: 'Not a valid string.' }), { error: 'Expected a list of items.' }).nullish()
/** Settings of every destination. */
const ofEvents = z.object({ include_events: names, exclude_events: names })

/** What a destination takes, for forms. */
export interface DescribedDestination {
  readonly type: string
  readonly summary: string
  /** JSON Schema of `destination.config`. */
  readonly config_schema: Readonly<Record<string, unknown>>
  /** Settings that are stored encrypted and never returned. */
  readonly secrets: readonly string[]
}

export const describedDestinations = (): readonly DescribedDestination[] =>
  [...destinations.values()].map(({ type, summary, config, secrets }) => {
    const schema = (of: z.ZodType) => z.toJSONSchema(of, { io: 'input', unrepresentable: 'any' })
    const { properties = {}, required = [] } = schema(config)
    return {
      type,
      summary,
      config_schema: { type: 'object', properties: { ...properties, ...schema(ofEvents).properties }, required },
      secrets,
    }
  })

/** Throws if the destination cannot work with these settings. Unknown keys are allowed. */
export function mustBeValid(type: string, settings: Settings): void {
  for (const config of [ofEvents, destinationOf(type).config])
    check(z.object({ destination: z.object({ config }) }), { destination: { config: settings } })
}

/** Throws if they name a host that this server does not connect to, as far as is known without a lookup. */
export function mustBeReachable(type: string, settings: Settings, network: Pick<Outside, 'mustBeAllowed'>): void {
  for (const [setting, host] of destinationOf(type).places?.(readSettings(type, settings)) ?? [])
    try {
      network.mustBeAllowed(host)
    } catch (error) {
      throw error instanceof WaymarkError ? invalid(error.detail, `destination__config__${setting}`) : error
    }
}

/** As they are stored: of settings that the destination knows, what its schema made of texts, such as addresses without spaces around them. */
export function tidied(type: string, settings: Settings): Settings {
  const known = readSettings(type, settings) as Settings
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      name,
      typeof value === 'string' && typeof known[name] === 'string' ? known[name] : value,
    ]),
  )
}

/** Public settings and secrets apart. `id`: of the export. */
export function seal(type: string, id: string, settings: Settings, box: SecretBox): StoredSettings {
  const hidden = new Set<string>(destinationOf(type).secrets)
  const part = (isSecret: boolean) => Object.fromEntries(Object.entries(settings).filter(([name]) => hidden.has(name) === isSecret))
  const secrets = part(true)
  return {
    config: part(false),
    secrets: Object.keys(secrets).length > 0 ? box.seal(JSON.stringify(secrets), sealedFor.batchExport(id)) : null,
  }
}

/** All settings, with secrets. */
export function unseal({ id, config, secrets }: Pick<BatchExport, 'id' | 'config' | 'secrets'>, box: SecretBox): Settings {
  const hidden = secrets === null ? {} : (JSON.parse(box.open(secrets, sealedFor.batchExport(id))) as Settings)
  return { ...(config as Settings), ...hidden }
}

/** A server is the same one at another path. */
const placeOf = (value: Json | undefined): Json =>
  typeof value === 'string' && /^https?:/i.test(value) && URL.canParse(value) ? new URL(value).origin : (value ?? null)

/** The stored settings with changes. */
export function changedSettings(type: string, stored: Settings, given: Settings): Settings {
  const { secrets, sentTo = [] } = destinationOf(type)
  const isElsewhere = sentTo.some((name) => given[name] !== undefined && placeOf(given[name]) !== placeOf(stored[name]))
  const missing = secrets.filter(
    (name) => !sentTo.includes(name) && stored[name] !== undefined && stored[name] !== null && given[name] === undefined,
  )
  if (isElsewhere && missing.length > 0) {
    const message = `Enter ${missing.join(' and ')} again: stored secrets are not sent to another ${sentTo.join(' or ')}.`
    throw invalid(message, `destination__config__${missing[0]}`, 'required')
  }
  return { ...stored, ...given }
}

/** Servers may repeat in their errors what they were sent, also as JSON or in a URL. A secret that contains another one is hidden as a whole. */
export function withoutSecrets(message: string, type: string, settings: Settings): string {
  const hidden = destinationOf(type).secrets.flatMap((name) => {
    const value = settings[name]
    if (typeof value !== 'string') return []
    const forms = [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value.replace(/\p{Surrogate}/gu, '\ufffd'))]
    return [...new Set(forms)].map((form) => ({ name, form }))
  })
  return hidden
    .sort((a, b) => b.form.length - a.form.length)
    .reduce((text, { name, form }) => withoutWord(text, form, `<${name}>`), message)
}

/** As the destination gets them. */
export function readSettings(type: string, settings: Settings): unknown {
  const { success, data, error } = destinationOf(type).config.safeParse(settings)
  if (success) return data
  // Saved before the destination asked for more.
  const [{ path, message }] = error.issues as [z.core.$ZodIssue]
  throw new DestinationError(`${path.join('.')}: ${message} Change it in the settings of the export.`, { isRetryable: false })
}

const list = (value: Json | undefined): readonly string[] => (Array.isArray(value) ? value.map(String) : [])
export const eventLists = (config: Json): { readonly include: readonly string[]; readonly exclude: readonly string[] } => {
  const { include_events, exclude_events } = config as Settings
  return { include: list(include_events), exclude: list(exclude_events) }
}
