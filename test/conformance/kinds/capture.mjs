import { gzipSync } from 'node:zlib'
import lzString from 'lz-string'
import { compressionNamed, startWorld } from '../../../dist/internal/world.js'
import { at, fits, show } from '../matchers.mjs'
import { fill } from '../variables.mjs'
import { createThings } from './things.mjs'

// One capture request over real HTTP, and the events that capture took of it and that are stored afterwards.

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value)
const base64 = (text) => Buffer.from(text).toString('base64')

/** A field of a query or a form, as the text that is sent. */
const asField = (value) => {
  if (isObject(value) && '$json' in value) return JSON.stringify(value.$json)
  if (isObject(value) && '$base64_json' in value) return base64(JSON.stringify(value.$base64_json))
  return isObject(value) || Array.isArray(value) ? JSON.stringify(value) : String(value)
}

const bodyOf = (http) => {
  const type = http.content_type
  if (http.form !== undefined) {
    const fields = Object.entries(http.form).map(([name, value]) => [name, asField(value)])
    if (!type?.startsWith('multipart/')) return { body: new URLSearchParams(fields), type }
    const form = new FormData()
    for (const [name, value] of fields) form.append(name, value)
    return { body: form } // the boundary is in the header that fetch writes
  }
  if (http.json !== undefined) return { body: JSON.stringify(http.json), type: type ?? 'application/json' }
  if (http.gzip_json !== undefined) return { body: gzipSync(JSON.stringify(http.gzip_json)), type }
  if (http.lz64_json !== undefined) return { body: lzString.compressToBase64(JSON.stringify(http.lz64_json)), type: type ?? 'text/plain' }
  if (http.raw_hex !== undefined) return { body: Buffer.from(http.raw_hex, 'hex'), type }
  return { body: http.raw, type: type ?? 'text/plain' }
}

const send = async (base, http) => {
  const url = new URL(http.path ?? '/i/v0/e/', base)
  for (const [name, value] of Object.entries(http.query ?? {})) url.searchParams.set(name, asField(value))
  const { body, type } = bodyOf(http)
  const method = http.method ?? 'POST'
  const response = await fetch(url, {
    method,
    headers: { ...(type && { 'content-type': type }), ...http.headers },
    body: method === 'GET' ? undefined : body,
    redirect: 'manual',
  })
  const text = await response.text()
  let json
  try {
    json = JSON.parse(text)
  } catch {}
  return { status: response.status, headers: response.headers, text, json }
}

/** Cases about the key alone leave out who did it. */
const withSomebody = (value) => {
  if (Array.isArray(value)) return value.map(withSomebody)
  if (Array.isArray(value?.batch)) return { ...value, batch: value.batch.map(withSomebody) }
  const isNamed = ['distinct_id', '$distinct_id'].some((name) => name in value) || 'distinct_id' in (value.properties ?? {})
  return isNamed ? value : { ...value, distinct_id: 'somebody' }
}

/** A case about a parameter alone: the request that carries it, with an event in the form that the expected reading needs. */
const sampleEvent = JSON.stringify({ event: 'sample', distinct_id: 'd', api_key: 'sample_key' })
const sampleBody = {
  gzip: () => gzipSync(sampleEvent),
  lz64: () => lzString.compressToBase64(sampleEvent),
  base64: () => base64(sampleEvent),
}
const readingNames = {
  lzstring: 'lz64',
  'lz-string': 'lz64',
  'gzip-js': 'gzip',
  b64: 'base64',
  unsupported: null,
  none: null,
  unknown: null,
}
const checkCompression = async (world, http, wanted) => {
  const want = wanted in readingNames ? readingNames[wanted] : wanted
  const given =
    http.query?.compression ?? http.form?.compression ?? http.headers?.['content-encoding'] ?? http.headers?.['Content-Encoding']
  const got = compressionNamed(given ?? null)
  const problems = got === want ? [] : [`compression ${show(given)}: want ${show(want)}, got ${show(got)}`]
  const body = sampleBody[want]?.() ?? sampleEvent
  const url = new URL(`/i/v0/e/?${new URLSearchParams(http.query ?? {})}`, world.url)
  const { status } = await fetch(url, { method: 'POST', headers: { 'content-type': 'text/plain', ...http.headers }, body })
  if (status !== 200 || world.taken.length !== 1) problems.push(`a ${want ?? 'plain'} body: status ${status}, ${world.taken.length} taken`)
  return problems
}

