import type { Probe } from './probe.ts'
import { attackProbes } from './probes/attacks.ts'
import { callProbes } from './probes/calls.ts'
import { captureNamed, captureProbes } from './probes/capture.ts'
import { crowdProbes } from './probes/crowds.ts'
import { doorProbes } from './probes/doors.ts'
import { functionNamed, functionPairProbes, functionProbes } from './probes/functions.ts'
import { headerProbes } from './probes/headers.ts'
import { nestedProbes } from './probes/nested-functions.ts'
import { queryProbes } from './probes/queries.ts'
import { randomCompiles, randomNamed, randomStatements } from './probes/random-statements.ts'
import { regexpProbes } from './probes/regexps.ts'
import { routeProbes } from './probes/routes.ts'
import { compileProbes, statementProbes } from './probes/statements.ts'
import type { Template } from './template.ts'

/** What the probes need of what was made for them. */
export type Made = Pick<Template, 'ids' | 'strangers'>

export interface Family {
  readonly name: string
  /** Its share of the time, beside those of the others. */
  readonly share: number
  /** What the names of its probes begin with. */
  readonly prefix: RegExp
  /** The same in the same order for the same numbers drawn; some have no end. */
  probes(draw: () => number, template: Made): Iterable<Probe>
  /** One by its name, where that is all there is to know of it. */
  named?(name: string): Probe | null
}

export const families: readonly Family[] = [
  { name: 'attack', share: 2, prefix: /^attack /, probes: attackProbes },
  { name: 'capture', share: 4, prefix: /^capture /, probes: captureProbes, named: captureNamed },
  { name: 'header', share: 1, prefix: /^(header|parameter|capture) /, probes: headerProbes },
  { name: 'route', share: 2, prefix: /^route /, probes: routeProbes },
  { name: 'statement', share: 4, prefix: /^statement: /, probes: statementProbes },
  { name: 'compile', share: 2, prefix: /^compile /, probes: compileProbes },
  { name: 'random statement', share: 2, prefix: /^statement: random /, probes: randomStatements, named: randomNamed },
  { name: 'random compile', share: 2, prefix: /^compile .*: random /, probes: randomCompiles, named: randomNamed },
  { name: 'function', share: 4, prefix: /^function /, probes: functionProbes, named: functionNamed },
  { name: 'function pair', share: 1, prefix: /^function /, probes: functionPairProbes },
  { name: 'nested functions', share: 2, prefix: /^compile .*: nested /, probes: nestedProbes },
  { name: 'query', share: 3, prefix: /^query/, probes: queryProbes },
  { name: 'regexp', share: 1, prefix: /^regexp /, probes: regexpProbes },
  { name: 'call', share: 1, prefix: /^(csv|formula|parse) /, probes: callProbes },
  { name: 'door', share: 2, prefix: /^(agent|viewer|postgres)\b/, probes: doorProbes },
  { name: 'crowd', share: 1, prefix: /^crowd/, probes: crowdProbes },
]

/** How far a list is read for one that is wanted by its name. */
const farthest = 20_000

/** The probe of that name, else those whose names have it as a part. */
export function* probesNamed(wanted: string, draw: () => number, template: Made): Generator<Probe> {
  const near = families.filter(({ prefix }) => prefix.test(wanted))
  for (const { named } of near) {
    const probe = named?.(wanted)
    if (probe) return yield probe
  }
  const seen = new Set<string>()
  for (const family of near.length > 0 ? near : families) {
    let place = 0
    for (const probe of family.probes(draw, template)) {
      if (place++ > farthest) break
      if (!probe.name.includes(wanted) || seen.has(probe.name)) continue
      seen.add(probe.name)
      yield probe
      if (probe.name === wanted) return
    }
  }
}
