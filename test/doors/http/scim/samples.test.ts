import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { withHome } from '../conversation.ts'
import { provision } from './provider.ts'

// The requests that the documentation of Entra ID and of Okta shows for SCIM servers, in their order, with what this server answers.

interface Step {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly status: number
  readonly answer?: object
  readonly without?: readonly string[]
  /** The name under which later steps have the id of the answer. */
  readonly keep?: string
}
interface Sample {
  readonly domain: string
  readonly steps: readonly Step[]
}

const held = withHome()

describe.each(['entra-id', 'okta'])('the samples of %s', (file) => {
  const { domain, steps } = JSON.parse(readFileSync(new URL(`${file}.json`, import.meta.url), 'utf8')) as Sample

  test('are answered as they expect', async () => {
    const { home } = held
    const provider = await provision(home, domain, home.organization, home.admin)
    const ids = new Map<string, string>()
    const filled = <T>(value: T): T =>
      JSON.parse(JSON.stringify(value).replace(/\{(user|group)\}/g, (_, name: string) => ids.get(name) ?? 'missing')) as T
    for (const step of steps) {
      const { name, method, path, body, status, answer, without = [], keep } = filled(step)
      const found = await provider.send(method, path, body)
      expect(found.status, `${name}: ${JSON.stringify(found.body)}`).toBe(status)
      if (answer) expect(found.body, name).toMatchObject(answer)
      for (const attribute of without) expect(found.body, name).not.toHaveProperty(attribute)
      if (status === 204) expect(found.body, name).toBe(null)
      if (status === 201) expect(found.headers.get('location'), name).toBe(found.body.meta.location)
      if (keep) ids.set(keep, found.body.id)
    }
  })
})
