import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { open } from '../../../src/engine.ts'
import { finish, firstLine, run, start } from './shell.ts'

// A directory in which domains require providers that nobody has set up, as an older version let it happen: who asks is told, with the command that helps.

let folder: string
let data: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-locked-'))
  data = join(folder, 'data')
  const waymark = await open({ dataDir: data, threads: 1 })
  const { organization } = await waymark.accounts.firstStart({})
  const { accounts } = waymark
  const requires = async (name: string, sso_enforcement: string, more: object = {}) => {
    const { id } = await accounts.domains.vouch(name, organization.id)
    await accounts.context.store.write((tables) => tables.domains.update({ id }, { sso_enforcement, ...more }))
  }
  await requires('saml.test', 'saml')
  await requires('whole.test', 'saml', { saml_entity_id: 'e', saml_acs_url: 'https://idp.test', saml_x509_cert: 'c' })
  await requires('issuer.test', 'oidc', { oidc_issuer: 'https://login.test', oidc_client_id: 'c' })
  await requires('google.test', 'google-oauth2')
  await requires('open.test', '')
  await requires('claimed.test', 'oidc', { verified_at: null, is_assumed: true })
  await waymark.close()
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const saml =
  'saml.test requires saml, which is not set up, so users with its addresses cannot sign in. Set it up in Settings → Domains, or let the users in: `waymark domains set saml.test --sso-enforcement none`.'
const google = 'google.test requires google-oauth2, which'
const signInLines = (out: string) => out.split('\n').filter((line) => line.startsWith('Sign-in '))

test('doctor says which, and what it cannot know', async () => {
  const { code, out, err } = await run(['doctor', '--data', data])
  expect(signInLines(out)).toEqual([expect.stringContaining(`${google} must be in the file of --oidc`), `Sign-in          ${saml}`])
  expect([code, err]).toEqual([1, expect.stringContaining('1 thing needs attention.')])
})

test('a server says it when it starts, and doctor asks the server, which knows the providers of its operator', async () => {
  const file = join(folder, 'oidc.json')
  await writeFile(file, JSON.stringify({ google: { client_id: 'c', client_secret: 's' } }))
  for (const args of [[], ['--oidc', file]]) {
    const server = start(['serve', '--data', data, '--port', '0', '--json', ...args])
    const ended = finish(server)
    await firstLine(server)
    const asked = await run(['doctor', '--data', data])
    expect(signInLines(asked.out)).toHaveLength(args.length === 0 ? 2 : 1)
    expect(asked.code).toBe(1)
    server.kill('SIGTERM')
    const { err } = await ended
    const warned = err.split('\n').flatMap((line) => (line.includes('requires') ? [JSON.parse(line)] : []))
    expect(warned.map(({ level, message }) => [level, message])).toEqual([
      ...(args.length === 0 ? [['warn', expect.stringContaining(`${google} is not set up`)]] : []),
      ['warn', saml],
    ])
  }
})

test('after the command that it names there is nothing to say', async () => {
  for (const name of ['saml.test', 'google.test'])
    expect((await run(['domains', 'set', name, '--sso-enforcement', 'none', '--data', data])).code).toBe(0)
  const { code, out } = await run(['doctor', '--data', data])
  expect([signInLines(out), code]).toEqual([[], 0])
})
