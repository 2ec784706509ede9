import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, hasBrowser, openWeb, type Web } from './browser.ts'

// What the user of an agent sees, from the address that the agent opens to the one that it is answered at.

describe.skipIf(!hasBrowser)('the consent of a user', () => {
  let web: Web
  const answers: URLSearchParams[] = []
  const agent = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://agent')
    if (pathname === '/back') answers.push(searchParams)
    response.setHeader('content-type', 'text/html').end('<h1>Back at the agent</h1>')
  })
  beforeAll(async () => {
    await new Promise<void>((listening) => agent.listen(0, '127.0.0.1', listening))
    web = await openWeb()
  })
  afterAll(async () => {
    await web.close()
    await new Promise((closed) => agent.close(closed))
  })

  const verifier = 'a secret of the agent, long enough to be one'
  const request = async (scope: string) => {
    const address = `http://127.0.0.1:${(agent.address() as AddressInfo).port}/back`
    const { client_id } = await web.api<{ client_id: string }>('POST', '/oauth/register', {
      client_name: 'Helpful <b>agent</b>',
      redirect_uris: [address],
    })
    const code_challenge = createHash('sha256').update(verifier).digest('base64url')
    return { client_id, redirect_uri: address, response_type: 'code', code_challenge, code_challenge_method: 'S256', scope, state: 'kept' }
  }
  const authorize = (asked: object) => `${web.facts.url}/oauth/authorize?${new URLSearchParams(asked as Record<string, string>)}`

  test('who is not signed in signs in first, then allows, for one project, to read', async () => {
    await (await web.signedIn()).close() // the owner has a password now
    const page = await web.page()
    page.setDefaultTimeout(20_000)
    const asked = await request('read write')
    await page.goto(authorize(asked))
    await page.getByLabel('E-mail address').fill('ada@example.com')
    await page.getByLabel('Password').fill('correct horse')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Connect Helpful <b>agent</b>' }).waitFor()
    expect(await accessibilityFindings(page)).toEqual([])
    await page.getByText('It changes nothing.').waitFor()
    await page.getByLabel('Demo shop').check()
    await page.getByRole('button', { name: 'Allow', exact: true }).click()
    await page.getByRole('heading', { name: 'Back at the agent' }).waitFor()
    const answer = answers.at(-1)!
    expect([answer.get('state'), answer.get('iss')]).toEqual(['kept', web.facts.url])
    const form = { grant_type: 'authorization_code', code: answer.get('code')!, code_verifier: verifier, client_id: asked.client_id }
    const response = await fetch(`${web.facts.url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
    const { access_token: key, scope } = (await response.json()) as { access_token: string; scope: string }
    expect(scope).toBe('read')
    const as = { headers: { authorization: `Bearer ${key}` } }
    const own = (await (await fetch(`${web.facts.url}/api/personal_api_keys/@current/`, as)).json()) as { scoped_teams: number[] }
    expect(own.scoped_teams).toEqual([web.demo])
    await page.context().close()
  })

  test('who does not allow it is led back, and the agent is told; an application that is not registered leads nowhere', async () => {
    const page = await web.signedIn()
    page.setDefaultTimeout(20_000)
    await page.goto(authorize(await request('read')))
    await page.getByRole('button', { name: 'Do not allow' }).click()
    await page.getByRole('heading', { name: 'Back at the agent' }).waitFor()
    expect(answers.at(-1)!.get('error')).toBe('access_denied')
    await page.goto(`${web.facts.url}/#/consent?${new URLSearchParams({ ...(await request('read')), client_id: 'somebody' })}`)
    await page.getByText('This application is not registered here').waitFor()
    expect(await page.getByRole('button', { name: 'Allow' }).count()).toBe(0)
    await page.context().close()
  })
})
