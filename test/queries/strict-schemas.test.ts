import { expect, test } from 'vitest'
import type { z } from 'zod'
import { pathText, problemOf, readAs } from '../../src/errors/validation.ts'
import { actionFieldsSchema } from '../../src/queries/filters/action-definition.ts'
import { cohortFiltersSchema } from '../../src/queries/filters/cohort-definition.ts'
import { funnelPointSchema } from '../../src/queries/funnels/actors.ts'
import { correlationPointSchema } from '../../src/queries/funnels/correlation/schema.ts'
import { lifecyclePointSchema } from '../../src/queries/lifecycle/actors.ts'
import { pathsPointSchema } from '../../src/queries/paths/actors.ts'
import { queryKinds } from '../../src/queries/registry.ts'
import { retentionPointSchema } from '../../src/queries/retention/actors.ts'
import { stickinessActorsSchema, stickinessPointSchema } from '../../src/queries/stickiness/actors.ts'
import { trendsPointSchema } from '../../src/queries/trends/actors.ts'
import { foreignWords, left, misspelled, oddValues, placesOf, sample } from '../harness/schema-places.ts'

// Every field of every query kind: missing, of another type, with an unknown value, misspelled. The error names the path, what is expected, and the
// most similar name.

const schemas: readonly (readonly [string, z.ZodType])[] = [
  ...Object.values(queryKinds).map(({ kind, schema }) => [kind, schema] as const),
  ['a point of a trend', trendsPointSchema],
  ['a point of a lifecycle', lifecyclePointSchema],
  ['a point of a retention', retentionPointSchema],
  ['a point of a correlation', correlationPointSchema],
  ['a point of paths', pathsPointSchema],
  ['a point of a stickiness', stickinessPointSchema],
  ['actors of a stickiness', stickinessActorsSchema],
  ['a point of a funnel', funnelPointSchema],
  ['an action', actionFieldsSchema],
  ['filters of a cohort', cohortFiltersSchema],
]

test.each(schemas)('%s', (_, whole) => {
  const misfit = (body: unknown) => {
    const read = readAs(whole, body)
    return 'misfit' in read ? read.misfit : null
  }
  let looked = 0
  for (const { path, schema, isRequired, fields, values, body } of placesOf(whole)) {
    const place = pathText(path)
    const other = misfit(body(sample(schema)))?.message
    // A rule about several fields may name another one of them.
    const isBelow = (found: readonly PropertyKey[]) => path.slice(0, -1).every((part, i) => found[i] === part || found.length <= i)
    const cases = [...oddValues, ...(isRequired && path.length > 0 && typeof path.at(-1) === 'string' ? [left] : [])]
    for (const value of cases) {
      const found = misfit(body(value))
      if (value === left) expect(found, `${place} left out`).not.toBeNull()
      if (!found || found.message === other) continue
      looked++
      const shown = `${place} = ${String(typeof value === 'symbol' ? 'left out' : JSON.stringify(value))}: ${found.message}`
      expect(found.message, shown).not.toMatch(foreignWords)
      expect(found.message.length, shown).toBeGreaterThan(15)
      expect(isBelow(found.path), `${shown} at ${pathText(found.path)}`).toBe(true)
    }
    if (values.length > 1) {
      expect(misfit(body('zzz')), place).toMatchObject({ path, allowed: values })
      const wrong = misspelled(values.at(-1)!)
      if (wrong.length > 3) expect(misfit(body(wrong))?.message, place).toMatch(/must be one of .*, but got .*Did you mean/)
    }
    for (const name of fields) {
      const wrong = misspelled(name)
      if (fields.includes(wrong)) continue
      const found = misfit(body({ ...(sample(schema) as object), [wrong]: 1 }))
      if (!found || found.message === other) continue // an object that takes any field
      expect(found.message, `${place}.${wrong}`).toContain(`Unknown field "${wrong}"`)
      expect(found.path, `${place}.${wrong}`).toEqual([...path, wrong])
    }
  }
  expect(looked).toBeGreaterThan(5)
})

test('what a schema says itself is kept', () => {
  expect(problemOf({ code: 'custom', path: ['a', 0, 'b'], message: 'It is wrong.', input: 1 })).toEqual({
    path: ['a', 0, 'b'],
    message: 'It is wrong.',
  })
})
