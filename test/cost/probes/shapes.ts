import { keys } from '../keys.ts'

// Bodies of capture at any size. Each is about one thing of which there can be much.

/** A text of about so many bytes. */
export type Shape = (bytes: number) => string

export const fill = (piece: string, bytes: number): string => piece.repeat(Math.max(1, Math.ceil(bytes / piece.length)))
/** Parts by their numbers, until there are so many bytes, with commas between. */
export function series(bytes: number, part: (i: number) => string): string {
  const parts: string[] = []
  for (let [i, length] = [0, 0]; length < bytes || i === 0; i++) {
    const one = part(i)
    parts.push(one)
    length += one.length + 1
  }
  return parts.join(',')
}

const head = `"api_key":"${keys.project}"`
const one = (fields: string) => `{${head},"event":"e","distinct_id":"d"${fields && `,${fields}`}}`
const withProperties = (properties: string) => one(`"properties":{${properties}}`)
const batch = (events: string, beside = '') => `{${head}${beside && `,${beside}`},"batch":[${events}]}`
const small = (fields = '') => `{"event":"e","distinct_id":"d"${fields && `,${fields}`}}`
const each =
  (fields: (i: number) => string, beside = ''): Shape =>
  (bytes) =>
    batch(
      series(bytes, (i) => `{"event":"e","distinct_id":"d"${fields(i) && `,${fields(i)}`}}`),
      beside,
    )
/** Half of the bytes are in something that stands once, the other half in events. */
const shared =
  (beside: (half: number) => string): Shape =>
  (bytes) =>
    batch(
      series(bytes / 2, () => small()),
      beside(bytes / 2),
    )
const nested = (open: string, close: string, bytes: number) => {
  const depth = Math.max(1, Math.floor(bytes / (open.length + close.length)))
  return `${open.repeat(depth)}0${close.repeat(depth)}`
}
const letters = (bytes: number) => fill('abcdefghij', bytes)
const uuid = (i: number) => `00000000-0000-4000-8000-${i.toString(16).padStart(12, '0')}`

