import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { loadCommand, type NamedCommand, readValues } from '../../src/doors/cli/command.ts'
import { commands } from '../../src/doors/cli/commands.ts'
import { closeMs, graceMs } from '../../src/doors/cli/stopping.ts'
import { createHandler } from '../../src/doors/http/server/create-handler.ts'
import { open } from '../../src/engine.ts'
import { type Instruction, ignoreRules, instructionsOf, isSent, last, root, stagesOf, textOf, variablesOf, wordsOf } from './dockerfile.ts'
import { unitOf } from './unit.ts'

// What docs/operations.md offers for containers, systemd and Kubernetes, against the program that they start. image.long.test.ts runs it.

// biome-ignore lint/suspicious/noExplicitAny: manifests have many shapes
type Free = any

const serve = await loadCommand(commands.find(({ name }) => name === 'serve')!)
const defaultOf = (name: string) => serve.options[name]!.default!

/** The longest time from the signal to the end of the process, in seconds: --drain-seconds, closing, the watchdog. */
const longestStop = Number(defaultOf('drain-seconds')) + (closeMs + graceMs) / 1000
const isEnoughGrace = (seconds: number) => {
  expect(seconds).toBeGreaterThan(longestStop)
  expect(seconds).toBeLessThanOrEqual(longestStop + 10)
}

/** Throws on options that `serve` does not have. */
function served([command, ...args]: readonly string[], env: Record<string, string> = {}) {
  expect(command).toBe('serve')
  return readValues(serve, args, env)
}

/** Not options of `serve`: they are read from the environment only. */
const otherVariables = ['WAYMARK_SECRET_KEY', 'WAYMARK_BACKUP_KEY']
const isVariable = (name: string, { options }: NamedCommand = serve) =>
  Object.keys(options).some((one) => `WAYMARK_${one.toUpperCase().replaceAll('-', '_')}` === name) || otherVariables.includes(name)
/** Also those that comments and shell commands mention. */
const variablesIn = (text: string) => [...new Set([...text.matchAll(/\bWAYMARK_\w+/g)].map(([name]) => name))]

const files = ['Dockerfile', 'deploy/compose.yaml', 'deploy/waymark.service', 'deploy/kubernetes.yaml']
test.each(files)('%s names no option and no variable that the server does not have', (path) => {
  const text = textOf(path)
  expect(variablesIn(text).filter((name) => !isVariable(name))).toEqual([])
  // Options in comments; those of other programs are in their commands.
  const comments = [...text.matchAll(/#(.*)/g)]
    .map(([, comment]) => comment!)
    .filter((one) => !/docker|npm|kubectl|build-arg|systemctl/.test(one))
  const named = comments.flatMap((one) => [...one.matchAll(/--([a-z-]+)/g)].map(([, name]) => name!))
  expect(named.filter((name) => !(name in serve.options))).toEqual([])
})

test('the manifests say where they are explained, and the page names each of them', () => {
  const page = textOf('docs/operations.md')
  const [, title] = /docs\/operations\.md, "([^"]+)"/.exec(textOf('Dockerfile'))!
  expect(page).toContain(`\n## ${title}\n`)
  for (const path of files) {
    expect(textOf(path), path).toContain(`docs/operations.md, "${title}"`)
    expect(page, path).toContain(`(../${path})`)
  }
})

