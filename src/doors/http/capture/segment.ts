import type { EventSource } from '../../../events/ingestion/decoding/event-source.ts'
import { runInSlices } from '../../../lib/flow/run-in-slices.ts'
import { nameUuid } from '../../../lib/ids/name-uuid.ts'
import { isObject } from '../../../lib/is-object.ts'
import { parsedUrl } from '../../../lib/web/parsed-url.ts'
import { type CaptureRequest, decodeBody } from './body.ts'
import { basicUser, type Capture, type CapturedEvent, checkedToken, forwardedFor, invalid, mustNotRepeat } from './events.ts'
import { scanJson } from './json-items.ts'
import { CaptureRefusal } from './refusal.ts'

// Calls of Segment's and RudderStack's clients. The write key, which is the key of the project, is the user of Basic authentication or a field. docs/clients.md says what becomes of each field.

type Fields = Readonly<Record<string, unknown>>

const callNames = ['track', 'identify', 'page', 'screen', 'group', 'alias'] as const
type CallName = (typeof callNames)[number]
const isCall = (name: unknown): name is CallName => (callNames as readonly unknown[]).includes(name)

export const segmentPaths: readonly string[] = [...callNames, 'batch', 'import'].map((name) => `/v1/${name}`)

/** Of the ids of messages, which are texts of any form: a message that is sent again has the same id. */
const messages = '6b1f4a7e-9a57-4f0e-8a3e-0d6d0b2b7c11'
const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

const objectOf = (value: unknown): Fields => (isObject(value) ? value : {})
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined
const known = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))

/** What a client says about where it runs, under the names that our own clients use. */
function surroundings(context: Fields): Fields {
  const [app, campaign, device, library, os, page, screen, network] = [
    'app',
    'campaign',
    'device',
    'library',
    'os',
    'page',
    'screen',
    'network',
  ].map((name) => objectOf(context[name])) as [Fields, Fields, Fields, Fields, Fields, Fields, Fields, Fields]
  return known({
    $ip: context.ip,
    $locale: context.locale,
    $timezone: context.timezone,
    $raw_user_agent: context.userAgent,
    $session_id: context.sessionId,
    $current_url: page.url,
    $pathname: page.path,
    $host: typeof page.url === 'string' ? parsedUrl(page.url)?.host : undefined,
    $referrer: page.referrer,
    title: page.title,
    utm_source: campaign.source,
    utm_medium: campaign.medium,
    utm_campaign: campaign.name,
    utm_term: campaign.term,
    utm_content: campaign.content,
    $app_name: app.name,
    $app_version: app.version,
    $app_build: app.build,
    $app_namespace: app.namespace,
    $device_id: device.id,
    $device_manufacturer: device.manufacturer,
    $device_model: device.model,
    $device_name: device.name,
    $device_type: device.type,
    $os: os.name,
    $os_version: os.version,
    $screen_width: screen.width,
    $screen_height: screen.height,
    $network_carrier: network.carrier,
    $network_wifi: network.wifi,
    $lib: library.name,
    $lib_version: library.version,
  })
}

/** Properties of a page or screen come before what the context says of it. */
const named = (name: unknown, key: string): Fields => known({ [key]: textOf(name) })

/** A group has no type of its own: the traits or the context may name one. */
const groupTypeOf = (call: Fields, traits: Fields, context: Fields): string =>
  textOf(call.groupType) ?? textOf(context.groupType) ?? textOf(traits.group_type) ?? 'group'

interface Made {
  readonly event: string
  readonly properties: Fields
}

