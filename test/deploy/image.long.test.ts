import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { freePort } from '../harness/free-port.ts'
import { last, root, runStage, sendContext, stagesOf, textOf, variablesOf, wordsOf } from './dockerfile.ts'
import { unitOf } from './unit.ts'

// Runs the Dockerfile without a daemon: its steps in folders in place of layers, its command and its health check as its user. What the image has is started as the compose file, the unit and the
// manifest start it, too. Needs the registry, or the packages in npm's cache.

const isRoot = process.getuid?.() === 0
if (!isRoot) console.warn('\n  The image runs as the user of the tests, not as its own: only root can change to it.\n')

const stages = stagesOf(textOf('Dockerfile'))
const image = stages.at(-1)!
const [uid, gid] = last(image.steps, 'USER').split(':').map(Number) as [number, number]
const user = isRoot ? { uid, gid } : {}

let folder: string
/** The root of the image. */
let files: string
const folderOf = (stage: string) => join(folder, stage === '' ? 'context' : stage)

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'waymark-image-'))
  chmodSync(folder, 0o755)
  mkdirSync(folderOf(''))
  sendContext(folderOf(''))
  const env = { PATH: process.env.PATH!, HOME: process.env.HOME ?? folder, npm_config_prefer_offline: 'true' }
  for (const stage of stages) {
    const at = join(folder, stage.name || 'image')
    mkdirSync(join(at, 'usr/local/bin'), { recursive: true })
    // Only root may give files away.
    const steps = isRoot ? stage.steps : stage.steps.map(({ name, text }) => ({ name, text: text.replace(/&& chown \S+ \S+/, '') }))
    runStage({ ...stage, steps }, at, folderOf, env)
  }
  files = join(folder, 'image')
}, 600_000)
const running = new Set<ChildProcess>()
afterAll(() => {
  for (const child of running) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

interface Started {
  readonly child: ChildProcess
  readonly url: string
  readonly said: readonly string[]
  readonly env: Record<string, string>
  /** With a signal, as an orchestrator does; the exit code. */
  stop(): Promise<number | null>
}

/** In the image, paths are absolute: here they are in its folder. */
const inImage = (words: readonly string[]) => words.map((word) => (/^\/(?:data|app)\b/.test(word) ? join(files, word) : word))

const environment = (more: Record<string, string> = {}) => {
  const own = Object.fromEntries(Object.entries(variablesOf(image.steps)).map(([name, value]) => [name, inImage([value])[0]!]))
  return { PATH: `${join(files, 'usr/local/bin')}${delimiter}${process.env.PATH}`, ...own, ...more }
}

async function start(words: readonly string[], more: Record<string, string> = {}): Promise<Started> {
  const env = environment({ WAYMARK_PORT: String(await freePort()), ...more })
  const [command, ...args] = inImage([...wordsOf(last(image.steps, 'ENTRYPOINT')), ...words])
  const child = spawn(command!, args, { env, ...user, stdio: ['ignore', 'pipe', 'pipe'], cwd: join(files, 'app') })
  const said: string[] = []
  createInterface({ input: child.stderr! }).on('line', (line) => said.push(line))
  running.add(child)
  const ended = new Promise<number | null>((resolve) =>
    child.once('exit', (code) => {
      running.delete(child)
      resolve(code)
    }),
  )
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      said.push(line)
      if (line.startsWith('Import what you have')) resolve()
    })
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${said.join('\n')}`)))
  })
  const url = /^Waymark +(\S+)$/m.exec(said.join('\n'))![1]!
  const stop = () => {
    child.kill(last(image.steps, 'STOPSIGNAL') as 'SIGTERM')
    return ended
  }
  return { child, url, said, env, stop }
}

/** A command beside the server, as `docker exec` runs it. */
const beside = ({ env }: Pick<Started, 'env'>, ...words: string[]) =>
  spawnSync(words[0]!, inImage(words.slice(1)), { env, ...user, encoding: 'utf8', cwd: join(files, 'app') })

const healthy = (started: Pick<Started, 'env'>) => beside(started, ...wordsOf(last(image.steps, 'HEALTHCHECK'))).status

const command = wordsOf(last(image.steps, 'CMD'))

describe('the image', () => {
  test('has the versions of the lock file, without what only builds and tests need', () => {
    const { packages } = JSON.parse(textOf('package-lock.json')) as { packages: Record<string, { version: string }> }
    const { dependencies, peerDependencies, devDependencies } = JSON.parse(textOf('package.json')) as Record<string, Record<string, string>>
    const versionOf = (name: string) => JSON.parse(readFileSync(join(files, 'app/node_modules', name, 'package.json'), 'utf8')).version
    for (const name of Object.keys({ ...dependencies, ...peerDependencies }))
      expect(versionOf(name), name).toBe(packages[`node_modules/${name}`]!.version)
    const others = Object.keys(devDependencies!).filter((name) => !(name in peerDependencies!))
    expect(others.filter((name) => existsSync(join(files, 'app/node_modules', name, 'package.json')))).toEqual([])
    expect(readdirSync(join(files, 'app')).sort()).toEqual(['LICENSE', 'dist', 'node_modules', 'package.json'])
  })

  test('serves as its user, is healthy while it does, and ends with 0 at its signal', async () => {
    const started = await start(command)
    try {
      const status = readFileSync(`/proc/${started.child.pid}/status`, 'utf8')
      if (isRoot) expect(/^Uid:\s+(\d+)\s+(\d+)/m.exec(status)!.slice(1)).toEqual([String(uid), String(uid)])
      expect(statSync(join(files, 'data/control.duckdb')).uid).toBe(isRoot ? uid : process.getuid!())
      expect(healthy(started)).toBe(0)
      expect((await fetch(`${started.url}/_readyz`)).status).toBe(200)
      const page = await fetch(started.url, { headers: { accept: 'text/html' } })
      expect(await page.text()).toContain('<title>Waymark')
      // Commands beside it need no option: the data directory is in the environment.
      const doctor = beside(started, 'waymark', 'doctor')
      expect(doctor.status, doctor.stderr).toBe(0)
      const [, owner] = /^Owner +(\S+)$/m.exec(started.said.join('\n'))!
      expect(beside(started, 'waymark', 'users', 'link', '--user', owner!).stdout).toMatch(/^Choose a password http/m)
    } finally {
      expect(await started.stop()).toBe(0)
    }
    expect(healthy(started)).toBe(1)
  })

  test('a server that does not respond is not healthy', async () => {
    const started = await start(command)
    started.child.kill('SIGSTOP')
    try {
      const [, seconds] = /--timeout=(\d+)s/.exec(last(image.steps, 'HEALTHCHECK'))!
      const [program, ...args] = wordsOf(last(image.steps, 'HEALTHCHECK'))
      const asked = spawnSync(program!, args, { env: started.env, timeout: Number(seconds) * 1000 })
      expect(asked.status).not.toBe(0)
    } finally {
      started.child.kill('SIGCONT')
      await started.stop()
    }
  })

  test('needs only its volume: nothing else is written', async () => {
    const writable = isRoot ? execFileSync('find', [join(files, 'app'), '-user', String(uid)], { encoding: 'utf8' }) : ''
    expect(writable).toBe('')
    const before = execFileSync(
      'find',
      [files, '-path', join(files, 'data'), '-prune', '-o', '-newer', join(files, 'data/control.duckdb'), '-print'],
      {
        encoding: 'utf8',
      },
    )
    expect(before).toBe('')
  })

  test('a backup is restored into a folder of the volume, which is then served', async () => {
    const started = await start(command)
    const [, token] = /^Project key +(\S+)$/m.exec(started.said.join('\n'))!
    const body = JSON.stringify({ api_key: token, event: 'kept', distinct_id: 'ada' })
    const sent = await fetch(`${started.url}/capture/`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    expect(sent.status).toBe(200)
    const place = join(folder, 'backups')
    mkdirSync(place)
    if (isRoot) chownSync(place, uid, gid)
    const copied = beside(started, 'waymark', 'backup', place)
    expect(copied.status, [copied.stderr, ...started.said].join('\n')).toBe(0)
    const restored = beside(started, 'waymark', 'restore', place, '--data', '/data/restored')
    expect(restored.status, restored.stderr).toBe(0)
    expect(await started.stop()).toBe(0)
    const again = await start(command.map((word) => (word === '/data' ? '/data/restored' : word)))
    try {
      expect(again.said.join('\n')).toContain(token)
      const query = ['query', "select count() from events where event = 'kept'", '--data', '/data/restored', '--project', '1']
      expect(beside(again, 'waymark', ...query).stdout).toMatch(/\b1\b/)
    } finally {
      expect(await again.stop()).toBe(0)
    }
  })

  test.each([
    ['s3://', '@aws-sdk/client-s3'],
    ['smtp://', 'nodemailer'],
    ['postgres://', 'pg'],
    ['clickhouse://', '@clickhouse/client'],
  ])('%s: loads %s', (_, name) => {
    const loaded = spawnSync(process.execPath, ['--input-type=module', '-e', `await import(${JSON.stringify(name)})`], {
      cwd: join(files, 'app'),
      encoding: 'utf8',
    })
    expect(loaded.stderr).toBe('')
  })
})

test('the compose file starts it: empty variables set nothing', async () => {
  const { services } = parse(textOf('deploy/compose.yaml')) as {
    services: { waymark: { environment: Record<string, string>; command?: string[] } }
  }
  const { environment: variables, command: own } = services.waymark
  const started = await start(own ?? command, Object.fromEntries(Object.keys(variables).map((name) => [name, ''])))
  expect(healthy(started)).toBe(0)
  expect(await started.stop()).toBe(0)
})

test('the manifest starts it: its probes answer on its volume, whose root has a folder that nobody may read', async () => {
  const manifests = parseAllDocuments(textOf('deploy/kubernetes.yaml')).map((document) => document.toJS())
  const [container] = manifests.find(({ kind }) => kind === 'StatefulSet').spec.template.spec.containers
  const { mountPath, subPath } = container.volumeMounts.find(({ name }: { name: string }) => name === 'data')
  const volume = join(folder, 'volume')
  const mounted = join(volume, subPath)
  mkdirSync(mounted, { recursive: true })
  mkdirSync(join(volume, 'lost+found'), { mode: 0o700 })
  if (isRoot) chownSync(mounted, 0, gid)
  chmodSync(mounted, 0o2775) // as kubelet makes it, of the group `fsGroup`
  const port = String(await freePort())
  const args = (container.args as string[]).map((word) => (word === mountPath ? mounted : word === '8000' ? port : word))
  // The links of a service with this name, where somebody switches them on.
  const started = await start(args, { WAYMARK_PORT: 'tcp://10.0.0.1:80' })
  try {
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
      expect((await fetch(`${started.url}${container[probe].httpGet.path}`)).status, probe).toBe(200)
    const place = join(folder, 'backups-of-volume')
    mkdirSync(place)
    if (isRoot) chownSync(place, uid, gid)
    const copied = beside(started, 'waymark', 'backup', place, '--data', mounted)
    expect(copied.status, [copied.stderr, ...started.said].join('\n')).toBe(0)
  } finally {
    expect(await started.stop()).toBe(0)
  }
})

describe('the unit', () => {
  const text = textOf('deploy/waymark.service')
  const { Service } = unitOf(text)

  test('starts it as another user, in the folder that systemd would make', async () => {
    const state = join(folder, 'state')
    const data = join(state, Service!.StateDirectory![0]!)
    mkdirSync(state)
    mkdirSync(data, { mode: Number.parseInt(Service!.StateDirectoryMode![0]!, 8) })
    if (isRoot) chownSync(data, uid, gid)
    const [program, ...args] = Service!.ExecStart![0]!.replaceAll('%S', state).split(' ')
    expect(program).toBe('waymark')
    const port = String(await freePort())
    const started = await start(args.map((word) => (word === '8000' ? port : word)))
    expect((await fetch(`${started.url}/_readyz`)).status).toBe(200)
    expect(await started.stop()).toBe(0)
    expect(readdirSync(data)).toContain('control.duckdb')
  })

  const hasAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0
  if (!hasAnalyze) console.warn('\n  SKIPPED: `systemd-analyze verify` of the unit. Install systemd.\n')
  test.skipIf(!hasAnalyze)('systemd finds no mistake in it', () => {
    const path = join(folder, 'waymark.service')
    // The command is not installed here.
    writeFileSync(path, text.replace('ExecStart=waymark ', `ExecStart=${join(files, 'app/dist/cli.js')} `))
    const verified = spawnSync('systemd-analyze', ['verify', '--man=no', path], { encoding: 'utf8' })
    const about = verified.stderr.split('\n').filter((line) => line.includes('waymark.service'))
    expect(about).toEqual([])
    writeFileSync(
      path,
      text
        .replace('ExecStart=waymark ', `ExecStart=${join(files, 'app/dist/cli.js')} `)
        .replace('TimeoutStopSec=35', 'TimeoutStopSec=soon'),
    )
    expect(spawnSync('systemd-analyze', ['verify', '--man=no', path], { encoding: 'utf8' }).stderr).toMatch(/waymark\.service.*time value/)
  })
})

test('docs/operations.md: the commands for containers are those of the files', () => {
  const page = textOf('docs/operations.md')
  const named = [...page.matchAll(/--file(?:name)? (deploy\/\S+)/g)].map(([, path]) => path!)
  expect(named.length).toBeGreaterThan(4)
  for (const path of named) expect(existsSync(join(root, path)), path).toBe(true)
})