describe('the Dockerfile', () => {
  const stages = stagesOf(textOf('Dockerfile'))
  const [build, image] = stages as [(typeof stages)[number], (typeof stages)[number]]
  const all = (name: string, steps: readonly Instruction[]) => steps.filter((one) => one.name === name).map(({ text }) => text)

  test('has one stage that builds and one without its tools, both slim and of a version that the package takes', () => {
    expect(stages.map(({ name }) => name)).toEqual(['build', ''])
    const { engines } = JSON.parse(textOf('package.json')) as { engines: { node: string } }
    for (const { base } of stages) {
      const [, version] = /^node:(\d+)-\w+-slim$/.exec(base)!
      expect(Number(version)).toBeGreaterThanOrEqual(Number(engines.node.replace('>=', '')))
    }
    expect(all('COPY', image.steps).filter((text) => text.startsWith('--from=build')).length).toBeGreaterThan(0)
  })

  test('installs exactly the lock file, before the sources, so that a change of them installs nothing', () => {
    const steps = build.steps.map(({ name, text }) => `${name} ${text}`)
    const installs = steps.findIndex((step) => /^RUN npm ci\b/.test(step))
    expect(steps.filter((step) => /npm (install|i|add|update)\b|npx/.test(step))).toEqual([])
    expect(steps.indexOf('COPY package.json package-lock.json ./')).toBeLessThan(installs)
    expect(installs).toBeLessThan(steps.indexOf('COPY src src'))
  })

  test('what it copies is there and sent to the builder, and nothing else is', () => {
    const rules = ignoreRules()
    const copied = stages
      .flatMap(({ steps }) => all('COPY', steps))
      .filter((text) => !text.startsWith('--from='))
      .flatMap((text) => text.split(/\s+/).slice(0, -1))
    for (const path of copied) {
      expect(existsSync(join(root, path)), path).toBe(true)
      expect(isSent(path, rules), path).toBe(true)
    }
    const allowed = rules.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1))
    expect(allowed.sort()).toEqual([...new Set(copied)].sort())
    for (const path of [
      '.git/config',
      'node_modules/zod/package.json',
      'data/control.duckdb',
      '.env',
      'test/library.test.ts',
      'dist/cli.js',
    ])
      expect(isSent(path, rules), path).toBe(false)
    expect(isSent('src/doors/cli/main.ts', rules)).toBe(true)
  })

  test('runs as a user that is not root, who owns the one volume', () => {
    const user = last(image.steps, 'USER')
    expect(user).toMatch(/^[1-9]\d*:[1-9]\d*$/)
    expect(all('VOLUME', image.steps)).toEqual(['/data'])
    const owning = image.steps.findIndex(({ name, text }) => name === 'RUN' && text.includes(`chown ${user} /data`))
    expect(owning).toBeGreaterThan(-1)
    expect(owning).toBeLessThan(image.steps.findIndex(({ name }) => name === 'USER'))
    // What is written into a folder after it became a volume is lost.
    expect(image.steps.findIndex(({ name }) => name === 'VOLUME')).toBeGreaterThan(owning)
  })

  test('serves the volume on all addresses, at the port that it exposes', () => {
    expect(wordsOf(last(image.steps, 'ENTRYPOINT'))).toEqual(['waymark'])
    const values = served(wordsOf(last(image.steps, 'CMD')), variablesOf(image.steps))
    expect([values.text('host'), values.text('data')]).toEqual(['0.0.0.0', '/data'])
    expect(last(image.steps, 'EXPOSE')).toBe(values.text('port'))
    expect(variablesOf(image.steps).WAYMARK_DATA).toBe('/data')
    expect(last(image.steps, 'STOPSIGNAL')).toBe('SIGTERM')
  })

  test('asks a path that the server has, at its default port', () => {
    const health = last(image.steps, 'HEALTHCHECK')
    expect(health).toContain(`|| ${defaultOf('port')}}/_livez`)
    expect(wordsOf(health)[0]).toBe('node')
    expect(health).not.toMatch(/curl|wget/)
  })

  test('the command in its first lines gives the server time to stop, and another process 1', () => {
    const [, command] = /docker run (.*)/.exec(textOf('Dockerfile'))!
    expect(command).toContain('--init')
    isEnoughGrace(Number(/--stop-timeout (\d+)/.exec(command!)![1]))
  })

  test('an instruction that is continued is one instruction, and a comment in between is none', () => {
    expect(instructionsOf('RUN a \\\n# no\n  && b\nUSER 1')).toEqual([
      { name: 'RUN', text: 'a && b' },
      { name: 'USER', text: '1' },
    ])
  })
})

test('deploy/compose.yaml: one server, one volume, time to stop, no rights', () => {
  const { services, volumes } = parse(textOf('deploy/compose.yaml')) as Free
  expect(Object.keys(services)).toEqual(['waymark'])
  const { waymark } = services
  const image = stagesOf(textOf('Dockerfile')).at(-1)!
  expect(existsSync(join(root, 'deploy', waymark.build.context, 'Dockerfile'))).toBe(true)
  const [, seconds] = /^(\d+)s$/.exec(waymark.stop_grace_period)!
  isEnoughGrace(Number(seconds))
  expect(waymark.volumes).toEqual([`${Object.keys(volumes)[0]}:${last(image.steps, 'VOLUME')}`])
  expect(Object.keys(volumes)).toHaveLength(1)
  // On this machine only, to the port that the server listens on.
  expect(waymark.ports).toEqual([`127.0.0.1:${defaultOf('port')}:${defaultOf('port')}`])
  expect(waymark).toMatchObject({
    init: true,
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    restart: 'unless-stopped',
  })
  // An empty variable is one that is not set.
  const env = Object.fromEntries(
    Object.entries(waymark.environment as Record<string, string>).map(([name, value]) => [name, value.replace(/\$\{\w+:-\}/, '')]),
  )
  expect(Object.values(env).every((value) => value === '')).toBe(true)
  expect(served(wordsOf(last(image.steps, 'CMD')), env).text('backup')).toBeUndefined()
})

