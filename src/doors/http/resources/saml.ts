import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import { check } from '../../../service/accounts/fields.ts'
import { signOnFailed } from '../../../service/single-sign-on/failures.ts'
import { signOnBegun, signOnOf } from '../access/session-cookies.ts'
import { counted, passing, redirect, signIn } from '../access/single-sign-on.ts'
import { failures } from '../errors.ts'
import { defineResource, Reply, type Visit } from '../resource.ts'

const responseInput = z.object({ SAMLResponse: z.string().min(1).max(400_000), RelayState: z.string().max(2_000).optional() })

/** Answers name the server that they are for, so it must not be what a caller calls it: only what the operator says, or a trusted proxy. */
const baseOf = ({ site }: Visit): string => {
  if (URL.canParse(site.base)) return site.base
  throw signOnFailed('no_public_url')
}
const keyOf = ({ params }: Visit): string => params.domain!.slice(0, 128)

const escaped = (text: string) => text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`)

/**
 * The form of the provider comes from another site, so the browser has sent no cookies with it. This page sends it again, from this site. An answer that nobody here has asked for
 * waits for a click: otherwise another site could sign somebody in as somebody else.
 */
const againPage = (domain: string, email: string | null, isAsked: boolean, response: string, relayState: string | undefined): Reply => {
  const nonce = randomBytes(16).toString('base64')
  const who = escaped(email ?? domain)
  const page = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Signing in · Waymark</title>
<style nonce="${nonce}">body { font: 16px/1.5 system-ui, sans-serif; max-width: 28rem; margin: 15vh auto; padding: 0 1rem; overflow-wrap: anywhere } button { font: inherit; padding: 0.5rem 1rem }</style></head>
<body><main><h1>Signing in</h1>
<p>${isAsked ? `Signing in as ${who}.` : `${escaped(domain)} offers to sign you in as <b>${who}</b>. Continue only if this is you.`}</p>
<form method="post" action="continue"><input type="hidden" name="SAMLResponse" value="${escaped(response)}">${
    relayState === undefined ? '' : `<input type="hidden" name="RelayState" value="${escaped(relayState)}">`
  }<button type="submit">Continue</button></form></main>
${isAsked ? `<script nonce="${nonce}">document.forms[0].submit()</script>` : ''}</body></html>`
  return new Reply(200, new TextEncoder().encode(page), {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    // The form must say where it comes from.
    'referrer-policy': 'same-origin',
  })
}

function begin(visit: Visit): Promise<Reply> {
  const key = keyOf(visit)
  const { query, app } = visit
  return passing(visit, key, async () => {
    const about = { next: query.get('next'), invite: query.get('invite') }
    const { url, cookie } = await counted(visit, key, () => app.singleSignOn.saml.begin(key, baseOf(visit), about))
    return redirect(url, [signOnBegun(visit, cookie)])
  })
}

function take(visit: Visit): Promise<Reply> {
  const key = keyOf(visit)
  return passing(visit, key, async () => {
    return counted(visit, key, async () => {
      const { SAMLResponse, RelayState } = check(responseInput, visit.body)
      const { email, isAsked } = await visit.app.singleSignOn.saml.look(key, baseOf(visit), SAMLResponse)
      return againPage(key, email, isAsked, SAMLResponse, RelayState)
    })
  })
}

function finish(visit: Visit): Promise<Reply> {
  const key = keyOf(visit)
  return passing(visit, key, async () => {
    return counted(visit, key, async () => {
      const { SAMLResponse, RelayState } = check(responseInput, visit.body)
      const about = { response: SAMLResponse, relayState: RelayState ?? null, cookie: signOnOf(visit) }
      const { vouched, next, invite } = await visit.app.singleSignOn.saml.finish(key, baseOf(visit), about)
      return signIn(visit, 'saml', vouched, { next, invite })
    })
  })
}

export const saml = defineResource({
  name: 'saml',
  summary: 'Signing in with the SAML provider of a proven domain: addresses that a browser passes through',
  path: '/saml/:domain',
  reach: 'open',
  object: null,
  rows: (row) => [
    row({
      method: 'GET',
      path: 'metadata',
      name: 'metadata',
      summary: 'The metadata of this server, in XML, for the identity provider. Its address is the entity ID of this server',
      handle: async (visit) => {
        const xml = await visit.app.singleSignOn.saml.metadata(keyOf(visit), baseOf(visit)).catch((error: unknown) => {
          throw error instanceof Error && /no such identity provider/.test(error.message) ? failures.notFound() : error
        })
        return new Reply(200, new TextEncoder().encode(xml), { 'content-type': 'application/samlmetadata+xml' })
      },
    }),
    row({
      method: 'GET',
      path: 'login',
      name: 'begin',
      summary: 'Leads to the identity provider. A failure leads to the page that explains it',
      queryParameters: {
        next: 'The page to show then, such as `/project/1/insights`',
        invite: 'The secret of an invitation, which a new user accepts',
        email: 'Ignored: SAML has no field for it',
      },
      status: 302,
      handle: begin,
    }),
    row({
      method: 'POST',
      path: 'acs',
      name: 'acs',
      summary:
        'The assertion consumer service: takes the form with `SAMLResponse` and `RelayState` that the identity provider makes the browser send, and answers with a page that sends it on',
      body: responseInput,
      isFromElsewhere: true,
      handle: take,
    }),
    row({
      method: 'POST',
      path: 'continue',
      name: 'finish',
      summary:
        'Takes the same form from the page of `acs`, and signs in. `RelayState` is the page to show, if the provider has begun by itself',
      body: responseInput,
      status: 302,
      handle: finish,
    }),
  ],
})
