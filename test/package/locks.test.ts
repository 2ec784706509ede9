import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

// Every package of a lock file has a hash: what the registry gives is what was locked.

const root = fileURLToPath(new URL('../../', import.meta.url))
interface Locked {
  readonly link?: boolean
  readonly integrity?: string
}

/** Optional packages for other systems, which the registry does not have: they cannot be installed from anywhere. */
const unpublished = ['lib-darwin-arm64', 'lib-darwin-x64', 'lib-linux-arm64-gnu'].map((name) => `node_modules/@chdb/${name}`)

test.each(['package-lock.json', ...['clickhouse', 'clients', 'public-plugins', 'recipes'].map((name) => `test/${name}/package-lock.json`)])(
  '%s',
  (path) => {
    const { packages } = JSON.parse(readFileSync(`${root}${path}`, 'utf8')) as { packages: Record<string, Locked> }
    const all = Object.entries(packages).filter(([place, { link }]) => place !== '' && !link && !unpublished.includes(place))
    expect(all.filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? '')).map(([place]) => place)).toEqual([])
  },
)
