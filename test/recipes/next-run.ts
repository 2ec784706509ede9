import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { chromiumPath, openBrowser } from '../clients/browser.ts'
import { visitMounted } from '../web/visit-mounted.ts'

// The recipe for Next.js as docs/embedding.md has it: built as a standalone server with the packed package, started apart from where it was built,
// and used by programs and in a browser, signed in through the application.   npm run build && npm run test:recipes:next

const root = resolve(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'waymark-next-'))
const app = join(folder, 'app')
const away = join(folder, 'away')
const quiet = {
  ...process.env,
  NEXT_TELEMETRY_DISABLED: '1',
  NEXT_IGNORE_INCORRECT_LOCKFILE: '1',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
}
const run = (cwd: string, command: string, ...args: string[]): string =>
  execFileSync(command, args, { cwd, encoding: 'utf8', env: quiet, stdio: ['ignore', 'pipe', 'inherit'] })
const must = (holds: boolean, message: string): void => {
  if (!holds) throw new Error(message)
}
const step = async <T>(name: string, work: () => Promise<T> | T): Promise<T> => {
  const begin = performance.now()
  const result = await work()
  console.log(`ok  ${((performance.now() - begin) / 1000).toFixed(1).padStart(6)} s  ${name}`)
  return result
}
const freePort = (): Promise<number> =>
  new Promise((resolvePort) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolvePort(port))
    })
  })
/** A folder with a server in it, as deep as Next puts it. */
const serverIn = (place: string): string => {
  if (existsSync(join(place, 'server.js'))) return place
  const inner = readdirSync(place, { withFileTypes: true }).find((one) => one.isDirectory() && one.name !== 'node_modules')
  if (!inner) throw new Error('the standalone build has no server.js')
  return serverIn(join(place, inner.name))
}

/** The module of the recipe with its other `start`; the application knows its users by the cookie `user`. */
const withUsers = (text: string, signIn: string): string => {
  const users = `const userOf = (cookie) => {
  const name = /(?:^|; )user=(\\w+)/.exec(cookie ?? '')?.[1]
  return name && { id: name, email: name + '@example.com', name, isAdmin: true }
}
`
  const start = /const start = async[\s\S]*?\n\}\n/
  must(start.test(text) && start.test(signIn), 'both blocks have a `start`')
  return users + text.replace(start, () => signIn)
}

let server: ChildProcess | null = null
try {
  must(chromiumPath !== null, 'No browser was found. Install Chromium (Debian: apt-get install chromium) or name it in WAYMARK_CHROMIUM.')
  const page = readFileSync(join(root, 'docs/embedding.md'), 'utf8')
  const files = [...page.matchAll(/```js\n\/\/ next: (\S+)\n([\s\S]*?)```/g)]
  must(files.length === 3, `the recipe has ${files.length} files`)
  cpSync(join(import.meta.dirname, 'next/package.json'), join(folder, 'app/package.json'), { recursive: true })
  const [signIn] = [...page.matchAll(/```js\n\/\/ next: with the users of the application\n([\s\S]*?)```/g)].map(([, text]) => text!)
  must(signIn !== undefined, 'the recipe has no users of the application')
  for (const [, path, text] of files) {
    mkdirSync(dirname(join(app, path!)), { recursive: true })
    writeFileSync(join(app, path!), path === 'waymark.mjs' ? withUsers(text!, signIn!) : text!)
  }
  const layout = 'export default ({ children }) => <html lang="en"><body>{children}</body></html>\n'
  writeFileSync(join(app, 'app/layout.jsx'), layout)
  writeFileSync(join(app, 'app/page.jsx'), 'export default () => <h1>Shop</h1>\n')

  await step('the package and Next.js', () => {
    const [packed] = JSON.parse(run(root, 'npm', 'pack', '--json', '--silent', '--ignore-scripts', '--pack-destination', folder)) as [
      { filename: string },
    ]
    run(app, 'npm', 'install', '--prefer-offline', '--silent', join(folder, packed.filename))
  })
  await step('next build', () => run(app, 'npx', 'next', 'build'))
  cpSync(join(app, '.next/standalone'), away, { recursive: true, verbatimSymlinks: true })
  rmSync(app, { recursive: true })
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/analytics`
  const projectKey = 'phc_of_the_recipe_for_next'
  const personalKey = 'phx_of_the_recipe_for_next'
  const dataDir = join(folder, 'data')
  await step('a directory with a project', () => {
    const keys = { WAYMARK_BOOTSTRAP_PROJECT_API_KEY: projectKey, WAYMARK_BOOTSTRAP_PERSONAL_API_KEY: personalKey }
    execFileSync(process.execPath, [join(root, 'dist/cli.js'), 'init', '--data', dataDir], { env: { ...quiet, ...keys } })
  })
  await step('the standalone server answers', async () => {
    const env = { ...quiet, PORT: String(port), HOSTNAME: '127.0.0.1', WAYMARK_DATA: dataDir }
    server = spawn(process.execPath, ['server.js'], { cwd: serverIn(away), env, stdio: 'inherit' })
    for (let tries = 0; ; tries++) {
      const status = await fetch(`${url}/_livez`).then(
        (answer) => answer.status,
        () => 0,
      )
      if (status === 200) break
      must(tries < 200, `it does not answer: ${status}`)
      await setTimeout(100)
    }
  })
  const browser = await openBrowser()
  try {
    const visited = { url: url.replace(/\/analytics$/, ''), token: projectKey }
    await step('a browser, signed in and out by the application', () => visitMounted(browser, visited))
  } finally {
    await browser.close()
  }
  await step('it takes events and answers queries', async () => {
    for (const path of ['', '/']) {
      const front = await fetch(url + path, { headers: { accept: 'text/html' } })
      must(
        front.status === 200 && front.url === `${url}/`,
        `the interface at ${url}${path} is answered with ${front.status} at ${front.url}`,
      )
      must((await front.text()).includes('./assets/'), 'the interface is not in the standalone build')
    }
    const library = await fetch(`${url}/array/${projectKey}/array.js`)
    must(library.status === 200, `the browser library is answered with ${library.status}`)
    must((await library.text()).includes('posthog'), 'the browser library cannot be read')
    const batch = [{ event: 'signup', distinct_id: 'u1', properties: {} }]
    const body = JSON.stringify({ api_key: projectKey, batch })
    const sent = await fetch(`${url}/batch/`, { method: 'POST', body })
    must(sent.status === 200, `events were answered with ${sent.status}: ${await sent.text()}`)
    const asked = await fetch(`${url}/api/projects/1/query/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${personalKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query: { kind: 'SqlLikeQuery', query: "select count() from events where event = 'signup'" } }),
    })
    const { results } = (await asked.json()) as { results?: unknown }
    must(JSON.stringify(results) === '[[1]]', `the query was answered with ${asked.status} ${JSON.stringify(results)}`)
  })
} catch (error) {
  console.log(`FAIL  ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
} finally {
  ;(server as ChildProcess | null)?.kill('SIGTERM')
  rmSync(folder, { recursive: true, force: true })
}