describe('deploy/waymark.service', () => {
  const unit = unitOf(textOf('deploy/waymark.service'))
  const one = (section: string, name: string) => {
    const values = unit[section]?.[name] ?? []
    expect(values, name).toHaveLength(1)
    return values[0]!
  }

  test('starts the server on this machine, in the folder that systemd makes for it', () => {
    const [program, ...args] = one('Service', 'ExecStart').split(' ')
    expect(program).toBe('waymark')
    const values = served(args)
    expect([values.text('host'), values.text('data'), values.text('port')]).toEqual([
      defaultOf('host'),
      `%S/${one('Service', 'StateDirectory')}`,
      defaultOf('port'),
    ])
  })

  test('gives the server time to stop, and does not restart what cannot start', () => {
    isEnoughGrace(Number(one('Service', 'TimeoutStopSec')))
    expect(one('Service', 'Restart')).toBe('on-failure')
    expect(one('Service', 'KillMode')).toBe('mixed')
    expect(one('Service', 'OOMPolicy')).toBe('continue')
    expect(one('Service', 'MemoryMax')).toMatch(/^\d+G$/)
  })

  test.each([
    ['DynamicUser', 'yes'],
    ['StateDirectoryMode', '0700'],
    ['UMask', '0077'],
    ['ProtectSystem', 'strict'],
    ['ProtectHome', 'yes'],
    ['NoNewPrivileges', 'yes'],
    ['PrivateTmp', 'yes'],
    ['CapabilityBoundingSet', ''],
  ])('%s=%s', (name, value) => expect(one('Service', name)).toBe(value))

  test('lets the engine compile', () => expect(unit.Service).not.toHaveProperty('MemoryDenyWriteExecute'))
})

describe('deploy/kubernetes.yaml', () => {
  const documents = parseAllDocuments(textOf('deploy/kubernetes.yaml'))
  const manifests = documents.map((document) => document.toJS() as Free)
  const kind = (name: string) => manifests.find((one) => one.kind === name)
  const { spec } = kind('StatefulSet')
  const pod = spec.template.spec
  const [container] = pod.containers
  const image = stagesOf(textOf('Dockerfile')).at(-1)!

  test('is YAML without a mistake, of two objects that belong together', () => {
    expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([])
    expect(manifests.map((one) => `${one.apiVersion} ${one.kind}`)).toEqual(['v1 Service', 'apps/v1 StatefulSet'])
    expect(spec.serviceName).toBe(kind('Service').metadata.name)
    for (const labels of [kind('Service').spec.selector, spec.selector.matchLabels])
      expect(spec.template.metadata.labels).toMatchObject(labels)
  })

  test('has one replica with one container, which owns its volume', () => {
    expect(spec.replicas).toBe(1)
    expect(pod.containers).toHaveLength(1)
    expect(spec.volumeClaimTemplates).toHaveLength(1)
    const [claim] = spec.volumeClaimTemplates
    expect(claim.spec.accessModes).toEqual(['ReadWriteOnce'])
    const mounted = container.volumeMounts.find(({ name }: Free) => name === claim.metadata.name)
    expect(mounted.mountPath).toBe(last(image.steps, 'VOLUME'))
    expect(mounted.subPath).toMatch(/^\w+$/)
  })

  test('starts the server as the image does, at the port of the container', () => {
    const values = served(container.args)
    const own = served(wordsOf(last(image.steps, 'CMD')))
    for (const name of ['host', 'data', 'port']) expect(values.text(name), name).toBe(own.text(name))
    const [port] = container.ports
    expect(port.containerPort).toBe(Number(defaultOf('port')))
    expect(kind('Service').spec.ports.map(({ targetPort }: Free) => targetPort)).toEqual([port.name])
  })

  test('a service of its name sets no option', () => {
    expect(pod.enableServiceLinks).toBe(false)
    // What the links would set, where a manifest does not switch them off.
    const links = { [`${kind('Service').metadata.name.toUpperCase()}_PORT`]: 'tcp://10.0.0.1:80' }
    expect(served(wordsOf(last(image.steps, 'CMD')), links).text('port')).toBe('tcp://10.0.0.1:80')
    expect(served(container.args, links).text('port')).toBe(defaultOf('port'))
  })

  test('its probes ask paths that the server has', async () => {
    const waymark = await open({ dataDir: ':memory:' })
    try {
      const handler = createHandler(waymark)
      const paths = { startupProbe: '/_livez', livenessProbe: '/_livez', readinessProbe: '/_readyz' }
      for (const [name, path] of Object.entries(paths)) {
        expect(container[name].httpGet, name).toEqual({ path, port: container.ports[0].name })
        expect((await handler(new Request(`http://localhost${path}`))).status).toBe(200)
      }
      const [, other] = /# .*(\/_readyz\?exclude=\w+)/.exec(textOf('deploy/kubernetes.yaml'))!
      expect((await handler(new Request(`http://localhost${other}`))).status).toBe(200)
    } finally {
      await waymark.close()
    }
  })

  test('gives the server time to stop, and a process 1 that is not the server', () => {
    isEnoughGrace(pod.terminationGracePeriodSeconds)
    expect(pod.shareProcessNamespace).toBe(true)
  })

  test('has the user of the image, and no rights', () => {
    const [user, group] = last(image.steps, 'USER').split(':').map(Number)
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: user, runAsGroup: group, fsGroup: group })
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(pod.automountServiceAccountToken).toBe(false)
    expect(container.resources).toMatchObject({ limits: { memory: '2Gi' }, requests: { memory: '1Gi' } })
  })
})

test('the files of the package have what the page links to', () => {
  const packed = JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root, encoding: 'utf8' }),
  ) as Free
  const paths = new Set(packed[0].files.map(({ path }: Free) => path))
  expect(files.filter((path) => !paths.has(path))).toEqual([])
})
