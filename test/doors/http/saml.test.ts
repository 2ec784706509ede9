import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Domain, Organization } from '../../../src/service/accounts/records.ts'
import { encoded, hasXmlsec, type Said, SamlProvider, sha1, signatureOf, withoutDeclaration } from '../../harness/saml-provider.ts'
import { pageOf, provenDomain } from './openid.ts'
import { begin as beginAt, crossSite, give as giveTo, postForm, serviceOf } from './saml.ts'
import { type Browser, password, type SignInPlace, startSignIn } from './signing-in.ts'

describe.skipIf(!hasXmlsec)('SAML', () => {
  let place: SignInPlace
  let provider: SamlProvider
  let organization: Organization
  let domain: Domain
  const name = 'acme.test'
  const service = serviceOf(name)
  const reports: string[] = []
  beforeAll(async () => {
    provider = new SamlProvider()
    place = await startSignIn({
      surroundings: { report: (_, error) => reports.push((error as Error).message) },
    })
    const made = await provenDomain(place, provider.settings, name)
    ;({ organization, domain } = made)
    await place.user(`ada@${name}`, [[organization, 'member']])
  })
  afterAll(async () => {
    await place.waymark.close()
    provider.close()
  })

  const begin = (browser: Browser, search = '', at = name) => beginAt(browser, at, search)
  const give = (browser: Browser, xml: string, relayState?: string, at = name) => giveTo(browser, at, xml, relayState)
  const said = (id: string | null, change: Partial<Said> = {}) => provider.said(service, id, place.now, change)
  const whoIs = async (browser: Browser) => (await browser.get('/api/session/')).body.user?.email ?? null
  /** Begins, and gives what `make` makes. */
  const tried = async (make: (id: string) => string, browser = place.browser()) => {
    reports.length = 0
    const { id } = await begin(browser)
    const page = await give(browser, make(id))
    return { page: page.page, problem: (page as { problem?: string }).problem ?? null, who: await whoIs(browser) }
  }
  const isIn = { page: '/', problem: null, who: `ada@${name}` }
  const notValid = { page: '/sign-in', problem: 'not_valid', who: null }

  describe('signing in', () => {
    test('begun here: the request, the answer, the session, the page that was asked for', async () => {
      const browser = place.browser()
      const { id, location, request } = await begin(browser, '?next=/project/1/insights')
      expect(location.origin + location.pathname).toBe(provider.entryPoint)
      expect(request).toContain(`AssertionConsumerServiceURL="${service.acs}"`)
      expect(request).toContain(`>${service.entityId}</saml:Issuer>`)
      const person = { attributes: { email: `ada@${name}`, givenName: 'Ada', sn: 'Lovelace' } }
      expect(await give(browser, provider.answer(said(id, person)))).toEqual({
        origin: 'http://localhost/',
        page: '/project/1/insights',
        isAutomatic: true,
      })
      expect(await whoIs(browser)).toBe(`ada@${name}`)
      const one = (await place.waymark.accounts.users.byEmail(`ada@${name}`))!
      expect(one.has_social_login).toBe(true)
      expect(await place.logged(one, organization)).toEqual(['identity_linked', 'signed_in'])
    })

    test('begun by the provider: after a click, on the page that RelayState names', async () => {
      const browser = place.browser()
      expect(await give(browser, provider.answer(said(null)), '/project/1/live')).toEqual({
        origin: 'http://localhost/',
        page: '/project/1/live',
        isAutomatic: false,
      })
      expect(await whoIs(browser)).toBe(`ada@${name}`)
    })

    test.each(['https://evil.test/', '//evil.test', 'javascript:alert(1)', '/\\evil.test', '"><script>alert(1)</script>'])(
      'RelayState %j leads nowhere else',
      async (relayState) => {
        expect(await give(place.browser(), provider.answer(said(null)), relayState)).toMatchObject({
          origin: 'http://localhost/',
          page: '/',
        })
      },
    )

    test.each([
      ['the assertion is signed', 'assertion'],
      ['the response is signed', 'response'],
      ['both are signed', 'both'],
    ] as const)('%s', async (_, signs) => {
      expect(await tried((id) => provider.answer(said(id, { signs })))).toEqual(isIn)
    })

    test('a certificate that replaces another: both count while both are there', async () => {
      const next = new SamlProvider()
      const by = await provenDomain(
        place,
        { ...provider.settings, saml_x509_cert: `${provider.certificate}\n${next.certificate}` },
        'rotated.test',
      )
      const rotated = serviceOf('rotated.test')
      await place.user('ada@rotated.test', [[by.organization, 'member']])
      const enter = async (signer: SamlProvider) => {
        const browser = place.browser()
        const { id } = await begin(browser, '', 'rotated.test')
        const page = await give(
          browser,
          signer.answer(signer.said(rotated, id, place.now, { nameId: 'ada@rotated.test' })),
          undefined,
          'rotated.test',
        )
        return page.page
      }
      expect([await enter(provider), await enter(next)]).toEqual(['/', '/'])
      await place.waymark.accounts.domains.update(by.admin, by.domain, { saml_x509_cert: next.certificate })
      expect([await enter(provider), await enter(next)]).toEqual(['/sign-in', '/'])
      next.close()
    })

    test('metadata of this server', async () => {
      const answer = await place.browser().get(`/saml/${name}/metadata`)
      expect(answer.headers.get('content-type')).toBe('application/samlmetadata+xml')
      expect(String(answer.body)).toContain(`entityID="${service.entityId}"`)
      expect(String(answer.body)).toContain(`Location="${service.acs}"`)
      expect((await place.browser().get('/saml/unknown.test/metadata')).status).toBe(404)
    })

    test.each([
      [
        'an address of an attribute',
        { nameId: 'u-17', format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent', attributes: { mail: `ada@${name}` } },
        '/sign-in',
        'other_identity',
      ],
      [
        'another name at each login',
        { nameId: '_x1', format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient', attributes: { email: `ADA@${name}` } },
        '/',
        null,
      ],
      ['no address', { nameId: 'u-17', format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent' }, '/sign-in', 'no_address'],
      ['an address of another domain', { nameId: 'ada@else.test' }, '/sign-in', 'wrong_domain'],
      ['an address of a subdomain', { nameId: `ada@sub.${name}` }, '/sign-in', 'wrong_domain'],
      ['two addresses', { nameId: `ada@else.test,ada@${name}` }, '/sign-in', 'no_address'],
    ])('a person with %s', async (_, person, page, problem) => {
      expect(await tried((id) => provider.answer(said(id, person)))).toMatchObject({ page, problem })
    })
  })

  describe('refused', () => {
    const other = () => new SamlProvider()
    const cases: readonly [string, (id: string) => string][] = [
      ['no signature', (id) => provider.answer(said(id, { signs: 'none' }))],
      ['a signature of another key', (id) => other().answer(said(id))],
      ['changed after it was signed', (id) => provider.answer(said(id, { nameId: `eve@${name}` })).replace(`eve@${name}`, `ada@${name}`)],
      ['the signature is cut out', (id) => provider.answer(said(id)).replace(/<ds:Signature [\s\S]*?<\/ds:Signature>/, '')],
      ['another audience', (id) => provider.answer(said(id, { audience: 'https://else.test' }))],
      ['no audience', (id) => provider.answer(said(id, { audience: null }))],
      ['another issuer', (id) => provider.answer(said(id, { issuer: 'https://else.test' }))],
      ['another recipient', (id) => provider.answer(said(id, { recipient: 'https://else.test/acs' }))],
      ['another destination', (id) => provider.answer(said(id, { destination: 'https://else.test/acs' }))],
      ['expired', (id) => provider.answer(said(id, { notOnOrAfter: -61_000 }))],
      ['not yet valid', (id) => provider.answer(said(id, { notBefore: 62_000 }))],
      ['made long ago, valid for long', (id) => provider.answer(said(id, { issued: -700_000, notOnOrAfter: 90_000_000 }))],
      ['made in the future', (id) => provider.answer(said(id, { issued: 120_000 }))],
      [
        'it answers one request outside, and another one inside',
        (id) => provider.answer(said('_another')).replace(' InResponseTo="_another"', ` InResponseTo="${id}"`),
      ],
      [
        'it answers a request outside, and none inside',
        (id) => provider.answer(said(null)).replace(/ Destination=/, ` InResponseTo="${id}" Destination=`),
      ],
      ['it answers a request inside only', (id) => provider.answer(said(id)).replace(` InResponseTo="${id}"`, '')],
      ['SHA-1', (id) => provider.answer(said(id, { algorithms: sha1 }))],
      ['SHA-1 for the digest only', (id) => provider.answer(said(id, { algorithms: { ...sha256Of(), digest: sha1.digest } }))],
      ['a comment in the name', (id) => provider.answer(said(id, { nameId: `ada@${name}<!-- -->.evil.test` }))],
      [
        'a comment that is put in later',
        (id) => provider.answer(said(id, { nameId: `ada@${name}.evil.test` })).replace(`ada@${name}`, `ada@${name}<!-- -->`),
      ],
      ['CDATA in the name', (id) => provider.answer(said(id, { nameId: `<![CDATA[ada@${name}]]>` }))],
      ['a processing instruction', (id) => provider.answer(said(id)).replace('<samlp:Status>', '<?php ?><samlp:Status>')],
      [
        'an entity',
        (id) => `<!DOCTYPE r [<!ENTITY a "ada@${name}">]>${provider.answer(said(id, { nameId: 'x' })).replace('>x<', '>&a;<')}`,
      ],
      ['a billion laughs', (id) => `<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "${'&a;'.repeat(1000)}">]>${provider.answer(said(id))}`],
      ['an external entity', (id) => `<!DOCTYPE r SYSTEM "http://127.0.0.1:1/x">${provider.answer(said(id))}`],
      [
        'two assertions',
        (id) =>
          provider
            .answer(said(id))
            .replace('</samlp:Response>', `${provider.assertion(said(id, { nameId: `eve@${name}` }))}</samlp:Response>`),
      ],
      [
        'two signatures in one place',
        (id) => provider.answer(said(id)).replace(/<ds:Signature [\s\S]*?<\/ds:Signature>/, (one) => one + one),
      ],
      ['not an answer', () => `<x ID="a"/>`],
      ['not XML', () => 'hello'],
      ['many levels', () => `${'<a>'.repeat(100)}${'</a>'.repeat(100)}`],
    ]
    const sha256Of = () => said(null).algorithms
    test.each(cases)('%s', async (_, make) => {
      expect(await tried(make)).toEqual(notValid)
      expect(reports, 'the operator can see why').toHaveLength(1)
    })

    test.each([
      ['Requester', 'provider_error'],
      ['AuthnFailed', 'cancelled'],
    ])('the provider answers %s', async (status, problem) => {
      const { page, problem: found } = await tried((id) => provider.response(said(id, { status }), ''))
      expect([page, found]).toEqual(['/sign-in', problem])
    })

    test('a certificate of another domain, with the entity ID of this one', async () => {
      const attacker = new SamlProvider()
      await provenDomain(place, { ...attacker.settings, saml_entity_id: provider.entity }, 'attacker.test')
      expect(await tried((id) => attacker.answer(said(id)))).toEqual(notValid)
      const browser = place.browser()
      const { id } = await begin(browser, '', 'attacker.test')
      const theirs = serviceOf('attacker.test')
      const answer = attacker.answer(attacker.said(theirs, id, place.now, { nameId: `ada@${name}` }))
      expect(await give(browser, answer, undefined, 'attacker.test')).toMatchObject({ problem: 'wrong_domain' })
      attacker.close()
    })

    test('keys that are too weak or on a curve, certificates that are none, and addresses that a browser must not go to', async () => {
      const weak = new SamlProvider(1024)
      const [p256, p384] = [new SamlProvider('prime256v1'), new SamlProvider('secp384r1')]
      for (const [at, settings] of [
        ['weak.test', weak.settings],
        ['p256.test', p256.settings],
        ['p384.test', p384.settings],
        ['none.test', { ...provider.settings, saml_x509_cert: 'MIIB' }],
        ['script.test', { ...provider.settings, saml_acs_url: 'javascript:alert(1)' }],
        ['plain.test', { ...provider.settings, saml_acs_url: 'http://idp.test/' }],
      ] as const) {
        await provenDomain(place, settings, at)
        expect(pageOf((await begin(place.browser('203.0.113.9'), '', at)).location.href), at).toMatchObject({ problem: 'not_set_up' })
      }
      for (const one of [weak, p256, p384]) one.close()
    })

    test('an encrypted assertion, also in a response that is signed', async () => {
      const browser = place.browser('203.0.113.9') // failures count by their networks
      const { id } = await begin(browser)
      const one = said(id, { signs: 'response' })
      const encrypted =
        '<saml:EncryptedAssertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"><xenc:EncryptedData xmlns:xenc="http://www.w3.org/2001/04/xmlenc#"><xenc:EncryptionMethod Algorithm="http://www.w3.org/2009/xmlenc11#aes256-gcm"/><xenc:CipherData><xenc:CipherValue>AAAA</xenc:CipherValue></xenc:CipherData></xenc:EncryptedData></saml:EncryptedAssertion>'
      const answer = withoutDeclaration(provider.sign(provider.response(one, encrypted, signatureOf(one.responseId, one.algorithms))))
      expect(await give(browser, answer)).toMatchObject({ problem: 'not_valid' })
    })
  })

  /** The eight classic ways to wrap a signed part: `evil` is what should be read instead of it. */
  describe('wrapped', () => {
    const evilOf = (id: string) => said(id, { nameId: `ada@${name}`, assertionId: '_evil', responseId: '_evilresponse' })
    const honest = (id: string, signs: 'assertion' | 'response') => said(id, { nameId: `eve@${name}`, signs })
    const cut = (xml: string, from: RegExp) => from.exec(xml)![0]
    const signature = /<ds:Signature [\s\S]*?<\/ds:Signature>/
    const assertion = /<saml:Assertion [\s\S]*?<\/saml:Assertion>/
    const withObject = (one: string, inner: string) => one.replace('</ds:Signature>', `<ds:Object>${inner}</ds:Object></ds:Signature>`)
    const wrappings: readonly [string, (id: string) => string][] = [
      [
        'XSW 1: the signed response in the signature of an evil one',
        (id) => {
          const signed = provider.answer(honest(id, 'response'))
          return provider.response(
            evilOf(id),
            provider.assertion(evilOf(id)),
            withObject(cut(signed, signature), signed.replace(signature, '')),
          )
        },
      ],
      [
        'XSW 2: the signed response beside its signature in an evil one',
        (id) => {
          const signed = provider.answer(honest(id, 'response'))
          return provider.response(evilOf(id), provider.assertion(evilOf(id)), cut(signed, signature) + signed.replace(signature, ''))
        },
      ],
      [
        'XSW 3: an evil assertion before the signed one',
        (id) => {
          const signed = provider.answer(honest(id, 'assertion'))
          return signed.replace('<saml:Assertion', `${provider.assertion(evilOf(id))}<saml:Assertion`)
        },
      ],
      [
        'XSW 4: the signed assertion in an evil one',
        (id) => {
          const signed = cut(provider.answer(honest(id, 'assertion')), assertion)
          return provider.response(evilOf(id), provider.assertion(evilOf(id)).replace('</saml:Assertion>', `${signed}</saml:Assertion>`))
        },
      ],
      [
        'XSW 5: an evil assertion with the signature, the signed one after it',
        (id) => {
          const signed = cut(provider.answer(honest(id, 'assertion')), assertion)
          return provider.response(evilOf(id), provider.assertion(evilOf(id), cut(signed, signature)) + signed.replace(signature, ''))
        },
      ],
      [
        'XSW 6: the signed assertion in the signature of an evil one',
        (id) => {
          const signed = cut(provider.answer(honest(id, 'assertion')), assertion)
          return provider.response(
            evilOf(id),
            provider.assertion(evilOf(id), withObject(cut(signed, signature), signed.replace(signature, ''))),
          )
        },
      ],
      [
        'XSW 7: an evil assertion in extensions',
        (id) => {
          const signed = provider.answer(honest(id, 'assertion'))
          return signed.replace('<saml:Assertion', `<samlp:Extensions>${provider.assertion(evilOf(id))}</samlp:Extensions><saml:Assertion`)
        },
      ],
      [
        'XSW 8: the signed assertion in an object of the evil signature',
        (id) => {
          const signed = cut(provider.answer(honest(id, 'assertion')), assertion)
          const evil = withObject(cut(signed, signature), signed.replace(signature, ''))
          return provider.response(evilOf(id), provider.assertion({ ...evilOf(id), assertionId: '_evil8' }, evil))
        },
      ],
      [
        'the same ID twice',
        (id) => {
          const one = honest(id, 'assertion')
          const signed = cut(provider.answer(one), assertion)
          return provider.response(
            evilOf(id),
            provider.assertion({ ...evilOf(id), assertionId: one.assertionId }, cut(signed, signature)) + signed,
          )
        },
      ],
    ]
    test.each(wrappings)('%s', async (_, make) => {
      expect(await tried(make)).toEqual(notValid)
    })
  })

  describe('the way back', () => {
    test('an answer works once: for whoever has asked, and for a provider that begins', async () => {
      for (const isAsked of [true, false]) {
        const browser = place.browser()
        const { id } = isAsked ? await begin(browser) : { id: null }
        const cookie = browser.cookies.get('waymark_sso')
        const answer = provider.answer(said(id))
        expect((await give(browser, answer)).page).toBe('/')
        const thief = place.browser()
        if (cookie) thief.cookies.set('waymark_sso', cookie)
        expect(await give(thief, answer), `asked: ${isAsked}`).toMatchObject({ page: '/sign-in', problem: 'used_before' })
        expect(await whoIs(thief)).toBe(null)
      }
    })

    test('only the browser that has asked gets the session', async () => {
      expect(await tried(() => provider.answer(said('_another')))).toMatchObject({ problem: 'other_browser', who: null })
      const { id } = await begin(place.browser())
      const victim = place.browser()
      expect(await give(victim, provider.answer(said(id)))).toMatchObject({ problem: 'other_browser' })
      await begin(victim)
      expect(await give(victim, provider.answer(said(id)))).toMatchObject({ problem: 'other_browser' })
      expect(await whoIs(victim)).toBe(null)
    })

    test('another site cannot skip the page that asks, and its form brings no session', async () => {
      const fields = { SAMLResponse: encoded(provider.answer(said(null))) }
      const browser = place.browser()
      const skipped = await postForm(browser, `/saml/${name}/continue`, fields, crossSite)
      expect([skipped.status, browser.cookies.size]).toEqual([403, 0])
      const page = await postForm(browser, `/saml/${name}/acs`, fields, crossSite)
      expect([page.status, browser.cookies.size]).toEqual([200, 0])
      expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/)
      expect(String(page.body)).toContain(`<b>ada@${name}</b>`)
      expect(String(page.body)).not.toContain('.submit()')
    })

    test('a server that does not know its public address takes no answer', async () => {
      const { id } = await begin(place.browser())
      const strange = place.browser()
      const answer = encoded(
        provider.answer({
          ...said(id),
          audience: `http://evil.test/saml/${name}/metadata`,
          recipient: `http://evil.test/saml/${name}/acs`,
        }),
      )
      const sent = await place.handler(
        new Request(`http://evil.test/saml/${name}/acs`, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams({ SAMLResponse: answer }).toString(),
        }),
        strange.address,
      )
      expect(pageOf(sent.headers.get('location')!)).toMatchObject({ problem: 'no_public_url' })
    })
  })

  test('a domain that requires SAML: no password, no other session; the operator lets in who is locked out', async () => {
    const before = place.browser()
    const one = (await place.waymark.accounts.users.byEmail(`ada@${name}`))!
    await before.login(one.email)
    expect(await whoIs(before)).toBe(one.email)
    await place.waymark.accounts.domains.enforceByOperator(name, 'saml')
    expect(await whoIs(before), 'a session from before').toBe(null)
    const refused = await place.browser().login(one.email)
    expect([refused.status, refused.body.code]).toEqual([400, 'sso_enforced'])
    expect((await place.browser().login(one.email, {}, 'wrong')).body.code, 'whatever the password is').toBe('sso_enforced')
    expect((await place.browser().login(`nobody@${name}`)).body.code, 'whoever it is').toBe('sso_enforced')
    expect((await before.post('/api/login/precheck/', { email: one.email })).body).toEqual({
      sso_enforcement: 'saml',
      saml_available: true,
      providers: [{ id: `saml ${name}`, name: `${name} (SAML)`, path: `saml/${name}/login` }],
    })
    expect(await tried((id) => provider.answer(said(id)), before)).toEqual(isIn)
    await place.waymark.accounts.domains.enforceByOperator(name, '')
    expect((await place.browser().login(one.email, {}, password)).status).toBe(200)
    expect(domain.organization_id).toBe(organization.id)
  })
})
