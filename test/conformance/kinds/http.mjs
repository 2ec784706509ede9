import { startWorld } from '../../../dist/internal/world.js'
import { at, fits, show } from '../matchers.mjs'
import { fill, UnknownVariable } from '../variables.mjs'
import { seeState } from './states.mjs'
import { createThings } from './things.mjs'

// Conversations: a world, then requests over real HTTP and what is known of the answers.

/** Where a text would name the reference product, ours names itself. */
const rename = (value) => {
  if (typeof value === 'string') return value.replaceAll('PostHog', 'Waymark')
  if (Array.isArray(value)) return value.map(rename)
  if (value !== null && typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, rename(one)]))
  return value
}

/** A file of a form, however a case names its parts. */
const fileOf = (value) => {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return null
  const given = value.$file ?? value.file ?? value
  const [content, filename] = [given.content ?? given.contents ?? given.data, given.filename ?? given.file_name ?? given.name]
  const type = given.type ?? given.content_type ?? 'application/octet-stream'
  return typeof content === 'string' && typeof filename === 'string' ? new File([content], filename, { type }) : null
}

const bodyOf = (step, scope) => {
  if (step.body !== undefined) return { body: JSON.stringify(fill(step.body, scope)), type: 'application/json' }
  if (step.form !== undefined)
    return { body: new URLSearchParams(Object.entries(fill(step.form, scope)).map(([key, value]) => [key, String(value)])) }
  if (step.raw !== undefined) return { body: fill(step.raw, scope), type: 'application/json' }
  if (step.multipart !== undefined) {
    const form = new FormData()
    for (const [key, value] of Object.entries(fill(step.multipart, scope)))
      form.append(key, fileOf(value) ?? (typeof value === 'object' ? JSON.stringify(value) : String(value)))
    return { body: form }
  }
  return {}
}

const send = async (step, scope, things) => {
  const url = new URL(fill(step.path, scope), things.world.url)
  for (const [key, value] of Object.entries(fill(step.query ?? {}, scope)))
    for (const one of [value].flat())
      url.searchParams.append(key, typeof one === 'object' && one !== null ? JSON.stringify(one) : String(one))
  const { body, type } = bodyOf(step, scope)
  const headers = {
    ...things.headers,
    ...(await things.credentials(step.as)),
    ...(type ? { 'content-type': type } : {}),
    ...fill(step.headers ?? {}, scope),
  }
  const response = await fetch(url, { method: step.method, headers, body })
  const text = await response.text()
  let json
  try {
    json = text === '' ? undefined : JSON.parse(text)
  } catch {}
  return { status: response.status, headers: response.headers, text, json }
}

const checkAnswer = (expect, answer, scope) => {
  const problems = []
  const wrong = (what, want, got) => problems.push(`${what}: want ${show(want)}, got ${show(got)}`)
  if (expect.status !== undefined && !fits(expect.status, answer.status))
    wrong(`status (${answer.text.slice(0, 200)})`, expect.status, answer.status)
  for (const [pointer, raw] of Object.entries(expect.json ?? {})) {
    const filled = fill(raw, scope)
    const want = pointer.endsWith('detail') ? rename(filled) : filled
    const got = at(answer.json, pointer)
    const same =
      want !== null && typeof want === 'object' && '$same_as' in want ? fits(at(answer.json, want.$same_as), got) : fits(want, got)
    if (!same) wrong(pointer || 'body', want, got)
  }
  for (const [pointer, want] of Object.entries(expect.length ?? {})) {
    const got = at(answer.json, pointer)?.length
    if (got !== want) wrong(`length of ${pointer || 'body'}`, want, got)
  }
  const keys = Array.isArray(expect.keys) ? { '': expect.keys } : (expect.keys ?? {})
  for (const [pointer, want] of Object.entries(keys)) {
    const got = at(answer.json, pointer)
    const missing = [want].flat().filter((key) => got === null || typeof got !== 'object' || !(key in got))
    if (missing.length > 0) wrong(`keys of ${pointer || 'body'}`, missing, Object.keys(got ?? {}))
  }
  for (const pointer of expect.absent ?? [])
    if (at(answer.json, pointer) !== undefined) wrong(`${pointer} absent`, undefined, at(answer.json, pointer))
  if (expect.empty_body && answer.text !== '') wrong('empty body', '', answer.text)
  for (const [name, raw] of Object.entries(expect.headers ?? {}))
    if (!fits(fill(raw, scope), answer.headers.get(name))) wrong(`header ${name}`, raw, answer.headers.get(name))
  return problems
}

export const http = {
  takes: (test) => Array.isArray(test.steps),

  async run(test) {
    const world = await startWorld()
    try {
      const things = await createThings(world)
      const scope = { variables: things.variables, now: () => world.now ?? new Date(), response: undefined }
      const prepare = async (entries) => {
        for (const entry of Array.isArray(entries) ? entries : []) await things.apply(entry, scope)
      }
      await prepare(test.given)
      const problems = []
      const unseen = []
      for (const [index, step] of test.steps.entries()) {
        const place = `step ${index + 1} ${step.method} ${step.path}`
        let answer
        try {
          await prepare(step.before)
          answer = await send(step, scope, things)
        } catch (error) {
          // What an earlier step should have answered is missing: the rest of the conversation cannot be held.
          if (!(error instanceof UnknownVariable) || problems.length === 0) throw error
          problems.push(`${place}: ${error.message}, the case ends here`)
          break
        }
        scope.response = answer.json
        if (process.env.CONFORMANCE_TRACE) console.log(place, answer.status, answer.text.slice(0, 600))
        problems.push(...checkAnswer(step.expect ?? {}, answer, scope).map((one) => `${place}: ${one}`))
        for (const [what, want] of Object.entries(step.expect?.state ?? {})) {
          const seen = await seeState(what, fill(want, scope), things)
          if (seen === null) unseen.push(what)
          else problems.push(...seen.map((one) => `${place}: state ${what}: ${one}`))
        }
        for (const [name, pointer] of Object.entries(step.capture ?? {})) things.variables[name] = at(answer.json, pointer)
      }
      problems.push(...world.reports.map((report) => `the server reported ${show(report)}`))
      return { problems, unseen }
    } finally {
      await world.close()
    }
  },
}