export const shapes: Readonly<Record<string, Shape>> = {
  // what is no event, or none that can be read
  'NaN and backslashes before quotes': (bytes) => `NaN"${fill('\\"', bytes)}`,
  'NaN and unclosed quotes': (bytes) => `NaN${fill('"\\', bytes)}`,
  'NaN and a long text without its end': (bytes) => `[NaN,"${letters(bytes)}`,
  'Infinity among minus signs': (bytes) => `[Infinity,${fill('-', bytes)}`,
  'empty objects': (bytes) => `[${series(bytes, () => '{}')}]`,
  'empty objects in a batch': (bytes) => batch(series(bytes, () => '{}')),
  'empty lists': (bytes) => `[${series(bytes, () => '[]')}]`,
  zeros: (bytes) => batch(series(bytes, () => '0')),
  blanks: (bytes) => fill(' ', bytes),
  'blanks and an event': (bytes) => fill(' \n', bytes) + one(''),
  'an event and blanks': (bytes) => one('') + fill(' \t', bytes),
  'lists in lists': (bytes) => nested('[', ']', bytes),
  'opening brackets': (bytes) => fill('[', bytes),
  letters,
  digits: (bytes) => fill('1', bytes),
  quotes: (bytes) => fill('"', bytes),
  'percent signs': (bytes) => fill('%', bytes),
  'fields of a form': (bytes) => `data=x&${fill('a=b&', bytes)}`,
  'equals signs': (bytes) => `data${fill('=', bytes)}`,
  'base64 with a stray sign': (bytes) => `${fill('QUJD', bytes)}*`,
  // one event
  'a long property': (bytes) => withProperties(`"a":"${letters(bytes)}"`),
  'a property of escapes': (bytes) => withProperties(`"a":"${fill('\\u0000\\ud800', bytes)}"`),
  'many properties': (bytes) => withProperties(series(bytes, (i) => `"p${i}":${i}`)),
  'the same property': (bytes) => withProperties(series(bytes, (i) => `"p":${i}`)),
  'numbers as names': (bytes) => withProperties(series(bytes, (i) => `"${i * 7919}":1`)),
  'a long name of a property': (bytes) => withProperties(`"${letters(bytes)}":1`),
  'properties in properties': (bytes) => withProperties(`"a":${nested('{"a":', '}', bytes)}`),
  'lists in a property': (bytes) => withProperties(`"a":${nested('[', ']', bytes)}`),
  'a wide list in a property': (bytes) => withProperties(`"a":[${series(bytes, (i) => `${i}`)}]`),
  'NaN in a property': (bytes) => withProperties(`"a":[${series(bytes, () => 'NaN')}]`),
  'NaN beside escaped texts': (bytes) => withProperties(`"n":NaN,"a":[${series(bytes, () => '"\\\\\\""')}]`),
  'a number of many digits': (bytes) => withProperties(`"a":${fill('1234567890', bytes)}`),
  'a long name': (bytes) => `{${head},"event":"${letters(bytes)}","distinct_id":"d"}`,
  'a name that is an object': (bytes) => `{${head},"event":{${series(bytes, (i) => `"z${i * 7919}":1`)}},"distinct_id":"d"}`,
  'a long id': (bytes) => `{${head},"event":"e","distinct_id":"${fill('é😀', bytes)}"}`,
  'an id that is an object': (bytes) => `{${head},"event":"e","distinct_id":{${series(bytes, (i) => `"z${i * 7919}":1`)}}}`,
  'a long timestamp': (bytes) => one(`"timestamp":"2024-01-01T00:00:00.${fill('0', bytes)}Z"`),
  'a timestamp of blanks': (bytes) => one(`"timestamp":"2024-01-01${fill(' ', bytes)}x"`),
  'a long offset': (bytes) => one(`"offset":"${fill('9', bytes)}"`),
  'a long uuid': (bytes) => one(`"uuid":"${letters(bytes)}"`),
  'many groups': (bytes) => withProperties(`"$groups":{${series(bytes, (i) => `"g${i}":"k"`)}}`),
  'much to set': (bytes) => withProperties(`"$set":{${series(bytes, (i) => `"p${i}":${i}`)}},"$set_once":{}`),
  'much to unset': (bytes) => withProperties(`"$unset":[${series(bytes, (i) => `"p${i}"`)}]`),
  'many elements': (bytes) =>
    withProperties(`"$elements":[${series(bytes, (i) => `{"tag_name":"a","$el_text":"t","attr__class":"c${i}"}`)}]`),
  'an element of many classes': (bytes) => withProperties(`"$elements":[{"tag_name":"a","attr__class":"${fill('b a ', bytes)}"}]`),
  'an element of many attributes': (bytes) => withProperties(`"$elements":[{${series(bytes, (i) => `"attr__${i}":"\\"\\n"`)}}]`),
  'a long chain of elements': (bytes) => withProperties(`"$elements_chain":"${fill('a:x=\\"\\\\\\"\\";', bytes)}"`),
  'a chain of quotes': (bytes) => withProperties(`"$elements_chain":"${fill('a\\"', bytes)}"`),
  'a long address of a page': (bytes) => withProperties(`"$current_url":"https://x.org/?${fill('utm_source=a&', bytes)}"`),
  'an address of a page that is one host': (bytes) =>
    withProperties(`"$current_url":"https://${fill('a.', bytes)}/","$referrer":"${fill('a:', bytes / 4)}"`),
  'a long user agent': (bytes) => withProperties(`"$raw_user_agent":"${fill('Mozilla/5.0 (', bytes)}","$useragent":"${fill(' ', 100)}"`),
  'a long internet address': (bytes) => withProperties(`"$ip":"${fill('1.', bytes)}"`),
  // many events
  'small events': each(() => ''),
  'small events as a list': (bytes) => `[${series(bytes, () => one(''))}]`,
  'events of ids': each((i) => `"uuid":"${uuid(i)}"`),
  'events of one id': each(() => `"uuid":"${uuid(1)}"`),
  'events of a person each': (bytes) => batch(series(bytes, (i) => `{"event":"e","distinct_id":"d${i}"}`)),
  'events of a name each': (bytes) => batch(series(bytes, (i) => `{"event":"e${i}","distinct_id":"d"}`)),
  'events of a property each': each((i) => `"properties":{"p${i}":1}`),
  'events of a group each': each((i) => `"properties":{"$groups":{"g":"k${i}"}}`),
  'events of a session each': each((i) => `"properties":{"$session_id":"${uuid(i)}","$current_url":"/${i}"}`),
  'events of long times': each(() => '"timestamp":"2024-13-45T99:99:99.999999999Z"'),
  'events that each set': each((i) => `"properties":{"$set":{"a${i}":1},"$set_once":{"b${i}":1}}`),
  'events of the past': each((i) => `"timestamp":"2020-01-01T00:00:00Z","properties":{"a":${i}}`, '"historical_migration":true'),
  'a chain of aliases': (bytes) =>
    batch(series(bytes, (i) => `{"event":"$create_alias","distinct_id":"d${i}","properties":{"alias":"d${i + 1}"}}`)),
  'a chain of identifies': (bytes) =>
    batch(series(bytes, (i) => `{"event":"$identify","distinct_id":"u${i}","properties":{"$anon_distinct_id":"u${i + 1}"}}`)),
  'one user who was many': (bytes) =>
    batch(series(bytes, (i) => `{"event":"$identify","distinct_id":"u","properties":{"$anon_distinct_id":"a${i}","$set":{"p${i}":1}}}`)),
  'dangerous merges': (bytes) =>
    batch(series(bytes, (i) => `{"event":"$merge_dangerously","distinct_id":"u${i % 2}","properties":{"alias":"a${i}"}}`)),
  'group identifies': (bytes) =>
    batch(
      series(
        bytes,
        (i) => `{"event":"$groupidentify","distinct_id":"d","properties":{"$group_type":"t","$group_key":"k","$group_set":{"p${i}":1}}}`,
      ),
    ),
  'one bad event at the end': (bytes) => batch(`${series(bytes, () => small())},{}`),
  'good and bad events': (bytes) => batch(series(bytes, (i) => (i % 2 ? small() : '{"event":"","distinct_id":"d"}'))),
  'good events and ones with bad ids': (bytes) =>
    batch(
      series(
        bytes,
        (i) => `{"event":"e","distinct_id":"${i % 2 ? 'd' : '\\u0000'}","uuid":"${uuid(i)}","timestamp":"${i % 2 ? '' : 'x'}"}`,
      ),
    ),
  // what stands once and is meant for each
  'a long time of sending': shared((half) => `"sent_at":"${fill('2', half)}"`),
  'a long time of sending, as the browser writes it': shared((half) => `"sentAt":"2024-01-01T00:00:00.${fill('0', half)}Z"`),
  'many fields beside the batch': shared((half) => series(half, (i) => `"f${i}":1`)),
  'a token in each event': (bytes) => `[${series(bytes, (i) => `{"token":"t${i}","event":"e","distinct_id":"d"}`)}]`,
}

/** For the protocol that answers for each event: the same events with ids of their own. */
export const perEventShapes: Readonly<Record<string, Shape>> = {
  'good events': (bytes) => batch(series(bytes, (i) => `{"event":"e","distinct_id":"d","uuid":"${uuid(i)}"}`)),
  'good and bad events, for the protocol': (bytes) =>
    batch(series(bytes, (i) => `{"event":"${i % 2 ? 'e' : ''}","distinct_id":"d","uuid":"${uuid(i)}"}`)),
  'good events and ones that the pipeline refuses': (bytes) =>
    batch(series(bytes, (i) => `{"event":"e","distinct_id":"d","uuid":"${uuid(i)}"${i % 2 ? '' : ',"$set":7'}}`)),
  'good events and ones that are too deep': (bytes) =>
    batch(
      series(
        bytes,
        (i) =>
          `{"event":"e","distinct_id":"d","uuid":"${uuid(i)}","properties":{"a":${i % 2 ? '1' : `${'['.repeat(210)}${']'.repeat(210)}`}}}`,
      ),
    ),
  'events of one id, for the protocol': (bytes) => batch(series(bytes, () => `{"event":"e","distinct_id":"d","uuid":"${uuid(1)}"}`)),
}
