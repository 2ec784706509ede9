import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { createHandler, type HandlerOptions } from '../../../src/doors/http/server/create-handler.ts'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import { program } from '../../harness/programs.ts'

// Commands in a directory that an application has open.

let waymark: LocalWaymark | null = null
let dataDir = ''
afterEach(async () => {
  await waymark?.close()
  waymark = null
  await rm(dataDir, { recursive: true, force: true })
})

const start = async (options: HandlerOptions = {}) => {
  dataDir = await mkdtemp(join(tmpdir(), 'waymark-embedded-'))
  waymark = await open({ dataDir, threads: 1 })
  createHandler(waymark, options)
  const { id } = await waymark.defaultOrganization()
  await waymark.accounts.createUser(id, { email: 'ada@example.com' }, 'admin')
  await expect.poll(() => existsSync(join(dataDir, 'server.json')), { timeout: 30_000, interval: 20 }).toBe(options.takesCommands !== false)
  return waymark
}
const run = (...args: string[]): Promise<{ code: number; out: string; err: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, [program('cli'), ...args, '--data', dataDir], { env: { PATH: process.env.PATH } }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    )
  })
const link = (...args: string[]) => run('users', 'link', '--email', 'ada@example.com', ...args)

test('a link for a password leads to the address of the application, and works', async () => {
  const opened = await start({ publicUrl: 'https://app.example.com/analytics' })
  const { code, out } = await link('--json')
  expect(code).toBe(0)
  const { url } = JSON.parse(out) as { url: string }
  const [, uuid, token] = /^https:\/\/app\.example\.com\/analytics\/#\/reset\/([^/]+)\/([^/]+)$/.exec(url)!
  const user = await opened.accounts.passwordLinks.use(uuid!, { token, password: 'correct horse' })
  expect(user.email).toBe('ada@example.com')
})

test('without a public address the command asks for it, and takes it', async () => {
  await start()
  const refused = await link()
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('--public-url https://app.example.com/analytics')])
  const given = await link('--public-url', 'https://other.example.com/a', '--json')
  expect((JSON.parse(given.out) as { url: string }).url).toMatch(/^https:\/\/other\.example\.com\/a\/#\/reset\//)
})

test('other commands work too; nobody without the secret, and nothing when it is closed', async () => {
  const opened = await start()
  expect((await run('users', 'list')).out).toContain('ada@example.com')
  const { url, secret } = JSON.parse(await readFile(join(dataDir, 'server.json'), 'utf8')) as { url: string; secret: string }
  const ask = (authorization: string) =>
    fetch(`${url}/_local/list-users`, { method: 'POST', headers: { authorization, 'content-type': 'application/json' }, body: '{}' })
  expect((await ask(`Bearer ${secret}`)).status).toBe(200)
  expect((await ask('Bearer no')).status).toBe(404)
  expect((await fetch(`${url}/api/users/@me/`)).status).toBe(404)
  expect(new URL(url).hostname).toBe('127.0.0.1')
  await opened.close()
  expect(existsSync(join(dataDir, 'server.json'))).toBe(false)
  await expect(ask(`Bearer ${secret}`)).rejects.toThrow()
})

test('an application can refuse to listen', async () => {
  await start({ takesCommands: false })
  const refused = await link('--public-url', 'https://a.example')
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('is in use')])
})
