// npm leaves packages for other platforms out of the lock file when the registry it asked does not have them, and `npm ci` then refuses that very file.
// This puts them in by name and version, with the hash that the registry has of them, as of all that have none. Run it after a change of dependencies:   npm run lock
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
const packages = lock.packages
const first = (name, table) => Object.entries(table).find(([part]) => name.includes(part))?.[1]
const systems = { darwin: 'darwin', win32: 'win32', windows: 'win32', freebsd: 'freebsd', openbsd: 'openbsd', netbsd: 'netbsd', openharmony: 'openharmony', sunos: 'sunos', aix: 'aix', android: 'android', linux: 'linux' }
const processors = { wasm32: 'wasm32', arm64: 'arm64', aarch64: 'arm64', x64: 'x64', ia32: 'ia32', riscv64: 'riscv64', ppc64: 'ppc64', s390x: 's390x', loong64: 'loong64', mips64el: 'mips64el', arm: 'arm' }

/** Where a package that `from` asks for may stand, nearest first. */
function places(from, name) {
  const found = [`${from}/node_modules/${name}`]
  for (let at = from; at.includes('/node_modules/'); ) {
    at = at.slice(0, at.lastIndexOf('/node_modules/'))
    found.push(`${at}/node_modules/${name}`)
  }
  return [...found, `node_modules/${name}`]
}

let added = 0
for (const [from, { optionalDependencies = {}, dev }] of Object.entries({ ...packages })) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    if (!/^\d/.test(version) || places(from, name).some((place) => packages[place]?.version === version)) continue
    const [cpu, os] = [first(name, processors), first(name, systems)]
    const place = packages[`node_modules/${name}`] ? `${from}/node_modules/${name}` : `node_modules/${name}`
    packages[place] = {
      version,
      ...(cpu && { cpu: [cpu] }),
      ...(dev && { dev }),
      ...(name.includes('musl') && { libc: ['musl'] }),
      optional: true,
      ...(os && { os: [os] }),
    }
    added++
  }
}
let unknown = 0
for (const [place, one] of Object.entries(packages)) {
  if (place === '' || one.link || one.integrity) continue
  const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)
  try {
    const { version, ...rest } = one
    const integrity = JSON.parse(execFileSync('npm', ['view', `${name}@${version}`, 'dist.integrity', '--json'], { encoding: 'utf8' }))
    packages[place] = { version, integrity, ...rest }
  } catch {
    unknown++
    console.error(`the registry does not have ${name}@${one.version}`)
  }
}
lock.packages = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`)
console.log(`${added} packages added, ${unknown} without a hash`)
