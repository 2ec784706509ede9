import { readFileSync, writeFileSync } from 'node:fs'
import { buildCli } from './cli.mjs'
import { buildClient } from './client.mjs'
import { buildWeb } from './web.mjs'

// For the container image, in a copy of the checkout: builds what `waymark` needs, and makes the optional peers dependencies, in the versions of the lock file, in place of the development
// dependencies. `npm prune` then removes all other packages.

await buildCli()
await buildWeb()
await buildClient()
const { devDependencies, peerDependencies, peerDependenciesMeta, ...rest } = JSON.parse(readFileSync('package.json', 'utf8'))
const peers = Object.keys(peerDependenciesMeta).map((name) => [name, devDependencies[name] ?? peerDependencies[name]])
writeFileSync('package.json', `${JSON.stringify({ ...rest, dependencies: { ...rest.dependencies, ...Object.fromEntries(peers) } }, null, 2)}\n`)
