import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { expect, test } from 'vitest'

// Which folder may import which. A folder left out of this table, or an import it does not allow, fails with the line that breaks it.

// `limits`: the table of what is kept.
const base = ['lib', 'errors', 'limits']
const tower = [...base, 'ast', 'types', 'parser', 'functions', 'catalog', 'resolver', 'plan']
const root = 'engine.ts'
const layers: Record<string, readonly string[]> = {
  lib: [],
  errors: ['lib'],
  limits: ['lib', 'errors'],
  ast: base,
  types: base,
  parser: [...base, 'ast', 'types'],
  functions: [...base, 'ast', 'types'],
  catalog: [...base, 'ast', 'types'],
  resolver: [...base, 'ast', 'types', 'parser', 'functions', 'catalog'],
  plan: [...base, 'ast', 'types', 'parser', 'functions', 'catalog', 'resolver'],
  kernels: base,
  // Events in memory, one list per person.
  core: [...base, 'ports'],
  // Loops over them, which may run in other threads.
  folds: [...base, 'core', 'kernels'],
  queries: [...tower, 'kernels', 'core', 'folds', 'maths'],
  // Facts about what charts count: plain data.
  maths: ['lib'],
  definitions: [...tower, 'queries'],
  dialects: tower,
  // What a folder asks of others: files named ports.ts, which whoever fills them may read.
  ports: [...base, 'types', 'catalog', 'dialects', 'ports'],
  storage: [...base, 'types', 'catalog', 'dialects', 'ports'],
  ingestion: [...base, 'types', 'catalog', 'storage', 'ports'],
  accounts: base,
  execution: [...tower, 'kernels', 'core', 'folds', 'queries', 'definitions', 'dialects', 'accounts', 'ports'],
  exports: [...tower, 'accounts', 'jobs', 'ports'],
  plugins: [...base, 'accounts', 'jobs', 'ports'],
  // Drawings of answers: pure, for pages and mails.
  pictures: ['lib'],
  // Records that people keep: insights, dashboards.
  saved: [...tower, 'queries', 'accounts', 'execution', 'jobs', 'ports'],
  // Public links.
  sharing: [...tower, 'queries', 'accounts', 'execution', 'saved', 'pictures', 'ports'],
  // Alerts and subscriptions.
  notifications: [...tower, 'queries', 'accounts', 'execution', 'jobs', 'saved', 'pictures', 'ports'],
  // One runner of due work.
  jobs: [...base, 'accounts'],
  imports: [...base, 'types'],
  backend: [...tower, 'core', 'folds', 'queries', 'definitions', 'execution', 'storage', 'ingestion', 'accounts', 'ports'],
  isolation: [
    ...tower,
    'core',
    'folds',
    'queries',
    'definitions',
    'dialects',
    'execution',
    'backend',
    'storage',
    'ingestion',
    'accounts',
    'ports',
  ],
  [root]: [
    ...tower,
    'queries',
    'definitions',
    'execution',
    'backend',
    'isolation',
    'storage',
    'ingestion',
    'accounts',
    'exports',
    'plugins',
    'saved',
    'sharing',
    'notifications',
    'imports',
    'network',
    'ports',
    'directory',
  ],
  directory: [...base, 'storage', 'accounts', 'network', root],
  http: [
    ...tower,
    'queries',
    'ingestion',
    'accounts',
    'execution',
    'exports',
    'plugins',
    'saved',
    'pictures',
    'sharing',
    'notifications',
    'jobs',
    'imports',
    'directory',
    root,
  ],
  cli: [
    ...tower,
    'queries',
    'storage',
    'ingestion',
    'accounts',
    'exports',
    'plugins',
    'jobs',
    'imports',
    'network',
    'http',
    'directory',
    root,
  ],
  // What runs in browsers: the API's client, and the drawings that mails have too.
  web: ['lib', 'pictures', 'imports', 'maths'],
  // Talks to servers outside: names and mail.
  network: base,
  // The public door: it opens on the HTTP API too.
  'index.ts': [...tower, 'queries', 'definitions', 'storage', 'ingestion', 'accounts', 'execution', 'http', root],
}
/** Children of these folders do not know each other. */
const strangers = ['queries', 'dialects', 'exports/destinations', 'storage']
/** Files directly in such a folder (its registry, its shared parts) may be used by the children, and the registry may use all of them. */
const enginesNamedIn = ['dialects/', 'storage/', 'functions/']

const src = resolve(import.meta.dirname, '../src')
const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((f) => /\.tsx?$/.test(f))
  .map((f) => f.split(sep).join('/'))