/** The code that answers for a reason given in words. */
const codeOf = (reason) => {
  const token = /^token invalid:? ?(\w+)$/i.exec(reason)?.[1]
  if (token) return token
  if (/(multiple|two|different) (api )?(tokens|keys)/i.test(reason)) return 'multiple_tokens'
  if (/^(no|missing) (api )?(token|key|api_key)$/i.test(reason)) return 'missing_api_key'
  return null
}

const checkRefusal = (reason, answer) => {
  const problems = []
  if (answer.status < 400) problems.push(`${reason}: status ${answer.status}`)
  const code = codeOf(reason)
  if (code !== null && answer.json?.code !== code) problems.push(`${reason}: want code ${code}, got ${show(answer.json)}`)
  const field = /distinct_id|event name/i.exec(reason)?.[0]
  if (field && !String(answer.json?.detail).includes(field)) problems.push(`${reason}: ${show(answer.json)} does not say so`)
  return problems
}

const cut = (text) => [...text].slice(0, 200).join('')
const readable = (text) => text.replaceAll('\0', '\uFFFD')

/** Every event that was taken is stored; its uuid and distinct id are those that it is stored under. */
const stored = async (world) => {
  const problems = []
  const events = []
  const rows = new Map()
  for (const event of world.taken) {
    if (!rows.has(event.token)) {
      const project = await world.projectData((await world.accounts.projects.byToken(event.token)).id)
      const { results } = await project.query({ kind: 'SqlLikeQuery', query: 'select uuid, event, distinct_id from events limit 1000' })
      rows.set(event.token, results)
    }
    const left = rows.get(event.token)
    const place = left.findIndex(
      ([uuid, name, id]) =>
        name === cut(readable(event.event)) &&
        id === cut(readable(event.distinct_id)) &&
        (!event.uuid || uuid === event.uuid.toLowerCase()),
    )
    if (!event.isStored) events.push(event)
    else if (place < 0) problems.push(`taken, but not stored: ${show(event)}`)
    else {
      const [[uuid, , distinct_id]] = left.splice(place, 1)
      events.push({ ...event, uuid, distinct_id })
    }
  }
  return { problems, events }
}

export const capture = {
  takes: (test) => isObject(test.http),

  async run(test) {
    const world = await startWorld()
    try {
      const things = await createThings(world)
      world.takesAnyKey = true
      const scope = { variables: things.variables, now: () => world.now ?? new Date(), response: undefined }
      for (const entry of Array.isArray(test.given) ? test.given : []) await things.apply(entry, scope)
      const http = fill(test.http, scope)
      const expect = fill(test.expect, scope)
      if ('compression_read_as' in expect) return { problems: await checkCompression(world, http, expect.compression_read_as) }
      if (expect.token !== undefined && http.json) http.json = withSomebody(http.json)

      const answer = await send(world.url, http)
      const problems = []
      const wrong = (what, want, got) => problems.push(`${what}: want ${show(want)}, got ${show(got)}`)
      const isRefused = expect.error !== undefined
      const status = expect.status ?? (isRefused ? undefined : { $oneOf: [200, 204] })
      if (status !== undefined && !fits(status, answer.status)) wrong(`status (${answer.text.slice(0, 200)})`, status, answer.status)
      for (const [pointer, want] of Object.entries(expect.json ?? {})) {
        if (!fits(want, at(answer.json, pointer))) wrong(pointer || 'body', want, at(answer.json, pointer))
      }
      for (const [name, want] of Object.entries(expect.headers ?? {}))
        if (!fits(want, answer.headers.get(name))) wrong(`header ${name}`, want, answer.headers.get(name))
      if (isRefused) problems.push(...checkRefusal(expect.error, answer))
      if (expect.token !== undefined && !(world.taken.length > 0 && world.taken.every(({ token }) => token === expect.token)))
        wrong(`token (${answer.text.slice(0, 200)})`, expect.token, world.taken)

      const { problems: lost, events } = await stored(world)
      problems.push(...lost)
      const count = expect.accepted_count ?? expect.accepted?.length ?? (isRefused || answer.status >= 400 ? 0 : undefined)
      if (count !== undefined && events.length !== count) wrong('accepted', count, events)
      for (const [index, wanted] of (expect.accepted ?? []).entries())
        for (const [pointer, want] of Object.entries(wanted))
          if (!fits(want, at(events[index], pointer))) wrong(`event ${index} ${pointer}`, want, at(events[index], pointer))
      problems.push(...world.reports.map((report) => `the server reported ${show(report)}`))
      return { problems }
    } finally {
      await world.close()
    }
  },
}
