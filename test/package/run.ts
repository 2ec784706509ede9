import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { publicApi } from './public-api.ts'
import { serveOnce } from './serve-once.ts'

// Packs the package, installs it into an empty folder as a user would, and runs the README's example of embedding there: as a module, as CommonJS, past the
// type checker of both, and on later versions of Node, where the server is tried too.   npm run test:package

/** Beside the Node that runs this. They are installed from npm. */
const otherNodes = [20, 22, 24, 26].filter((major) => major !== Number.parseInt(process.versions.node, 10))

const root = resolve(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'waymark-package-'))
const folders = [folder]
const quiet = { ...process.env, npm_config_audit: 'false', npm_config_fund: 'false', npm_config_update_notifier: 'false' }
const run = (cwd: string, command: string, ...args: string[]): string =>
  execFileSync(command, args, { cwd, encoding: 'utf8', env: quiet, stdio: ['ignore', 'pipe', 'inherit'] })

let failures = 0
const step = async (name: string, work: () => void | Promise<void>) => {
  const start = performance.now()
  try {
    await work()
    console.log(`ok    ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)`)
  } catch (error) {
    failures++
    console.log(`FAIL  ${name}\n${error instanceof Error ? error.message : String(error)}`)
  }
}
const mustHold = (holds: boolean, message: string) => {
  if (!holds) throw new Error(message)
}

const embeddingExample = (): string => {
  const example = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, 'README.md'), 'utf8'))?.[1]
  if (!example) throw new Error('README.md has no example in TypeScript')
  return example
}
/** The same example for `require`, which has no await outside of functions. */
const asCommonJs = (example: string): string => {
  const imports = example.replace(/^import (\{[^}]*\}) from ('[^']+')$/gm, 'const $1 = require($2)')
  return `(async () => {\n${imports}\n})().catch((error) => { console.error(error); process.exitCode = 1 })\n`
}
/** As on the Node versions that cannot `require` a module. */
const strictRequire = process.allowedNodeEnvironmentFlags.has('--experimental-require-module') ? ['--no-experimental-require-module'] : []
const runsInItsOwnFolder = (name: string, file: string, text: string, node = process.execPath, options = strictRequire) => {
  const own = join(folder, name)
  mkdirSync(own)
  writeFileSync(join(own, file), text)
  const printed = run(own, node, ...options, file)
  mustHold(printed.trim() !== '', 'the example printed nothing')
  console.log(printed.trim().replace(/^/gm, '        '))
}
/** The program of the npm package `node`. Null: it cannot be installed. */
const installedNode = (major: number): string | null => {
  const own = mkdtempSync(join(tmpdir(), `waymark-node-${major}-`))
  folders.push(own)
  try {
    run(own, 'npm', 'install', '--prefer-offline', '--silent', '--prefix', own, `node@${major}`)
    const program = join(own, 'node_modules/node/bin/node')
    return run(own, program, '--version').startsWith(`v${major}.`) ? program : null
  } catch {
    return null
  }
}