function madeOf(type: CallName, call: Fields, index: number): Made {
  const context = objectOf(call.context)
  const traits = { ...objectOf(context.traits), ...objectOf(call.traits) }
  const own = objectOf(call.properties)
  const about = surroundings(context)
  const groupId = textOf(context.groupId)
  const inGroup = groupId === undefined ? {} : { $groups: { [groupTypeOf(call, {}, context)]: groupId } }
  const setting = Object.keys(traits).length > 0 && type !== 'group' ? { $set: traits } : {}
  switch (type) {
    case 'track': {
      const event = textOf(call.event)
      if (event === undefined) throw invalid(`A track call needs an event. (call ${index})`)
      return { event, properties: { ...about, ...own, ...inGroup, ...setting } }
    }
    case 'identify': {
      const [user, anonymous] = [textOf(call.userId), textOf(call.anonymousId)]
      const joined = user !== undefined && anonymous !== undefined ? { $anon_distinct_id: anonymous } : {}
      // Without a user it only says something about a visitor.
      return user === undefined
        ? { event: '$set', properties: { ...about, $set: traits } }
        : { event: '$identify', properties: { ...about, ...joined, $set: traits } }
    }
    case 'page': {
      const { url, path, referrer } = own
      const place = known({ $current_url: url, $pathname: path, $referrer: referrer })
      return {
        event: '$pageview',
        properties: {
          ...about,
          ...place,
          ...own,
          ...named(call.name, 'name'),
          ...named(call.category, 'category'),
          ...inGroup,
          ...setting,
        },
      }
    }
    case 'screen':
      return {
        event: '$screen',
        properties: { ...about, ...own, ...named(call.name, '$screen_name'), ...named(call.category, 'category'), ...inGroup, ...setting },
      }
    case 'group': {
      const key = textOf(call.groupId)
      if (key === undefined) throw invalid(`A group call needs a groupId. (call ${index})`)
      const { group_type: _, ...set } = objectOf(call.traits)
      const type = groupTypeOf(call, objectOf(call.traits), context)
      return {
        event: '$groupidentify',
        properties: { ...about, $group_type: type, $group_key: key, $group_set: set, $groups: { [type]: key } },
      }
    }
    case 'alias': {
      const previous = textOf(call.previousId)
      if (previous === undefined) throw invalid(`An alias call needs a previousId. (call ${index})`)
      return { event: '$create_alias', properties: { ...about, alias: previous } }
    }
  }
}

function eventOf(item: unknown, index: number, type: CallName | null, shared: Fields): CapturedEvent {
  if (!isObject(item)) throw invalid(`Each call must be an object. (call ${index})`)
  const name = type ?? item.type
  if (!isCall(name)) throw invalid(`The type of a call must be one of ${callNames.join(', ')}. (call ${index})`)
  const call: Fields = { ...item, context: { ...objectOf(shared.context), ...objectOf(item.context) } }
  const distinctId = textOf(call.userId) ?? textOf(call.anonymousId) ?? (name === 'group' ? textOf(call.groupId) : undefined)
  if (distinctId === undefined) throw invalid(`A call needs a userId or an anonymousId. (call ${index})`)
  const message = textOf(item.messageId)
  return {
    ...madeOf(name, call, index),
    distinct_id: distinctId,
    ...known({ timestamp: item.timestamp ?? item.originalTimestamp }),
    ...(message !== undefined && { uuid: uuidForm.test(message) ? message : nameUuid(messages, message) }),
  }
}

/** Of a call, or of the list of a batch. */
export async function readSegment(request: CaptureRequest, path: string, address: string | null): Promise<Capture> {
  const { json } = await decodeBody(request)
  const { items, value } = await runInSlices(scanJson(json), 8)
  const shared = objectOf(value)
  const single = path.slice('/v1/'.length)
  const type = isCall(single) ? single : null
  if (type === null && items === null) throw invalid('A batch needs a list of calls, in the field batch.')
  const list: EventSource = type === null ? items! : { count: 1, bytes: json.length, [Symbol.iterator]: () => [value][Symbol.iterator]() }
  if (list.count === 0) throw new CaptureRefusal('no-data', 'The request contains no events.')
  const token = checkedToken(basicUser(request.headers) ?? textOf(shared.writeKey) ?? textOf(shared.api_key))
  const inBatch = type === null ? shared : {}
  mustNotRepeat([[objectOf(inBatch.context), list.count]])
  return {
    token,
    events: {
      count: list.count,
      bytes: list.bytes,
      *[Symbol.iterator]() {
        let index = 0
        for (const item of list) yield eventOf(item, index++, type, inBatch)
      },
    },
    sentAt: textOf(shared.sentAt) ?? null,
    isHistorical: single === 'import',
    ip: forwardedFor(request.headers) ?? address,
    strangeFields: [],
  }
}
