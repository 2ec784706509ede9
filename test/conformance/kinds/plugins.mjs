import { runRuntimeCase } from '../../../dist/internal/plugins.js'
import { at, fits, show } from '../matchers.mjs'
import { Skip } from '../skip.mjs'

// The code of a plugin, called with an event: what it returns, what the pipeline makes of it, and what it captures and fetches.

const known = new Set(['returned', 'pipeline_returned', 'fetches', 'captured', 'task', 'calls', 'methods_defined', 'scheduled_tasks'])

/** Names as a list, or each with whether it is there. */
const namesFit = (want, got) =>
  Array.isArray(want)
    ? fits([...want].sort(), [...got].sort())
    : Object.entries(want).every(([name, is]) => got.includes(name) === (is === 'function' || is === true))

export const plugins = {
  takes: (test) => test.runtime === true,
  async run(test) {
    if (test.code_is === 'description') throw new Skip('the code is described in words')
    const other = Object.keys(test.expect).find((key) => !known.has(key))
    if (other) throw new Skip(`expects ${other}`)
    const given = test.plugin ?? {}
    const calls = test.expect.calls ?? []
    const eventOf = (call) => call?.given_event ?? call?.event ?? test.given_event
    const result = await runRuntimeCase({
      code: test.code,
      event: eventOf(calls[0]),
      again: calls.slice(1).map(eventOf),
      method: test.expect.task ?? test.method ?? 'processEvent',
      pluginId: given.id ?? 60,
      pluginName: given.name === undefined ? 'test-plugin' : given.name,
    })
    const wanted = (value) => {
      if (value === '{{plugin_config.config}}') return result.config
      if (Array.isArray(value)) return value.map(wanted)
      return typeof value === 'string' ? value.replace('<plugin name> (<plugin config id>)', result.label) : value
    }
    const problems = []
    const compare = (what, want, got) => {
      if (!fits(wanted(want), got)) problems.push(`${what}: expected ${show(wanted(want))}, got ${show(got)}`)
    }
    const compareAll = (what, pointers, got) => {
      if (pointers === null) return compare(what, null, got)
      for (const [pointer, want] of Object.entries(pointers)) compare(`${what}${pointer}`, want, at(got, pointer))
    }
    const { returned, pipeline_returned, fetches, captured } = test.expect
    if (returned !== undefined) compareAll('returned', returned, result.returned)
    if (pipeline_returned !== undefined) compareAll('pipeline', pipeline_returned, result.pipeline)
    if (fetches !== undefined) compare('fetches', fetches, result.fetches)
    if (captured !== undefined) {
      compare('number of captured events', captured.length, result.captured.length)
      for (const [i, one] of captured.entries()) compareAll(`captured ${i}`, one, result.captured[i])
    }
    // A call says what it returned by itself, or beside its event.
    for (const [i, one] of calls.entries()) {
      const want = one !== null && typeof one === 'object' && 'returned' in one ? one.returned : one
      const isPointers = want !== null && typeof want === 'object' && Object.keys(want).some((key) => key.startsWith('/'))
      if (isPointers) compareAll(`call ${i} `, want, result.calls[i])
      else compare(`call ${i}`, want, result.calls[i])
    }
    for (const [what, got] of [
      ['methods_defined', result.capabilities?.methods ?? []],
      ['scheduled_tasks', result.capabilities?.scheduled_tasks ?? []],
    ])
      if (test.expect[what] !== undefined && !namesFit(test.expect[what], got))
        problems.push(`${what}: expected ${show(test.expect[what])}, got ${show(got)}`)
    return { problems }
  },
}