const layerOf = (file: string) => {
  if (file.endsWith('/ports.ts')) return 'ports'
  if (file === 'queries/series/maths.ts') return 'maths'
  if (file.includes('/')) return file.slice(0, file.indexOf('/'))
  return file === 'index.ts' ? file : root
}

function importsOf(file: string) {
  const text = readFileSync(join(src, file), 'utf8')
  const found: { line: number; target: string }[] = []
  for (const [i, line] of text.split('\n').entries()) {
    const match = /(?:from|import\()\s*'(\.[^']+)'/.exec(line) ?? /^import '(\.[^']+)'/.exec(line)
    if (match)
      found.push({
        line: i + 1,
        target: relative(src, resolve(src, dirname(file), match[1]!))
          .split(sep)
          .join('/'),
      })
  }
  return found
}

test('every import points down the layer table', () => {
  const wrong: string[] = []
  for (const file of files) {
    const from = layerOf(file)
    const allowed = layers[from]
    if (!allowed) {
      wrong.push(`${file}: the folder ${from} is not in the layer table`)
      continue
    }
    for (const { line, target } of importsOf(file)) {
      if (target === '../package.json') continue // facts about the package, of no layer
      const to = layerOf(target)
      if (to !== from && !allowed.includes(to)) wrong.push(`${file}:${line} imports ${target}: ${from} may not use ${to}`)
    }
  }
  expect(wrong).toEqual([])
})

test('siblings do not know each other', () => {
  const wrong: string[] = []
  for (const parent of strangers) {
    const childOf = (file: string) => {
      const rest = file.startsWith(`${parent}/`) ? file.slice(parent.length + 1) : ''
      return parent === 'exports/destinations'
        ? rest.replace(/^destination\.ts$/, '')
        : rest.includes('/')
          ? rest.slice(0, rest.indexOf('/'))
          : ''
    }
    for (const file of files) {
      const child = childOf(file)
      if (!child || file.endsWith('registry.ts')) continue
      for (const { line, target } of importsOf(file)) {
        const other = childOf(target)
        if (other && other !== child) wrong.push(`${file}:${line} imports its sibling ${target}`)
      }
    }
  }
  expect(wrong).toEqual([])
})

test('engine packages are imported only where engines live', () => {
  const wrong: string[] = []
  for (const file of files) {
    const text = readFileSync(join(src, file), 'utf8')
    if (/from '(@duckdb\/|chdb|@clickhouse\/)/.test(text) && !enginesNamedIn.some((place) => file.startsWith(place))) wrong.push(file)
  }
  expect(wrong).toEqual([])
})

const outsideEngines = files.filter((file) => !enginesNamedIn.some((place) => file.startsWith(place)))

test('files of an engine are imported only where engines live', () => {
  const named = /\/(duckdb|clickhouse)\//
  const wrong = outsideEngines.flatMap((file) =>
    importsOf(file)
      .filter(({ target }) => named.test(`/${target}`))
      .map(({ line, target }) => `${file}:${line} imports ${target}`),
  )
  expect(wrong).toEqual([])
})

test('what an engine has is reached by its name only there, and in the choice that open() takes', () => {
  const members = /(?<!control)\.(duckdb|clickhouse)\b(?!\.ts)/
  const wrong = outsideEngines
    .filter((file) => file !== root)
    .flatMap((file) =>
      readFileSync(join(src, file), 'utf8')
        .split('\n')
        .flatMap((text, i) => (members.test(text) ? [`${file}:${i + 1}: ${text.trim()}`] : [])),
    )
  expect(wrong).toEqual([])
})

test('the root holds what joins the parts, and nothing else', () => {
  expect(files.filter((file) => !file.includes('/')).sort()).toEqual(['engine.ts', 'index.ts', 'project.ts'])
})

/** Files that reach each other, types included: each group of them is one module in several files. */
function circles(): string[][] {
  const imports = new Map(files.map((file) => [file, importsOf(file).map(({ target }) => target)]))
  const reached = (from: string): ReadonlySet<string> => {
    const met = new Set<string>()
    const open = [...(imports.get(from) ?? [])]
    for (let file = open.pop(); file !== undefined; file = open.pop())
      if (!met.has(file)) {
        met.add(file)
        open.push(...(imports.get(file) ?? []))
      }
    return met
  }
  const all = new Map(files.map((file) => [file, reached(file)]))
  const inCircles = files.filter((file) => all.get(file)!.has(file))
  const groups = inCircles.map((file) => inCircles.filter((other) => all.get(file)!.has(other) && all.get(other)!.has(file)))
  return [...new Map(groups.map((group) => [group.join(), group])).values()]
}

test('no file imports itself through others, not even a type', () => {
  expect(circles()).toEqual([])
})
