import { runRuntimeCase } from '../../../dist/internal/plugins.js'
import { at, fits, show } from '../matchers.mjs'
import { Skip } from '../skip.mjs'

// The code of a plugin, called with an event: what it returns, what the pipeline makes of it, and what it captures and fetches.

const known = new Set(['returned', 'pipeline_returned', 'fetches', 'captured', 'task'])

export const plugins = {
  takes: (test) => test.runtime === true,
  async run(test) {
    if (test.code_is === 'description') throw new Skip('the code is described in words')
    const other = Object.keys(test.expect).find((key) => !known.has(key))
    if (other) throw new Skip(`expects ${other}`)
    const given = test.plugin ?? {}
    const result = await runRuntimeCase({
      code: test.code,
      event: test.given_event,
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
    return { problems }
  },
}
