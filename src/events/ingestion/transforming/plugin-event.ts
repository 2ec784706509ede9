import { isObject } from '../../../lib/is-object.ts'
import type { PreparedEvent } from '../decoding/prepare.ts'
import { givesVisitFacts, initialName, isCopied } from '../persons/initial-properties.ts'
import type { Warning } from '../warnings.ts'
import type { PluginEvent } from './ports.ts'

// An event as plugins see it, and back.

/** Fields of all events of a batch. */
export interface BatchFacts {
  readonly projectId: number
  readonly siteUrl: string
  /** ISO 8601. */
  readonly now: string
  readonly sentAt: string | null
}

export interface EventForPlugins {
  readonly json: string
  /** What was recorded on arrival. */
  readonly noted: readonly Warning[]
}

/**
 * Of what the log stores of an event, a plugin sees everything but what was derived on arrival: that is derived again from its result. What is stored begins
 * at `from` in `bytes`.
 */
export function forPlugins(
  bytes: Buffer,
  from: number,
  event: PreparedEvent,
  { projectId, siteUrl, now, sentAt }: BatchFacts,
): EventForPlugins {
  const head = `{"uuid":"${event.uuid}","ip":null,"site_url":${JSON.stringify(siteUrl)},"team_id":${projectId},"now":"${now}","sent_at":${JSON.stringify(sentAt)},`
  const { propertiesTo, derivedBytes } = event
  const hasWrites = event.set !== null || event.setOnce !== null
  if (event.elementsChain === '' && (!hasWrites || derivedBytes > 0)) {
    const sent = bytes.toString('utf8', from + 1, propertiesTo - 1 - derivedBytes)
    if (!sent.includes('"$noted":') && event.visitor === null) return { json: `${head}${sent}}}`, noted: [] }
  }
  const { $noted, $cookieless: _visitor, ...raw } = JSON.parse(bytes.toString('utf8', from, propertiesTo + 1)) as Record<string, unknown>
  const properties = withoutFacts(isObject(raw.properties) ? raw.properties : {}, event)
  if (raw.elements_chain !== undefined && !Object.hasOwn(properties, '$elements_chain')) {
    properties.$elements_chain = raw.elements_chain
    delete raw.elements_chain
  }
  const json = head + JSON.stringify({ ...raw, properties }).slice(1)
  return { json, noted: Array.isArray($noted) ? ($noted as Warning[]) : [] }
}

/** Without changes of the person that were copied from the properties of a visit. */
function withoutFacts(properties: Record<string, unknown>, { name, isPersonless }: PreparedEvent): Record<string, unknown> {
  if (isPersonless || !givesVisitFacts(name)) return properties
  for (const [field, nameOf] of [
    ['$set', (key: string) => key],
    ['$set_once', initialName],
  ] as const) {
    const writes = properties[field] as Record<string, unknown> | undefined
    if (!isObject(writes)) continue
    let removed = 0
    for (const key of Object.keys(properties)) {
      if (!isCopied(key)) continue
      const written = nameOf(key)
      if (Object.hasOwn(writes, written) && isEqual(writes[written], properties[key])) {
        delete writes[written]
        removed++
      }
    }
    if (removed > 0 && Object.keys(writes).length === 0) delete properties[field]
  }
  return properties
}

const isEqual = (a: unknown, b: unknown) => a === b || (typeof a === 'object' && JSON.stringify(a) === JSON.stringify(b))

/** The event to prepare, from the result of the plugins. Its uuid stays: duplicates were found by it. */
export function fromPlugins(result: PluginEvent, uuid: string, { sentAt }: BatchFacts): Record<string, unknown> {
  const { event, distinct_id, timestamp, offset, properties, $set, $set_once, ip, elements_chain } = result
  const sent_at = result.sent_at === sentAt ? undefined : result.sent_at
  return { uuid, event, distinct_id, timestamp, offset, sent_at, properties, $set, $set_once, ip, elements_chain }
}