try {
  let tarball = ''
  await step('npm pack', () => {
    // Builds by itself.
    const [packed] = JSON.parse(run(root, 'npm', 'pack', '--json', '--silent', '--pack-destination', folder)) as [
      { filename: string; size: number; files: { path: string }[] },
    ]
    tarball = join(folder, packed.filename)
    const allowed =
      /^(dist\/(?!internal)|docs\/.*\.(md|svg|png)$|README\.md$|CHANGELOG\.md$|SECURITY\.md$|LICENSE$|Dockerfile$|deploy\/[\w.-]+$|package\.json$)/
    const strays = packed.files.map((file) => file.path).filter((path) => !allowed.test(path))
    mustHold(strays.length === 0, `the package holds files that do not belong in it: ${strays.join(', ')}`)
    mustHold(
      ['dist/index.js', 'dist/index.cjs', 'dist/index.d.ts', 'dist/index.d.cts'].every((path) =>
        packed.files.some((file) => file.path === path),
      ),
      'the package lacks a door that package.json names',
    )
    const links = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path]) => path!)
    const broken = links.filter((path) => !packed.files.some((file) => file.path === path || file.path.startsWith(path)))
    mustHold(broken.length === 0, `README.md links to what the package does not hold: ${broken.join(', ')}`)
    console.log(`        ${packed.filename}: ${packed.files.length} files, ${(packed.size / 1e6).toFixed(2)} MB`)
  })
  await step('the public API is the one that was written down', () => {
    const built = publicApi(readFileSync(join(root, 'dist/index.d.ts'), 'utf8'))
    const written = readFileSync(join(root, 'test/package/public-api.txt'), 'utf8')
    mustHold(built === written, 'the exported declarations changed: `npm run api` writes them down, for the change to be seen')
  })
  await step('npm install into an empty folder', () => {
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'somebody', private: true }))
    run(folder, 'npm', 'install', '--prefer-offline', '--omit=dev', '--silent', tarball)
    mustHold(existsSync(join(folder, 'node_modules/waymark/dist/index.js')), 'waymark was not installed')
  })
  await step('the example as a module', () => runsInItsOwnFolder('esm', 'example.mjs', embeddingExample()))
  await step('the example as CommonJS', () => runsInItsOwnFolder('cjs', 'example.cjs', asCommonJs(embeddingExample())))
  await step('the example past the type checker, for both', () => {
    const own = join(folder, 'types')
    mkdirSync(own)
    writeFileSync(join(own, 'module.mts'), embeddingExample())
    writeFileSync(
      join(own, 'common.cts'),
      "import waymark = require('waymark')\nexport const opened: Promise<waymark.Waymark> = waymark.open({ dataDir: ':memory:' })\n",
    )
    const options = {
      strict: true,
      noEmit: true,
      module: 'nodenext',
      target: 'es2022',
      lib: ['es2023'],
      skipLibCheck: true,
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
    }
    writeFileSync(join(own, 'package.json'), JSON.stringify({ type: 'module' }))
    writeFileSync(join(own, 'types.ts'), readFileSync(join(root, 'test/package/types.ts')))
    const typecheck = (config: object, include: readonly string[]) => {
      writeFileSync(join(own, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...options, ...config }, include }))
      try {
        run(own, process.execPath, join(root, 'node_modules/typescript/bin/tsc'), '-p', '.')
      } catch (error) {
        throw new Error(`${JSON.stringify(config)}: ${(error as { stdout?: string }).stdout ?? error}`)
      }
    }
    typecheck({}, ['*.mts', '*.cts', '*.ts'])
    typecheck({ module: 'esnext', moduleResolution: 'bundler' }, ['*.mts', '*.ts'])
  })
  await step('nothing internal in the published types', () => {
    const published = readFileSync(join(folder, 'node_modules/waymark/dist/index.d.ts'), 'utf8')
    const internal = ['accounts:', 'asking:', 'forQueries(', 'queryRows(', 'constructor(parts'].filter((name) => published.includes(name))
    mustHold(internal.length === 0, `the published types hold ${internal.join(', ')}`)
    console.log(`        ${published.split('\n').length} lines`)
  })
  await step('the server on this Node', () => serveOnce(process.execPath, join(folder, 'node_modules/waymark/dist/cli.js')))
  for (const major of otherNodes) {
    const node = installedNode(major)
    if (node === null) console.log(`SKIPPED  Node ${major}: npm has no \`node@${major}\` for this machine, or cannot be reached.`)
    else
      await step(`the example and the server on Node ${major}`, async () => {
        runsInItsOwnFolder(`on-node-${major}`, 'example.mjs', embeddingExample(), node, [])
        await serveOnce(node, join(folder, 'node_modules/waymark/dist/cli.js'))
      })
  }
} finally {
  for (const one of folders) rmSync(one, { recursive: true, force: true })
}
process.exitCode = failures > 0 ? 1 : 0
